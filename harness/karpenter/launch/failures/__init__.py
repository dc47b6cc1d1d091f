"""Launches that fail: what Azure's errors mean, and what Karpenter says of them."""
