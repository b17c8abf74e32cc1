"""Time loops."""
