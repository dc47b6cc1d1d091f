"""The decisions of Kubernetes' cluster autoscaler, pure: which node groups grow for pending pods, which nodes are unneeded and go.

Source: kubernetes/autoscaler, cluster-autoscaler 1.36.1 (35e8a280425c76a4040f57ae0fa232a952c02024); each module names its file there.
"""
