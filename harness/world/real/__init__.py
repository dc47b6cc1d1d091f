"""Worlds in real time, in which the real Karpenter controller works in the simulated loop's place."""
