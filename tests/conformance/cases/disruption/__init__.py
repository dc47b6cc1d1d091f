"""Clusters for the ops `disrupt`, `lifetimes` and `azure_drift`: one module per kind of object."""
