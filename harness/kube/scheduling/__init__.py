"""kube-scheduler: what pods ask for, which nodes take them, and who is preempted."""
