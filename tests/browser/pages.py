"""The scenarios whose pages are opened: one of each folder, and what each is for."""

CASES = {
    "refused": ("scenarios/capacity/refusals.yaml", "the size is not available"),
    "waiting": ("scenarios/capacity/refusals.yaml", "nothing that the NodePool allows is left"),
    "replaced": ("scenarios/disruption/consolidation.yaml", "two nodes are replaced by one[1.14.0]"),
    "evicted": ("scenarios/lifecycle/spot-eviction.yaml", "a spot VM is taken, and nobody listens[1.14.0]"),
    "labels": ("scenarios/labels/spot-node.yaml", "a spot node boots as regular"),
    "quota": ("scenarios/reported/az-family-quota-walks-siblings.yaml", "used up[1.13.1]"),
    "rejected": ("scenarios/rejected/labels-of-a-nodepool.yaml", "[AKS domain]"),
    "windows": ("scenarios/hosting/limits.yaml", "a NodePool for Windows makes no Nodes[1.14.0]"),
    "spread": ("scenarios/scheduling/topology-spread.yaml", "four of spot to one on demand"),
    "modes": ("scenarios/faq/mode.yaml", ""),
}
