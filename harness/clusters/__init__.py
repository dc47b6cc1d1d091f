"""Clusters: each gives a View, Writers for identities, and the evidence of who wrote a label."""
