"""Changes that no test can notice, each with the reason."""

EQUIVALENT: dict[tuple[str, str, str, str], str] = {}
"""(file, function, expression before, after) → why nothing can come of it."""
