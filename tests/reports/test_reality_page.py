"""The data of the page of `harness reality`: facts that say the same together, every one counted."""

from __future__ import annotations

from harness.reports.picture.reality import reality_page, reality_value
from tests.reports.test_picture import data_of


def fact(name: str, field: str, state: str, theirs: str = "1", ours: str = "1", **more: str) -> dict[str, str]:
    return {
        "object": name,
        "field": field,
        "state": state,
        "theirs": theirs,
        "ours": ours,
        "place": "d.yaml:1:1",
        **more,
    }


FACTS = [
    fact("Node/a", "capacity.cpu", "different", "2", "4"),
    fact("Node/b", "capacity.cpu", "different", "2", "4"),
    fact("Node/c", "capacity.cpu", "different", "3", "4"),
    fact("NodeClaim/c", "capacity.cpu", "equal"),
    fact("Node/a", "labels.kubernetes.io/hostname", "not comparable", "a", "x", why="a name"),
    fact("Node/b", "labels.kubernetes.io/hostname", "not comparable", "</script>", "x", why="a name"),
]


def test_facts_that_say_the_same_are_one_group() -> None:
    value = reality_value("t", ["read"], FACTS)
    assert value["counts"] == {"equal": 1, "different": 3, "not comparable": 2}
    assert (value["objects"], value["head"]) == (4, ["read"])
    assert [(row["state"], row["kind"], row["theirs"], row["count"], row["object"]) for row in value["groups"]] == [
        ("different", "Node", "2", 2, "Node/a"),
        ("not comparable", "Node", "", 2, "Node/a"),
        ("different", "Node", "3", 1, "Node/c"),
        ("equal", "NodeClaim", "", 1, "NodeClaim/c"),
    ]
    assert sum(row["count"] for row in value["groups"]) == len(FACTS)


def test_the_page_holds_its_data_and_no_name_that_is_not_compared() -> None:
    document = reality_page("</title>", [], FACTS)
    assert data_of(document) == reality_value("</title>", [], FACTS)
    assert document.count("</script>") == 2
