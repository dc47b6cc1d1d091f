"""Deployments of templates: their expressions, their resources in order, and what is said of them."""
