"""The smallest files of a user: a NodePool with its AKSNodeClass, a pod, and a scenario of both."""

from __future__ import annotations

__all__ = ["POD", "POOL", "SCENARIO"]

POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: web, image: web, resources: {requests: {cpu: "1"}}}
"""
SCENARIO = f"""\
scenario: a pod gets a node
given: {{manifests: [pool.yaml]}}
then: [{{pods: {{bound: 1}}}}]
---
{POD}"""
"""Named pool.yaml, `POOL` lies beside it."""
