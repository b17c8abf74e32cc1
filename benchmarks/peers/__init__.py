"""The same mechanisms in other programs, one file each; `python -m benchmarks.peers` measures them."""
