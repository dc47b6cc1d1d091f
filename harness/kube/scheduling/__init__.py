"""kube-scheduler: the requests of pods, the nodes that take them, and the pods that are preempted."""
