"""Azure in a world: as Karpenter reaches it, as the clock drives it, and as it can be looked at from outside."""
