"""Karpenter's metrics of a world: upstream's names and labels."""
