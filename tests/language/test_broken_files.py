"""Scenario files and manifests with one thing wrong at any place: lines at their places and exit code 2, or a report; never an exception.

Each mutation puts a value of another kind at a path of a good file, or takes it away, or misspells its key. Which ones are tried is drawn
with a fixed seed; MUTATIONS (a number) tries that many of them instead of 30.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli import main

WRONG: tuple[Any, ...] = (
    "",
    "text",
    "-1",
    -1,
    0,
    1.5,
    10**30,
    True,
    None,
    [],
    {},
    ["text"],
    [None],
    {"text": "text"},
    [[]],
    {"a": [1]},
)
COUNT = int(os.environ.get("MUTATIONS", "30"))

NODECLASS = """
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default, labels: {a: b}, annotations: {c: d}}
spec: {imageFamily: Ubuntu2204, osDiskSizeGB: 128, maxPods: 50, tags: {team: blue}, kubelet: {cpuCFSQuota: true}}
"""
NODEPOOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  weight: 5
  limits: {cpu: "64", memory: 1Ti}
  disruption: {consolidateAfter: Never, budgets: [{nodes: 10%, schedule: 0 9 * * *, duration: 1h}]}
  template:
    metadata: {labels: {team: blue}, annotations: {x: word}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      taints: [{key: a, value: b, effect: NoSchedule}]
      startupTaints: [{key: s, effect: NoExecute}]
      expireAfter: 720h
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand], minValues: 1}]
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  nodeSelector: {kubernetes.io/arch: amd64}
  tolerations: [{key: a, operator: Equal, value: b, effect: NoSchedule}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [eastus-1]}]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, preference: {matchExpressions: [{key: x, operator: Exists}]}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}}
  initContainers: [{name: first, image: i, resources: {requests: {cpu: 1}}}]
  containers:
  - {name: main, image: i, ports: [{containerPort: 80, hostPort: 80}], resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "2"}}}
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""
OTHERS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 2
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: ds}
spec:
  selector: {matchLabels: {app: ds}}
  template:
    metadata: {labels: {app: ds}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 50m}}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b}
spec: {minAvailable: 50%, selector: {matchLabels: {app: d}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: disk.csi.azure.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [eastus-1]}]}]
---
apiVersion: v1
kind: Node
metadata: {name: old, labels: {a: b}}
spec: {taints: [{key: a, effect: NoSchedule}], unschedulable: true}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
"""
HEADER = """
scenario: everything
description: words
source: nowhere
tags: [x]
matrix: {karpenter: [1.14.0], zone: [eastus-1]}
given:
  region: eastus
  kubernetes: 1.34.2
  seed: 5
  options: {vm-memory-overhead-percent: 0.1}
  simulation: {attempt: 1ms, limit: 1m}
  cluster: {networkPlugin: azure, ipFamilies: [IPv4]}
  azure:
    quota: {cores: 100}
    prices: {Standard_D4s_v5: {on-demand: 0.1}}
    faults: [{what: SkuNotAvailable, where: {zone: $(zone)}, times: 1, at: start, message: words, status: 409}]
    capacity: [{size: Standard_D4s_v5, vms: 1}]
    restrictions: [{size: Standard_D2s_v5, zones: ['1']}]
when:
- settle
- {advance: 1m}
- {patch: {of: Pod/web, to: {metadata: {labels: {a: b}}}}}
- {scale: {of: Deployment/d, replicas: 1}}
- {delete: [Pod/web]}
- {azure: {quota: {cores: 50}}}
then:
- pods: {bound: {atLeast: 0}, pending: {web: {contains: x}}}
- requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: 4}, offerings: [{zone: eastus-1, price: {below: 9}}]}
- node: {of: Pod/web, labels: {team: {value: blue, by: kubelet, writes: [{by: kubelet}]}}, taints: []}
- nodeclaims: {count: 1, are: [{nodepool: default, sizes: {count: 1}, conditions: {Launched: 'True'}}]}
- rejected: {object: NodePool/default, layer: crd-cel, text: {contains: x}}
- events: {of: Pod/web, reason: Scheduled, count: {atMost: 3}}
- log: {level: info, message: {matches: x}, values: {a: b}}
- objects: {kind: Pod, match: {spec: {nodeName: {exists: true}}}, count: 1}
- azure: {calls: [{method: PUT, count: 1}], usage: {cores: {used: 4}}, vms: 1}
- cost: {perHour: {below: 5}}
- runaway: {loops: 3}
"""
MANIFESTS = "---".join((NODECLASS, NODEPOOL, POD, OTHERS))


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all parts of a value, itself included."""
    yield path
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def mutated(documents: list[Any], chance: random.Random) -> str:
    """A text in which one part of one document is wrong."""
    number = chance.randrange(len(documents))
    path = chance.choice([one for one in places(documents[number]) if one])
    documents = deepcopy(documents)
    holder = documents[number]
    for part in path[:-1]:
        holder = holder[part]
    change = chance.randrange(8)
    if change == 0:
        del holder[path[-1]]
    elif change == 1 and isinstance(holder, dict):
        holder[f"{path[-1]}x"] = holder.pop(path[-1])
    else:
        holder[path[-1]] = chance.choice(WRONG)
    return f"# {number} {path}\n" + yaml.safe_dump_all(documents, sort_keys=False, width=1000)


def documents(text: str) -> list[Any]:
    return list(yaml.safe_load_all(text))


@pytest.mark.parametrize(
    ("command", "text"), [("run", f"{HEADER}---{MANIFESTS}"), ("simulate", MANIFESTS), ("explain", MANIFESTS)]
)
def test_one_thing_wrong(command: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = documents(text)
    chance = random.Random(f"broken {command}")
    for _ in range(COUNT):
        broken = mutated(good, chance)
        (tmp_path / "f.yaml").write_text(broken)
        try:
            code = main([command, str(tmp_path / "f.yaml"), "--format", "json"])
        except Exception as error:
            raise AssertionError(f"{command} ends in {type(error).__name__}: {error}\n{broken}") from error
        out, err = capsys.readouterr()
        assert code in (0, 1, 2), broken
        assert "Traceback" not in err
        if command == "run":
            for case in json.loads(out).get("cases", ()):
                assert case["outcome"] != "error", f"{case['error']}\n{broken}"
        if code == 2:
            told = json.loads(out).get("problems", ()) if out else [{"what": err}]
            assert told
            assert all("\n" not in one["what"].strip() for one in told), told
