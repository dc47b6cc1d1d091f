"""Kubernetes semantics, pure."""
