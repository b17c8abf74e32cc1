"""What is to be remarked of a model: doubts about it, cures for it, and what it is, in words."""
