"""A trace in words: its story, how it came to a verdict, and how two of them differ."""
