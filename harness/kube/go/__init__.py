"""Go's way of reading, printing and sorting, where Kubernetes' and Karpenter's texts and choices depend on it."""
