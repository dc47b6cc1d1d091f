"""The part of Azure that Karpenter talks to: what is sold, what can be had now, and what ARM answers."""
