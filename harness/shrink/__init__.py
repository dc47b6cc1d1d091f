"""A scenario made as small as it can be while it comes to the same."""
