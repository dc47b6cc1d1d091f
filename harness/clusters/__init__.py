"""Clusters: each gives a View, Writers for identities, and who wrote what."""
