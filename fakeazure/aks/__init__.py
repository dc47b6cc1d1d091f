"""The AKS resource provider: clusters, agent pools, machines, node bootstrapping; its node labels as data, kubelet flags as text."""
