"""Topology spread and pod (anti-)affinity in Karpenter's simulation: groups of selected pods and the domains that they count in."""
