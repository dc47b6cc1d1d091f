"""NodeOverlays: they change prices and capacity of instance types, in Karpenter's decisions and in what the provider launches."""
