"""What lint warns of stands under a failed expectation where it may decide, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import call
from tests.small_world import POOL

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: pause, resources: {requests: {cpu: CPU}}}]
"""
NEVER = "disruption: {consolidateAfter: 0s, budgets: [{nodes: '0'}]}"
ALWAYS = "disruption: {consolidateAfter: 0s, budgets: [{nodes: '0', reasons: [Drifted]}]}"
SMALL = "limits: {cpu: 500m}\n  disruption: {consolidateAfter: Never}"
BUDGET, LIMIT = "warning budget-never: NodePool/default", "warning limit-below-node: NodePool/default"


@pytest.mark.parametrize(
    ("pool", "then", "told"),
    [
        (NEVER, "nodeclaims: {count: 0}", [BUDGET]),
        (NEVER, "nodeclaims: {count: 5}", []),
        (NEVER, "pods: {bound: 4}", []),
        (ALWAYS, "nodeclaims: {count: 5}", []),
        (SMALL, "pods: {bound: [web]}", [LIMIT]),
    ],
    ids=["a node stays", "too few nodes", "of pods", "another budget", "a pod waits"],
)
def test_the_warning_that_decides(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, pool: str, then: str, told: list[str]
) -> None:
    limited = POOL.replace("spec:\n  template", f"spec:\n  {pool}\n  template", 1)
    steps = "[settle]" if "web" in then else "[settle, {scale: {of: Deployment/web, replicas: 0}}, {advance: 20m}]"
    head = f"scenario: one web\nwhen: {steps}\nthen:\n- {then}\n"
    then_of_pod = head.replace("[web]", "{Deployment/web: 1}")
    (tmp_path / "case.yaml").write_text(f"{then_of_pod}---\n{limited}---\n{WEB.replace('CPU', '1')}")
    code, out, err = call(capsys, "run", str(tmp_path / "case.yaml"))
    assert code == 1, out + err
    assert [one for one in (BUDGET, LIMIT) if one in out] == told
