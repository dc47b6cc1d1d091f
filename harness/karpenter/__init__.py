"""Karpenter, pure and deterministic: from pods and NodePools to NodeClaims, machines and their labels."""
