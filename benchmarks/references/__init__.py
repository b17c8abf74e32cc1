"""Reference motions that no source prints; `python -m benchmarks.references` derives them."""
