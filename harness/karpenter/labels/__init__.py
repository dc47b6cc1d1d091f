"""Label keys that Karpenter and its Azure provider know, and what a release does with them."""
