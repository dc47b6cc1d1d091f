"""Azure in a world: as Karpenter reaches it, as the clock drives it, and as users observe it."""
