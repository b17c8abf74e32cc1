"""How constraints are enforced: one theory per group of files."""
