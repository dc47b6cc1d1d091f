"""Many situations, one row each: `simulate` runs one, a plan names all combinations, an engine runs them, a table keeps the rows."""
