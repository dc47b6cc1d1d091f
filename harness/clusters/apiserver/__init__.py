"""A cluster of real programs on this machine: etcd, kube-apiserver, kube-scheduler, kube-controller-manager."""
