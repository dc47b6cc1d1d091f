"""What a scenario file says: its keys, its cases, and whether everything that it names exists."""
