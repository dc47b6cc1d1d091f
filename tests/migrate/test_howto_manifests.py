"""Mistakes in the manifests of AKS's own page about the move, which people paste: each has the hint that mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import call

NODEPOOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 30s}
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: autoscaling.azure.com/cas-block, operator: Equal, value: true, effect: NoSchedule}]
      containers: [{name: web, image: web}]
"""
MISTAKES = [
    pytest.param(NODEPOOL.replace("karpenter.sh/v1", "karpenter.sh/v1beta1"), "it is as karpenter.sh/v1", id="version"),
    pytest.param(
        NODEPOOL.replace("group: karpenter.azure.com", "apiVersion: karpenter.azure.com/v1alpha2"),
        "write group: karpenter.azure.com, without the version",
        id="nodeClassRef.apiVersion",
    ),
    pytest.param(
        NODEPOOL.replace("{consolidationPolicy", "{terminationGracePeriod: 30s, consolidationPolicy"),
        "it belongs in spec.template.spec",
        id="terminationGracePeriod under disruption",
    ),
    pytest.param(
        NODEPOOL.replace("{consolidationPolicy", "{expireAfter: Never, consolidationPolicy"),
        "it belongs in spec.template.spec",
        id="expireAfter under disruption",
    ),
    pytest.param(
        NODEPOOL.replace("Underutilized", "UnderUtilized"), "did you mean 'WhenEmptyOrUnderutilized'?", id="capital U"
    ),
    pytest.param(DEPLOYMENT, 'a text is expected, not true; quote it: "true"', id="toleration with a truth value"),
]


@pytest.mark.parametrize(("text", "hint"), MISTAKES)
def test_a_pasted_mistake_has_the_hint_that_mends_it(
    text: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pasted.yaml").write_text(text)
    code, out, err = call(capsys, "validate", str(tmp_path / "pasted.yaml"))
    assert code in (1, 2)
    assert hint in out + err
