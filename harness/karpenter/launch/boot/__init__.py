"""How a machine becomes a Node: what its first script and its kubelet are told, or what AKS is asked for."""
