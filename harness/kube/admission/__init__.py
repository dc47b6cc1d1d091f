"""Defaults and refusals of core objects as the API server makes them, and the writes that it lets a kubelet make."""
