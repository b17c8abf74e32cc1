"""What comes out: solutions and everything that can be asked of them."""
