"""Validation of NodePools, NodeClaims, AKSNodeClasses, NodeOverlays and pods: each verdict with the layer that gives it."""
