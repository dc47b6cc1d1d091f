"""NodeOverlays: they change prices and capacity of instance types in Karpenter's decisions, not in launches."""
