"""A case under the simulated Karpenter and under the real one: their outcomes, compared."""
