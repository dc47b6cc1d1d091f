"""Who wrote a label, in words that need no knowledge of the code: sources, the user's NodePool, Nodes that are gone."""

from __future__ import annotations

from typing import Any

from harness.explain.labels.sources import SOURCES, in_nodepool
from harness.karpenter.launch import Source
from harness.reports.picture.labels import label_tables, source_words
from harness.reports.picture.story import Story
from tests.project.tree import ROOT
from tests.reports.test_picture_world import HEADER, fact


def pool(labels: dict[str, str], **allowed: list[str]) -> dict[str, Any]:
    wanted = [{"key": key, "operator": "In", "values": values} for key, values in allowed.items()]
    return {
        "kind": "NodePool",
        "spec": {"template": {"metadata": {"labels": labels}, "spec": {"requirements": wanted}}},
    }


def wrote(t: float, node: str, key: str, value: str, source: str, by: str = "kubelet") -> dict[str, Any]:
    return fact(t, "label", node=node, key=key, kind="set", by=by, value=value, **{"from": source})


def applied(t: float, manifest: dict[str, Any], line: int) -> dict[str, Any]:
    return fact(t, "object", object="NodePool/web", verb="apply", manifest=manifest, file="a.yaml", line=line)


NODES = [
    fact(40, "node", node="old", state="created", nodepool="web"),
    fact(40, "node", node="new", state="created", nodepool="web"),
    fact(90, "node", node="old", state="deleted"),
]


def tables(*facts: dict[str, Any]) -> list[dict[str, Any]]:
    return label_tables(Story.of([HEADER, *facts]))


def test_every_source_has_words() -> None:
    others = {"kubelet-default", "aks-rp", "disk-driver", "registration", "initialization"}
    assert set(SOURCES) == {str(source) for source in Source} | others
    reference = (ROOT / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8")
    for source, words in source_words().items():
        assert f"| `{source}` | {words['name']} | {words['text']} |" in reference


def test_a_label_of_the_template_comes_from_it_whoever_says_so() -> None:
    """Karpenter reads it from the NodeClaim's labels or from its requirements: it is the same label."""
    (table,) = tables(
        applied(0, pool({"team": "blue"}, family=["D"], zone=["1", "2"]), 7),
        *NODES[:1],
        wrote(41, "old", "team", "blue", "nodeclaim-label"),
        wrote(41, "old", "team", "blue", "claim-requirement", "karpenter"),
        wrote(41, "old", "family", "D", "claim-requirement"),
        wrote(41, "old", "zone", "1", "claim-requirement"),
        wrote(41, "old", "cpu", "8", "instance-type"),
    )
    origins = {row["key"]: [write.get("nodepool") for write in row["writes"]] for row in table["keys"]}
    template = {"name": "web", "part": "a label of the template", "place": {"file": "a.yaml", "line": 7}}
    asked = {**template, "part": "a requirement of the template"}
    assert origins == {"team": [template, template], "family": [asked], "zone": [None], "cpu": [None]}


def test_the_nodepool_is_named_as_it_was_when_the_label_was_written() -> None:
    (table,) = tables(
        applied(0, pool({"team": "blue"}), 7),
        *NODES[:1],
        wrote(41, "old", "team", "blue", "nodeclaim-label"),
        applied(60, pool({"team": "blue"}), 99),
    )
    assert table["keys"][0]["writes"][0]["nodepool"]["place"]["line"] == 7


def test_numbers_of_a_manifest_are_the_text_that_a_label_has() -> None:
    assert in_nodepool(pool({}, size=[8]), "size", "8", "claim-requirement")  # type: ignore[list-item]
    assert not in_nodepool(pool({"team": "blue"}), "team", "red", "nodeclaim-label")
    assert not in_nodepool({"spec": {}}, "team", "red", "nodeclaim-label")


def test_nodes_that_are_there_come_first_and_the_others_say_when_they_went() -> None:
    found = tables(*NODES[:2], wrote(41, "old", "a", "1", "base"), wrote(42, "new", "a", "1", "base"), NODES[2])
    assert [(one["node"], one["gone"]) for one in found] == [("new", None), ("old", 90)]


def test_many_nodes_keep_the_living_ones_on_the_page() -> None:
    names = [f"n{number}" for number in range(40)]
    found = tables(
        *(fact(1, "node", node=name, state="created") for name in names),
        *(wrote(2, name, "a", "1", "base") for name in names),
        *(fact(3, "node", node=name, state="deleted") for name in names[:30]),
    )
    assert [one["node"] for one in found[:10]] == names[30:]
    assert len(found) == 25
