"""What a machine does to the cluster: it boots into a Node, its kubelet runs pods, the cloud node manager adds its part."""
