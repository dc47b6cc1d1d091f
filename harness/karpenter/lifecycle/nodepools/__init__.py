"""Karpenter's controllers of a NodePool: its status, the registration of its Nodes, and the usage of its limits."""
