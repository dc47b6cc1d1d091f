"""`eventually`, `always`, `never`: what held at which moments of a stretch of virtual time."""

from __future__ import annotations

import pytest

from harness.reading.problems import ScenarioError
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner

_WORLD = """
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidateAfter: 1m}
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D2s_v5]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}
"""
_STEPS = "when: [settle, {delete: Pod/web}, {advance: 1h}]\n"


def _failures(expectation: str, steps: str = _STEPS) -> list[str]:
    text = f"scenario: s\n{steps}then:\n- {expectation}\n{_WORLD}"
    [scenario] = load_text(text, file="f.yaml")
    [*_, verdict] = Runner().verdicts(scenario.cases[0])
    return [
        f"{verdict.mark} {verdict.label}: {one.expected} | {one.actual} | {one.note}" for one in verdict.differences
    ]


HOLDS = (
    # the pod ran once, although it is gone in the end
    "eventually: {pods: {bound: 1}}",
    "eventually: {pods: {bound: [web]}, within: 2m}",
    "always: {pods: {pending: 0}, from: {bound: Pod/web}}",
    "always: {pods: {bound: 1}, from: {bound: Pod/web}, until: {step: 2}}",
    "never: {nodeclaims: {count: {atLeast: 2}}}",
    "never: {nodeclaims: {count: 1}, from: {at: 10m}}",
    # a stretch in which nothing happens has the state of the moment before
    "always: {nodeclaims: {count: 0}, from: {at: 30m}, within: 1s}",
    "eventually: {disrupted: {reason: Empty}, from: {step: 2}, within: 5m}",
    "never: {notDisrupted: {node: Node/*}, until: {created: Node/*}}",
    "always: {cost: {perHour: {below: 0.1}}}",
    "always: {metric: {name: karpenter_nodeclaims_terminated_total, value: 1}, from: {at: 10m}}",
    "eventually: {log: {message: disrupting node(s)}}",
    # of what happens, only what happens from the beginning on counts
    "never: {disrupted: {reason: Empty}, from: {at: 10m}}",
    "never: {disrupted: {reason: Empty}, until: {step: 2}}",
    "never: {events: {reason: Launched}, from: {bound: Pod/web}}",
    "never: {log: {message: created nodeclaim}, from: {step: 2}}",
    "never: {azure: {calls: [{method: PUT, resource: virtualMachines}]}, from: {step: 2}}",
    # which NodeClaims were ever created is asked of the whole run
    "always: {nodeclaims: {created: 1}, from: {step: 2}}",
    # a beginning that comes only in the middle of the last stretch
    "never: {disrupted: {reason: Empty}, from: {at: 59m}}",
)


@pytest.mark.parametrize("expectation", HOLDS)
def test_holds(expectation: str) -> None:
    """As wanted, at some, every or no moment."""
    assert _failures(expectation) == []


FAILS = {
    "always: {pods: {bound: 1}}": "f.yaml:4:19 then[0].always.pods.bound: 1 | 0 | at 0s; pending are web: ",
    "always: {pods: {bound: 1}, from: {bound: Pod/web}}": "f.yaml:4:19 then[0].always.pods.bound: 1 | 0 | at ",
    "eventually: {nodeclaims: {count: 2}}": "f.yaml:4:29 then[0].eventually.nodeclaims.count: 2 | 0 | at no moment; the last, at ",
    "eventually: {pods: {bound: 1}, within: 5s}": "f.yaml:4:23 then[0].eventually.pods.bound: 1 | 0 | at no moment; the last, at ",
    "never: {disrupted: {reason: Empty}, from: {step: 2}}": "f.yaml:4:11 then[0].never: at no moment | it held at ",
    "eventually: {disrupted: {reason: Empty}, from: {at: 30m}}": "f.yaml:4:16 then[0].eventually.disrupted: such a decision | ",
    "never: {nodeclaims: {count: 1}}": "f.yaml:4:11 then[0].never: at no moment | it held at 1s | ",
    "never: {nodeclaims: {count: 1}, from: {at: 10s}}": "f.yaml:4:11 then[0].never: at no moment | it held at 10s | ",
    "never: {pods: {bound: 1}, from: {bound: Pod/wbe}}": "f.yaml:4:29 then[0].never: {bound: Pod/wbe} | no such moment | ",
    "always: {pods: {pending: 0}, from: {step: 2}, until: {at: 1s}}": (
        "f.yaml:4:49 then[0].always: {at: 1s} | no such moment from there on | "
    ),
}

MISTAKES = {
    "always: {pods: {pending: 0}, until: {step: 7}}": "f.yaml:4:40: then[0].always.until.step: there is no step 7; `when` has 3 steps",
    "always: {pods: {pending: 0}, from: {step: 0}}": "there is no step 0",
    "never: {pods: {bound: 5}, within: 0s}": "'within' is longer than 0s",
    "always: {pods: {bound: 1}, from: {at: 20h}, until: {at: 10h}}": "'until' comes after 'from'",
}


@pytest.mark.parametrize("expectation", MISTAKES)
def test_a_moment_that_cannot_be_is_a_mistake_of_the_file(expectation: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        _failures(expectation)
    assert MISTAKES[expectation] in str(raised.value)


@pytest.mark.parametrize("expectation", FAILS)
def test_fails(expectation: str) -> None:
    """With its place, and the moment that decides."""
    [failure] = _failures(expectation)
    assert failure.startswith(FAILS[expectation])
