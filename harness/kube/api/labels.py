"""Label keys and taint keys that Kubernetes itself gives a meaning.

Source: k8s.io/api core/v1 well_known_labels.go, well_known_taints.go.
"""

HOSTNAME = "kubernetes.io/hostname"
OS = "kubernetes.io/os"
ARCH = "kubernetes.io/arch"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
WINDOWS_BUILD = "node.kubernetes.io/windows-build"
EXCLUDE_BALANCERS = "node.kubernetes.io/exclude-from-external-load-balancers"

BETA_OS = "beta.kubernetes.io/os"
BETA_ARCH = "beta.kubernetes.io/arch"
BETA_INSTANCE_TYPE = "beta.kubernetes.io/instance-type"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
