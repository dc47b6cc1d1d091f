"""Machines as the cluster sees them: one boots into a Node, its kubelet runs pods, the cloud node manager adds its part."""
