"""What users call: simulate, simulate_many, load, and the solutions that they give."""
