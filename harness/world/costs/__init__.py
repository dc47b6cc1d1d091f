"""Costs of the machines of a world."""
