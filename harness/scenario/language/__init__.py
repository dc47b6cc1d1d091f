"""The language of scenario files: keys, cases, and whether every named thing exists."""
