"""Expectations on real worlds: what holds passes, what does not is told with its place, and silence never passes."""

from __future__ import annotations

import pytest

from harness.reading.problems import ScenarioError
from harness.scenario.expectations.verdicts import CaseReport, Outcome
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner

NODECLASS = """
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
"""
POOL = (
    NODECLASS
    + """---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    metadata:
      labels: {team: blue}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]}
"""
)
POD = """---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}
"""
DEPLOYMENT = """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}
"""
SPREAD = POOL + DEPLOYMENT.replace(
    "containers:",
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,\n"
    "      labelSelector: {matchLabels: {app: shop}}}], containers:",
)
"""Three pods on three Nodes."""
BAD_POOL = """
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: bad}
spec:
  template:
    metadata:
      labels:
        kubernetes.azure.com/foo: bar
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
"""


@pytest.fixture(scope="module")
def runner() -> Runner:
    return Runner()


def run(runner: Runner, text: str) -> CaseReport:
    ((case,),) = (scenario.cases for scenario in load_text(text, file="f.yaml"))
    runner.check_inputs([case])
    return runner.run(case)


def scenario(then: str, manifests: str = "", more: str = "") -> str:
    return f"scenario: x\n{more}then:\n{then}\n{manifests}"


HOLDS = {
    "requirements": scenario(
        "- requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: 4, karpenter.sh/capacity-type: {in: [spot, on-demand]},\n"
        "    topology.kubernetes.io/zone: {contains: [eastus-1], excludes: [westus-1]}},\n"
        "    absent: [kubernetes.azure.com/fips_enabled, no/such], capacity: {cpu: 4000m}, allocatable: {memory: {below: 16Gi}},\n"
        "    offerings: [{zone: eastus-1, capacityType: spot, price: {above: 0}}], offeringCount: {atLeast: 2}}"
    ),
    "dropped": scenario("- requirements: {of: Standard_DC4as_v5, dropped: confidential}"),
    "within a NodePool": scenario(
        "- requirements: {of: Standard_D4s_v5, nodepool: default, are: {team: blue, karpenter.sh/capacity-type: on-demand}}",
        POOL,
    ),
    "rejected": scenario(
        "- rejected: {object: NodePool/bad, layer: crd-cel, key: kubernetes.azure.com/foo, path: spec.template.metadata.labels,\n"
        '    message: label domain "kubernetes.azure.com" is restricted}',
        BAD_POOL,
    ),
    "a pod that is refused": scenario(
        "- rejected: {object: Pod/web, layer: pod, message: {contains: karpenter.azure.com/foo}}",
        POOL + POD.replace("spec: {", "spec: {nodeSelector: {karpenter.azure.com/foo: x}, "),
    ),
    "rejected since a later release": scenario(
        "- rejected: {object: NodePool/bad, since: 1.13.0}", BAD_POOL, "given: {karpenter: 1.12.2}\n"
    ),
    "node": scenario(
        "- node: {of: Pod/web, size: Standard_D4s_v5, capacityType: on-demand, ready: true, labels: {team: {value: blue, by: kubelet},\n"
        "    karpenter.sh/registered: {by: karpenter}, topology.kubernetes.io/zone: {matches: ^eastus-}}, absent: [no/such],\n"
        "    capacity: {cpu: 4}, taints: []}",
        POOL + POD,
    ).replace("{matches: ^eastus-}", "{value: {matches: ^eastus-}}"),
    "pods, nodeclaims, events, objects, azure, cost": scenario(
        "- pods: {bound: {web: default}, pending: 0}\n"
        "- pods: {bound: 1}\n"
        "- nodeclaims: {count: 1, created: 1, are: [{size: Standard_D4s_v5, sizes: {exactly: [Standard_D4s_v5]}, pods: [web],\n"
        "    conditions: {Registered: True}, requirements: {karpenter.sh/capacity-type: on-demand}}]}\n"
        "- events: {of: Pod/web, reason: Nominated, message: {contains: nodeclaim/}}\n"
        "- events: {reason: InsufficientCapacityError, count: 0}\n"
        "- objects: {kind: Node, count: 1, match: {status: {conditions: [{type: Ready, status: True}]}}}\n"
        "- objects: {of: NodePool/default, match: {spec: {template: {metadata: {labels: {team: blue}}}}}}\n"
        "- objects: {of: Pod/none, count: 0}\n"
        "- azure: {calls: [{method: PUT, resource: virtualMachines, size: Standard_D4s_v5, count: 1}], vms: 1, usage: {cores: {used: 4}}}\n"
        "- cost: {perHour: {above: 0.1, below: 0.3}}",
        POOL + POD,
    ),
    "elapsed": scenario(
        "- elapsed: {from: {created: Pod/web}, to: {created: NodeClaim/default-*}, takes: {atLeast: 1s, below: 2s}}\n"
        "- elapsed: {to: {created: NodeClaim/*}, takes: {atLeast: 500ms, below: 2s}}\n"
        "- elapsed: {from: {created: NodeClaim/*}, to: {call: {resource: virtualMachines, status: 201}}, takes: {below: 1s}}\n"
        "- elapsed: {from: {call: {resource: virtualMachines}}, to: {bound: Pod/web}, takes: {above: 10s, atMost: 5m}}\n"
        "- azure: {calls: [{resource: virtualMachines, customData: {contains: USE_MANAGED_IDENTITY_EXTENSION=true}}]}",
        POOL + POD,
    ),
    "pods of a workload": scenario(
        "- pods: {bound: {Deployment/shop: default}, pending: 0}\n"
        "- node: {of: Deployment/shop, size: Standard_D4s_v5, labels: {team: {not: [red]}}}",
        POOL + DEPLOYMENT,
    ),
    "one workload without a list, and every Node of it": scenario(
        "- pods: {bound: Deployment/shop}\n"
        "- node: {of: Deployment/shop, every: true, size: Standard_D4s_v5, labels: {team: blue}, absent: [no/such], taints: []}\n"
        "- node: {of: NodePool/default, every: true}\n"
        "- node: {of: Node/aks-*, every: true, ready: true}",
        SPREAD,
    ),
    "pods of a workload that wait": scenario(
        "- pods: {pending: {Deployment/shop: {contains: no instance type has enough resources}}}",
        POOL + DEPLOYMENT.replace('cpu: "1"', 'cpu: "9"'),
    ),
    "labels": scenario(
        "- labels: {are: {kubernetes.azure.com/mode: {pod: yes, nodepool: yes, written: {value: user}},\n"
        "    agentpool: {nodepool: {settable: no, layer: crd-cel}},\n"
        "    no/such: {pod: {outcome: no-known-values, message: {contains: does not have known values}}, written: no}}}"
    ),
    "steps": scenario(
        "- pods: {bound: 1}\n- objects: {of: NodePool/default, match: {spec: {weight: 7}}}\n- azure: {usage: {cores: {limit: 50}}}",
        POOL + POD,
        "when: [{apply: Pod/web}, settle, {patch: {of: NodePool/default, to: {spec: {weight: 7}}}},\n"
        "  {azure: {quota: {cores: 50}}}, {advance: 1m}]\n",
    ),
    "objects that are alike are patched": scenario(
        "- objects: {kind: Pod, labels: {team: red}, count: 3}",
        POOL + DEPLOYMENT,
        "when: [settle, {patch: {of: Pod/shop-*, to: {metadata: {labels: {team: red}}}}}]\n",
    ),
    "objects whose names are drawn are deleted": scenario(
        "- nodeclaims: {count: 0, created: 1}",
        POOL + POD,
        "when: [settle, {delete: Pod/web}, {delete: NodeClaim/default-*}]\n",
    ),
    "xfail": scenario("- pods: {bound: 1}", "", "xfail: {reason: not yet}\n"),
}


@pytest.mark.parametrize("name", HOLDS)
def test_holds(runner: Runner, name: str) -> None:
    report = run(runner, HOLDS[name])
    assert report.failures == () or name == "xfail"
    assert report.error == ""
    assert report.outcome in (Outcome.PASSED, Outcome.EXPECTED_FAILURE)


FAILS = {
    "a wrong value": (
        scenario("- requirements:\n    of: Standard_D4s_v5\n    are: {karpenter.azure.com/sku-cpu: 8}"),
        ["f.yaml:5:11: then[0].requirements.are.karpenter.azure.com/sku-cpu: expected In [8], found In [4]"],
    ),
    "a misspelt key": (
        scenario("- requirements:\n    of: Standard_D4s_v5\n    are: {karpenter.azure.com/sku-cpus: 4}"),
        [
            "f.yaml:5:11: then[0].requirements.are.karpenter.azure.com/sku-cpus: expected In [4], found nothing "
            "(did you mean 'karpenter.azure.com/sku-cpu' or 'karpenter.azure.com/sku-gpu-name' or 'karpenter.azure.com/sku-series'?)"
        ],
    ),
    "a size that is dropped": (
        scenario("- requirements: {of: Standard_DC4as_v5}"),
        [
            "f.yaml:3:18: then[0].requirements: expected Standard_DC4as_v5 as an instance type, "
            "found dropped by the filter confidential"
        ],
    ),
    "nothing is refused": (
        scenario("- rejected: {object: NodePool/default}", POOL),
        ["f.yaml:3:14: then[0].rejected: expected NodePool/default refused, found it was taken"],
    ),
    "refused for another reason": (
        scenario("- rejected: {object: NodePool/bad, layer: crd-schema}", BAD_POOL),
        [
            "f.yaml:3:36: then[0].rejected: layer: expected crd-schema, found crd-cel (refused at f.yaml:13:9 by crd-cel, "
            "rule domain:kubernetes.azure.com: spec.template.metadata.labels: "
            'Invalid value: "object": label domain "kubernetes.azure.com" is restricted)'
        ],
    ),
    "refused before since": (
        scenario("- rejected: {object: NodePool/bad, since: 1.14.1}", BAD_POOL),
        [
            "f.yaml:3:14: then[0].rejected: expected NodePool/bad taken before 1.14.1, found crd-cel refused it: "
            'spec.template.metadata.labels: Invalid value: "object": label domain "kubernetes.azure.com" is restricted '
            "(f.yaml:13:9)"
        ],
    ),
    "an unexpected refusal": (
        scenario("- pods: {bound: 0}", BAD_POOL),
        [
            "f.yaml:13:9: unexpected rejection by crd-cel: expected NodePool/bad taken, found "
            'spec.template.metadata.labels: Invalid value: "object": label domain "kubernetes.azure.com" is restricted '
            "(where that is right: `- rejected: {object: NodePool/bad, layer: crd-cel}`)"
        ],
    ),
    "one of several Nodes": (
        scenario("- node: {of: Deployment/shop, size: Standard_D4s_v5}", SPREAD),
        ["f.yaml:3:10: then[0].node: expected one Node, found 3: aks-default-"],
    ),
    "every Node, of which none is so": (
        scenario("- node: {of: Node/aks-*, every: true, capacityType: spot}", SPREAD),
        ["f.yaml:3:39: then[0].node.capacityType: expected spot, found on-demand (on aks-default-"],
    ),
    "a workload that there is not": (
        scenario("- pods: {pending: Deployment/shop}", POOL + DEPLOYMENT),
        [
            "f.yaml:3:10: then[0].pods.pending.Deployment/shop: expected all pods of Deployment/shop pending, found 3 of its 3 are not: "
        ],
    ),
    "no such Node": (
        scenario("- node: {of: Pod/web, labels: {a: b}}", NODECLASS + POD),
        ["f.yaml:3:10: then[0].node: expected a Node of Pod/web, found Pod/web runs on no Node"],
    ),
    "pods of a workload, some of which wait": (
        scenario(
            "- pods: {bound: [Deployment/shop]}",
            POOL.replace("template:", "limits: {cpu: 4}\n  template:") + DEPLOYMENT,
        ).replace("replicas: 3", "replicas: 5"),
        [
            "f.yaml:3:18: then[0].pods.bound.Deployment/shop: expected all pods of Deployment/shop bound, "
            "found 2 of its 5 are not: shop-"
        ],
    ),
    "a pod by the name of its workload": (
        scenario("- pods: {bound: [shop]}", POOL + DEPLOYMENT),
        [
            "f.yaml:3:18: then[0].pods.bound.shop: expected Pod/shop bound, "
            "found no such pod; all those of a workload are 'Deployment/shop'"
        ],
    ),
    "pods of a workload on another NodePool": (
        scenario("- pods: {bound: {Deployment/shop: blue}}", POOL + DEPLOYMENT),
        ["f.yaml:3:18: then[0].pods.bound.Deployment/shop: expected blue, found default (pod shop-"],
    ),
    "the Node of a Deployment that has none": (
        scenario("- node: {of: Deployment/shop}", NODECLASS + DEPLOYMENT),
        [
            "f.yaml:3:10: then[0].node: expected a Node of Deployment/shop, found no pod of Deployment/shop runs on a Node"
        ],
    ),
    "no such event": (
        scenario("- events: {reason: Nothing}"),
        ["f.yaml:3:3: then[0].events: expected such an event, found none among 0 (the last: [])"],
    ),
    "no call": (
        scenario("- azure: {calls: [{method: DELETE, resource: disks}]}"),
        ["f.yaml:3:19: then[0].azure.calls[0]: expected such a call, found Azure was not called at all"],
    ),
    "a silent fault": (
        scenario(
            "- pods: {bound: 0}",
            "",
            "given:\n  azure:\n    faults:\n    - {what: SkuNotAvailable, where: {zone: 1}}\n",
        ),
        ["f.yaml:5:7: given.azure.faults[0]: expected a fault that happens, found never: SkuNotAvailable at "],
    ),
    "longer than it may take": (
        scenario(
            "- elapsed: {from: {created: Pod/web}, to: {created: NodeClaim/*}, takes: {below: 500ms}}", POOL + POD
        ),
        ["f.yaml:3:67: then[0].elapsed: seconds: expected less than 0.5, found 1"],
    ),
    "a moment that never comes": (
        scenario("- elapsed: {from: {created: Pod/web}, to: {call: {error: SkuNotAvailable}}, takes: 1s}", POOL + POD),
        [
            "f.yaml:3:39: then[0].elapsed: expected {call: {error: SkuNotAvailable}}, found no such moment from there on",
        ],
    ),
    "a moment from which there is nothing": (
        scenario("- elapsed: {from: {bound: Pod/wbe}, to: {created: NodeClaim/*}, takes: 1s}", POOL + POD),
        ["f.yaml:3:13: then[0].elapsed: expected {bound: Pod/wbe}, found no such moment"],
    ),
    "an old name of a label in a NodeClaim": (
        scenario("- nodeclaims: {are: [{absent: [kubernetes.io/arch]}]}", POOL + POD).replace(
            "- {key: karpenter.sh/capacity-type",
            "- {key: beta.kubernetes.io/arch, operator: In, values: [amd64]}\n      - {key: karpenter.sh/capacity-type",
        ),
        [
            "f.yaml:3:22: then[0].nodeclaims.are[0]: absent: expected no requirement for kubernetes.io/arch, found In [amd64]"
        ],
    ),
    "a wrong count": (
        scenario("- nodeclaims: {count: {atLeast: 1}}"),
        ["f.yaml:3:16: then[0].nodeclaims.count: expected at least 1, found 0"],
    ),
    "an unexpected pass": (scenario("- pods: {bound: 0}", "", "xfail: {reason: not yet}\n"), []),
}


@pytest.mark.parametrize("name", FAILS)
def test_fails(runner: Runner, name: str) -> None:
    text, expected = FAILS[name]
    report = run(runner, text)
    found = [f"{verdict.mark}: {verdict.label}: {verdict.differences[0]}" for verdict in report.failures]
    assert report.outcome in (Outcome.FAILED, Outcome.UNEXPECTED_PASS)
    assert len(found) == len(expected)
    for line, beginning in zip(found, expected, strict=True):
        assert line.startswith(beginning)


STEPS = {
    "nothing of that name": ("{delete: NodeClaim/none-*}", "there is no NodeClaim/none-* at this point"),
    "a kind that nobody serves": ("{delete: Nodepool/default}", "there is no Nodepool/default at this point"),
}


def test_expectations_without_any_field_fail(runner: Runner) -> None:
    entries = [
        f"- {when}: {{{key}: {body}}}" if when else f"- {key}: {body}"
        for when in ("", "always", "eventually", "never")
        for key in ("nodeclaims", "events", "log", "azure")
        for body in ("{}", "{source: a document}")
    ]
    verdicts = run(runner, scenario("\n".join(entries), POOL + POD)).verdicts
    actual = [difference.actual for verdict in verdicts for difference in verdict.differences]
    assert actual == ["an expectation without any field"] * len(entries)


@pytest.mark.parametrize("name", STEPS)
def test_steps_that_lead_nowhere(runner: Runner, name: str) -> None:
    step, expected = STEPS[name]
    pods = POD.replace("name: web", "name: web-1") + POD.replace("name: web", "name: web-2")
    with pytest.raises(ScenarioError) as caught:
        run(runner, scenario("- pods: {bound: 2}", POOL + pods, f"when: [settle, {step}]\n"))
    assert str(caught.value) == f"f.yaml:2:16: when: {expected}"


INPUTS = {
    "option": (
        "given: {options: {network-plugn: azure}}\n",
        "f.yaml:2:19: given.options.network-plugn: unknown option 'network-plugn'; did you mean 'network-plugin'",
    ),
    "value of an option": (
        "given: {options: {vm-memory-overhead-percent: much}}\n",
        "f.yaml:2:19: given.options.vm-memory-overhead-percent: a number is expected, not 'much'",
    ),
    "kubernetes": (
        "given: {kubernetes: latest}\n",
        "f.yaml:2:9: given.kubernetes: a version such as 1.34.2 is expected, not 'latest'",
    ),
    "release": ("given: {karpenter: 1.14.9}\n", "f.yaml:2:9: given.karpenter: unknown release '1.14.9'; did you mean"),
    "region": ("given: {region: eastsu}\n", "f.yaml:2:9: given.region: unknown region 'eastsu'; did you mean 'eastus'"),
    "size": (
        "",
        "f.yaml:3:18: then[0].requirements.of: unknown size 'Standard_D4s_v55' in eastus; did you mean 'Standard_D4s_v5'",
    ),
    "fault": (
        "given: {azure: {faults: [{what: SkuNotAvailabel}]}}\n",
        "f.yaml:2:27: given.azure.faults[0].what: unknown value 'SkuNotAvailabel'; did you mean 'SkuNotAvailable'?",
    ),
}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_that_do_not_exist(runner: Runner, name: str) -> None:
    more, expected = INPUTS[name]
    size = "Standard_D4s_v55" if name == "size" else "Standard_D4s_v5"
    with pytest.raises(ScenarioError) as caught:
        run(runner, scenario(f"- requirements: {{of: {size}}}", "", more))
    assert str(caught.value).startswith(expected)
    assert len(caught.value.problems) == 1


def test_options_have_their_types(runner: Runner) -> None:
    more = "given: {kubernetes: 1.30, options: {vm-memory-overhead-percent: 0.5, clusterName: foo}}\n"
    then = "- requirements: {of: Standard_D4s_v5, capacity: {memory: {below: 9Gi}}, are: {kubernetes.azure.com/cluster: MC_rg_foo_eastus}}"
    assert run(runner, scenario(then, "", more)).failures == ()


def test_the_same_run_twice_gives_the_same(runner: Runner) -> None:
    text = HOLDS["pods, nodeclaims, events, objects, azure, cost"]
    assert run(runner, text).verdicts == run(Runner(), text).verdicts
