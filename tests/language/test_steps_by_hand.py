"""Steps that people take with kubectl: what is refused, and where that is said."""

import pytest

from harness.reading.problems import ScenarioError
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner

WORLD = """
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
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}
"""


def run(text: str) -> None:
    for scenario in load_text(text, file="s.yaml"):
        for case in scenario.cases:
            Runner().run(case)


def problems(steps: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        run(f"scenario: s\nwhen: {steps}\nthen: [pods: {{bound: 1}}]{WORLD}")
    return "\n".join(str(problem) for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("[{cordon: Node/nothing}]", "when: there is no Node/nothing"),
        ("[{drain: Pod/nothing}]", "there is no Pod/nothing"),
        ("[{uncordon: web}]", "an object is named as Kind/name"),
        ("[{rollout: {}}]", "exactly one of restart, pause, resume, undo is expected"),
        ("[{rollout: {restrat: Deployment/web}}]", "unknown key 'restrat'; did you mean 'restart'?"),
        ("[{rollout: {restart: NodePool/default}}]", "restarting is not supported for a NodePool"),
        ("[{rollout: {resume: Deployment/web}}]", "Deployment/web: is not paused"),
        (
            "[{rollout: {pause: Deployment/web}}, {rollout: {pause: Deployment/web}}]",
            "Deployment/web: is already paused",
        ),
        (
            "[{rollout: {pause: Deployment/web}}, {rollout: {restart: Deployment/web}}]",
            "can't restart paused deployment (run rollout resume first)",
        ),
        ("[settle, {rollout: {undo: Deployment/web}}]", 'no rollout history found for deployment "web"'),
        (
            "[{rollout: {restart: Deployment/none}}]",
            "'Deployment/none' is not an object of this scenario; did you mean 'Deployment/web'?",
        ),
    ],
)
def test_a_step_that_kubectl_would_refuse(steps: str, expected: str) -> None:
    assert expected in problems(steps)
