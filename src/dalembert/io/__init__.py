"""Files: the result store, exports to common formats, and writing whole or not at all."""
