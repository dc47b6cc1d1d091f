"""What Karpenter on Azure would do and why, without Azure, a cluster or a container."""

__version__ = "0.1.0"
