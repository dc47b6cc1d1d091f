"""The CRDs that are installed on real API servers say what the rule tables say, and the rules can be read back."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from harness.clusters.control_plane.cel import expression
from harness.clusters.control_plane.crds import crd_manifests
from harness.karpenter.validation.crds import crd_set, crd_sets
from tools.crd_rules import predicate

TABLES = json.loads(files("harness.karpenter.releases").joinpath("data/crds.json").read_text(encoding="utf-8"))
ROWS = [row for table in TABLES["crds"].values() for row in table["rules"]]


def test_every_rule_reads_back_as_the_predicate_it_was_written_from() -> None:
    assert len(ROWS) > 100
    changed = [row[1] for row in ROWS if predicate(expression(row[1])) != row[1]]
    assert changed == []


def rules_in(schema: Any) -> int:
    if isinstance(schema, dict):
        return len(schema.get("x-kubernetes-validations", ())) + sum(map(rules_in, schema.values()))
    return 0


@pytest.mark.parametrize("release", [crd_sets()[0], "1.7.2", "1.14.0"])
def test_manifests_have_every_rule_of_a_release(release: str) -> None:
    manifests = crd_manifests(crd_set(release))
    found = sum(
        rules_in(version["schema"]["openAPIV3Schema"]) for each in manifests for version in each["spec"]["versions"]
    )
    assert found == len(crd_set(release).rules())
    for each in manifests:
        assert sum(version["storage"] for version in each["spec"]["versions"]) == 1
