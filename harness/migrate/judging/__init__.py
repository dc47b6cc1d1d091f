"""Verdicts: whether the workloads of a cluster run on the Nodes that they would get, and what has to change first."""
