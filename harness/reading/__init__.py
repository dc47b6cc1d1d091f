"""Reading a file: YAML with the place of every field, as the harness and as kubectl read it."""
