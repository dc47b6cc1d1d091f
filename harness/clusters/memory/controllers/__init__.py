"""The controllers of kube-controller-manager that scenarios need, one module each, run over the memory cluster."""
