"""Nodes that are unneeded, each since when, and those of them that go now."""
