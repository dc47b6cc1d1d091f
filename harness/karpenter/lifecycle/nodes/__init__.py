"""Nodes that go: termination with its drain, what protects pods from it, and repair."""
