"""Model files: YAML with the nouns and verbs of Python. syntax -> schema -> read; write goes back."""
