"""The node group that grows for pending pods, and by how much."""
