"""Karpenter's disruption controller: which nodes it takes away, why not the others, and what comes in their place."""
