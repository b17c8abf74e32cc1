"""Running it: simulate, ensembles, events, failures, progress."""
