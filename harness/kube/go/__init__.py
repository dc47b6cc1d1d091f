"""How Go reads, prints and sorts, where Kubernetes' and Karpenter's texts and choices depend on it."""
