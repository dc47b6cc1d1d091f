"""NodeOverlays: prices and capacity of instance types as their owner says, for Karpenter's decisions only."""
