"""The same difference of many objects is told once, what follows from another one apart, and nothing is lost."""

from __future__ import annotations

from typing import Any

from harness.explain.traces.group_texts import group_lines, kubernetes_line, summary_text
from harness.explain.traces.grouping import Group, grouped, place_of
from harness.trace.comparing import Comparison, Difference

LABEL = "NodeClaims[{}][Nodes][0][labels][a.b/c]"
WRITERS = "NodeClaims[{}][Nodes][0][writers][a.b/c]"


def compared(*differences: Difference, **objects: int) -> Comparison:
    return Comparison([("release", "1.13.1", "1.14.0")], differences, 100, objects)


def only(found: list[Group]) -> Group:
    (group,) = (one for one in found if not one.follows)
    return group


def test_a_label_of_all_nodes_is_one_group() -> None:
    nodes = [f"default {number}" for number in range(1, 13)]
    found = grouped(
        [
            ("", compared(*(Difference(LABEL.format(name), "(nothing)", "x") for name in nodes),
                          *(Difference(WRITERS.format(name), "(nothing)", ["set by kubelet"]) for name in nodes), Node=12)),
        ]
    )  # fmt: skip
    group = only(found)
    assert (group.change, group.about, group.what, len(group.objects)) == ("new", "labels", "label a.b/c", 12)
    assert list(group_lines(found)) == [
        "new: only in B",
        "  label a.b/c: x  [all 12 Nodes]",
        "what follows from these (-v has it): the label itself: who writes it (12)",
    ]


def test_groups_go_over_cases() -> None:
    one = compared(Difference(LABEL.format("default 1"), "x", "(nothing)"), Node=2)
    other = compared(Difference(LABEL.format("web 1"), "y", "(nothing)"), Node=1)
    found = grouped([("first", one), ("second", other)])
    assert list(group_lines(found)) == ["gone: only in A", "  label a.b/c: x (1), y (1)  [2 of 3 Nodes, in 2 cases]"]
    assert summary_text([("first", one), ("second", other)], found) == (
        "1 difference (release 1.13.1 | 1.14.0): 1 gone; 2 facts differ in 2 of 2 cases, 200 facts are the same"
    )


def test_amounts_are_written_as_in_manifests() -> None:
    own = "NodeClaims[default 1]"
    facts = [
        Difference(f"{own}[requests][memory]", "(nothing)", 38654705664),
        Difference(f"{own}[requests][cpu]", "(nothing)", 12.25),
        Difference(f"{own}[requests][pods]", "(nothing)", 4),
        Difference(f"{own}[Nodes][0][allocatable][ephemeral-storage]", 119437317120, 119437317121),
    ]
    found = grouped([("", Comparison([], facts, 11414, {}))])
    assert list(group_lines(found)) == [
        "new: only in B",
        "  requests of memory: 36Gi  [NodeClaim default 1]",
        "  requests of cpu: 12250m  [NodeClaim default 1]",
        "  requests of pods: 4  [NodeClaim default 1]",
        "changed",
        "  allocatable ephemeral-storage: 119,437,317,120 → 119,437,317,121  [Node of default 1]",
    ]
    assert summary_text([("", Comparison([], facts, 11414, {}))], found).endswith("11,414 facts are the same")


def test_an_objects_own_name_makes_no_difference() -> None:
    facts = [
        Difference(f"Events[Pod of Deployment/{name}]", [], [f"Normal Nominated: Pod {name} should schedule"])
        for name in ("a", "b")
    ]
    assert len(only(grouped([("", compared(*facts))])).facts) == 2


def test_a_name_that_reads_like_a_number_or_a_truth_is_one() -> None:
    """A Pod may be called `1`, and a workload `true`."""
    for name, left, right in (("1", [1, 2], [2]), ("true", [True], [False])):
        group = only(grouped([("", compared(Difference(f"pods[where][{name}]", left, right)))]))
        assert [fact.place.name for fact in group.facts] == [name]
    text = Difference("NodeClaims[7][labels]", ["for 7"], ["for 17"])
    assert list(only(grouped([("", compared(text))])).values) == [("for ITSELF", "for 17")]


def test_prices_that_differ_do_not_read_the_same() -> None:
    price = "NodeClaims[default 1][Nodes][0][price]"
    group = only(grouped([("", compared(Difference(price, 0.27601, 0.27602)))]))
    assert list(group.values) == [("0.27601", "0.27602")]
    group = only(grouped([("", compared(Difference(price, 0.276, 0.552)))]))
    assert list(group.values) == [("0.2760", "0.5520")]


def test_what_follows_from_another_size() -> None:
    claim = "NodeClaims[default 1]"
    node = f"{claim}[Nodes][0]"
    found = grouped(
        [
            ("", compared(
                Difference(f"{claim}[size]", "Standard_D2s_v5", "Standard_D4s_v5"),
                Difference(f"{node}[labels][node.kubernetes.io/instance-type]", "Standard_D2s_v5", "Standard_D4s_v5"),
                Difference(f"{node}[labels][karpenter.azure.com/sku-cpu]", "2", "4"),
                Difference(f"{node}[allocatable][cpu]", 1.9, 3.8),
                Difference(f"{node}[price]", 0.1, 0.2),
                Difference(f"{node}[labels][team]", "a", "b"),
                NodeClaim=1, Node=1)),
        ]
    )  # fmt: skip
    assert [(one.what, one.follows) for one in found if not one.follows] == [("size", ""), ("label team", "")]
    assert {one.what for one in found if one.follows == "another size"} == {
        "label node.kubernetes.io/instance-type", "label karpenter.azure.com/sku-cpu", "allocatable cpu", "price",
    }  # fmt: skip


def test_no_fact_is_lost() -> None:
    paths = [
        "expectations[then[0].pods]", "pods[bound][of Deployment/web]", "pods[per Node]", "price", "disruptions",
        "NodeClaims[default 2]", "NodeClaims[default 1][Nodes]", "NodeClaims[default 1][conditions][Launched]",
        "NodeClaims[default 1][Azure]", "other Nodes[aks-1]", "other Nodes[aks-1][taints]", "other calls",
        "sizes[default][offered]", "conditions[NodePool/default][Ready]", "Events[Node/aks-1]", "decisions[default/web]",
        "refused[Pod/default/web]", "something new[of][a later version]",
    ]  # fmt: skip
    values: list[tuple[Any, Any]] = [("(nothing)", {"size": "x"}), (1, 2), ([], ["a"]), (True, False), (None, "b")]
    facts = [Difference(path, *values[number % len(values)]) for number, path in enumerate(paths)]
    found = grouped([("", compared(*facts))])
    assert sorted(fact.difference.fact for group in found for fact in group.facts) == sorted(paths)
    assert all(place_of(path).what for path in paths)


def test_of_long_sentences_what_differs() -> None:
    said = [
        f"refused: no instance type fits, requirements={', '.join(f'key-{number} In [value]' for number in range(9))}"
    ]
    found = grouped([("", compared(Difference("decisions[default/web]", said, [f"{said[0]}, more In [x]"])))])
    assert only(found).values == {("", "…, more In [x]"): 1}


def test_one_kubernetes_is_told_where_it_is_not_a_releases_own() -> None:
    assert kubernetes_line("1.33.0", {"1.6.6": "1.33.0", "1.14.0": "1.34.0"}) == (
        "Kubernetes 1.33.0 on both sides; 1.14.0 by itself has 1.34.0"
    )
    assert kubernetes_line("1.34.0", {"1.13.1": "1.34.0", "1.14.0": "1.34.0"}) == ""
