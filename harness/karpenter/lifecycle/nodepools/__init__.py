"""What Karpenter keeps on a NodePool: its status, whether its Nodes come up, and what its machines use of its limits."""
