"""A scenario made as small as it can be while it keeps its verdict."""
