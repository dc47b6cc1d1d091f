"""What Karpenter's metrics would say of a world: upstream's names and labels."""
