"""The same case under the simulated Karpenter and under the real one: what came of it, compared."""
