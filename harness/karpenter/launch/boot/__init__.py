"""The boot of a machine that becomes a Node: the inputs of its first script and its kubelet, or the request to AKS."""
