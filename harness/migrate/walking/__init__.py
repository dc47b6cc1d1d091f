"""The move over virtual time, in memory: pools are cordoned and drained in waves, Karpenter makes machines, and all of it is measured."""
