"""What the methods do with small clusters, and what they say about nodes that they leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from harness.conformance.ops.catalog import instance_types
from harness.engine.clock import SECOND, parse
from harness.karpenter.disruption.budgets import (
    UNLIMITED,
    BudgetError,
    allowed_disruptions,
    disruption_budgets,
    unreadable,
)
from harness.karpenter.disruption.candidates import Candidate, all_candidates, candidate_of, node_refusals
from harness.karpenter.disruption.commands.command import Command
from harness.karpenter.disruption.costs import eviction_cost, is_unpriced
from harness.karpenter.disruption.methods.consolidation import should_consolidate
from harness.karpenter.disruption.methods.method import Findings, Method
from harness.karpenter.disruption.methods.order import attempt, methods_of
from harness.karpenter.disruption.simulating import simulate
from harness.karpenter.disruption.situation import Situation, TurnWait, after_waiting
from harness.karpenter.disruption.turn import turn
from harness.karpenter.releases import provider
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from tests.disruption import fleet
from tests.disruption.fleet import CAPACITY, NOW, RELEASE, ZONE, Json, machine, nodepool, pod, situation, size


def found(made: Situation, method: str, **how: Any) -> list[Command]:
    """The commands of a method; the time before its validation passes without anything happening."""
    (chosen,) = (each for each in methods_of(made.rules) if each.name == method)
    done = after_waiting(attempt(made, chosen, **how), lambda seconds: None)
    return [] if done.findings is None else done.findings.commands


def said(made: Situation, node: str) -> list[str]:
    return [each.message for each in made.events if (each.kind, each.object) == ("Node", node)]


def test_an_empty_node_is_deleted() -> None:
    made = situation([machine("a"), machine("b")], [pod("p", "a")])
    (command,) = found(made, "Emptiness")
    assert str(command) == "delete: [b]"
    assert command.savings(made.rules, made.view.release.vocabulary) == pytest.approx(0.2)


def test_a_pod_that_costs_nothing_leaves_its_node_empty_from_core_1_14_on() -> None:
    cheap = pod("p", "a", annotations={"controller.kubernetes.io/pod-deletion-cost": "-200000000"})
    assert [str(each) for each in found(situation([machine("a")], [cheap]), "Emptiness")] == ["delete: [a]"]
    assert not found(situation([machine("a")], [cheap], release=provider("1.13.1")), "Emptiness")


@pytest.mark.parametrize("method", ["SingleNodeConsolidation", "MultiNodeConsolidation"])
def test_until_core_1_13_a_node_whose_pods_cost_nothing_is_consolidated_as_others_are(method: str) -> None:
    """Core pkg/controllers/disruption/{single,multi}nodeconsolidation.go: only nodes without pods are left to emptiness."""
    cheap = {NAMES["deletion"]: "-200000000"}
    pods = [*(pod(f"p{name}", name, annotations=cheap) for name in "ab"), pod("full", "c", "3500m")]

    def taken(release: str) -> set[str]:
        made = situation([machine(name) for name in "abcd"], pods, release=provider(release))
        return {each.name for command in found(made, method) for each in command.candidates}

    assert "a" in taken("1.13.1")
    assert not taken("1.14.0") & {"a", "b"}


def emptied(release: str, **annotations: str) -> bool:
    """Whether a pod that says this of itself leaves its node empty."""
    said = {NAMES[name]: text for name, text in annotations.items()}
    return bool(
        found(situation([machine("a")], [pod("p", "a", annotations=said)], release=provider(release)), "Emptiness")
    )


NAMES = {"deletion": "controller.kubernetes.io/pod-deletion-cost", "disruption": "karpenter.sh/disruption-cost"}


def test_what_a_pod_says_of_its_disruption_counts_before_its_deletion_from_core_1_15_on() -> None:
    """Core pkg/utils/disruption/disruption.go, EvictionCost."""
    assert emptied("next", disruption="-200000000")
    assert not emptied("1.14.2", disruption="-200000000")
    assert not emptied("next", disruption="0", deletion="-200000000")
    assert emptied("next", deletion="-200000000")


def test_only_whole_numbers_of_32_bits_say_a_cost_from_core_1_15_on() -> None:
    for text in ("-200000000.5", "-2e8", "-2147483649", "", " -200000000"):
        assert not emptied("next", disruption=text), text
    assert emptied("1.14.2", deletion="-2e8")
    assert not emptied("next", deletion="-2e8")
    assert emptied("next", disruption="-2147483648")


@pytest.mark.parametrize("text", ["x", "", "1.5", "2147483648", " 1"])
def test_what_is_no_number_costs_nothing_more(text: str) -> None:
    rules = situation([], release=provider("next")).rules
    plain = eviction_cost(pod("p", "a"), rules)
    assert eviction_cost(pod("p", "a", annotations={NAMES["disruption"]: text}), rules) == plain
    assert eviction_cost(pod("p", "a", annotations={NAMES["disruption"]: "1"}), rules) > plain
    assert eviction_cost(pod("p", "a", annotations={NAMES["disruption"]: str(2**27)}), rules) == plain + 1


def static(replicas: int, most: int) -> dict[str, Any]:
    made = nodepool()
    return {**made, "spec": {**made["spec"], "replicas": replicas, "limits": {"nodes": str(most)}}}


@pytest.mark.parametrize(("release", "told"), [("next", True), ("1.14.2", False)])
def test_a_static_nodepool_without_room_for_a_replacement_says_so_from_core_1_15_on(release: str, told: bool) -> None:
    """Core pkg/controllers/disruption/staticdrift.go, unreplaceableCommands."""
    drifted = machine("a", conditions=("Consolidatable", "Drifted"))
    full = situation([drifted], pools=[static(1, 1)], release=provider(release))
    assert not found(full, "StaticDrift")
    sentence = "static NodePool is at its node limit and cannot stage a replacement"
    assert said(full, "a") == ([sentence] if told else [])
    roomy = situation([drifted], pools=[static(1, 2)], release=provider(release))
    assert len(found(roomy, "StaticDrift")) == 1
    assert said(roomy, "a") == []


@pytest.mark.parametrize(
    ("release", "starting", "deleting"),
    [
        ("next", "node isn't initialized nor registered", "node is deleting or marked for deletion"),
        ("1.14.2", "node isn't initialized", "node isn't initialized"),
    ],
)
def test_what_is_said_of_a_node_that_is_not_registered(release: str, starting: str, deleting: str) -> None:
    """Core pkg/controllers/state/statenode.go, ValidateNodeDisruptable."""
    node, claim = machine("a")
    labels = {key: text for key, text in node["metadata"]["labels"].items() if not key.startswith("karpenter.sh/init")}
    registered = {**node, "metadata": {**node["metadata"], "labels": labels}}
    bare = {**node, "metadata": {**node["metadata"], "labels": {**labels, "karpenter.sh/registered": "false"}}}
    gone = {**claim, "metadata": {**claim["metadata"], "deletionTimestamp": "2026-01-07T10:00:00Z"}}
    for state, told in (
        ((registered, claim), "node isn't initialized"),
        ((bare, claim), starting),
        ((registered, gone), deleting),
    ):
        made = situation([state], release=provider(release))
        assert next(node_refusals(made, made.view.nodes[0])) == told


def test_pods_move_to_a_node_that_has_room() -> None:
    made = situation([machine("a"), machine("b")], [pod("p", "a"), pod("q", "b", "3")])
    (command,) = found(made, "SingleNodeConsolidation")
    assert str(command) == "delete: [a]"
    assert {node: len(pods) for node, pods in (command.outcome.existing or {}).items()} == {"b": 1}


def test_a_dear_node_is_replaced_by_a_cheaper_one() -> None:
    made = situation([machine("a", "eight")], [pod("p", "a", "1500m")])
    (command,) = found(made, "SingleNodeConsolidation")
    (planned,) = command.replacements
    assert [each.name for each in planned.instance_types] == ["two", "four"]
    assert "Consolidation candidate: replace: [a] -> [1 replacement] (savings: $0.38)" in said(made, "a")


def test_a_replacement_may_be_of_any_size_that_the_validation_finds() -> None:
    """Core instanceTypesAreSubset: of no others, and it may be all of them."""
    chosen = nodepool()
    only = {"key": fleet.SIZE, "operator": "In", "values": ["two", "four"]}
    chosen["spec"]["template"]["spec"]["requirements"].append(only)
    (command,) = found(
        situation([machine("a", "eight")], [pod("p", "a", "1500m")], [chosen]), "SingleNodeConsolidation"
    )
    (planned,) = command.replacements
    assert [each.name for each in planned.instance_types] == ["two", "four"]


def test_several_nodes_go_at_once() -> None:
    machines = [machine(name) for name in "abc"]
    made = situation(machines, [pod(name, name, "1") for name in "abc"])
    (command,) = found(made, "MultiNodeConsolidation")
    assert str(command) == "delete: [a, b]"
    assert made.tally.moves == {("approved", "pool", "WhenEmptyOrUnderutilized"): 1}


@pytest.mark.parametrize(
    ("count", "gone"), [(2, "a"), (3, "a"), (4, "ab"), (5, "ab"), (6, "abc"), (7, "abc"), (9, "abcd")]
)
def test_as_many_nodes_go_as_the_others_have_room_for(count: int, gone: str) -> None:
    """Core firstNConsolidationOption: a binary search. Each node that stays has room for the pod of one that goes."""
    names = "abcdefghi"[:count]
    pool = nodepool()
    only = {"key": fleet.SIZE, "operator": "In", "values": ["four"]}
    pool["spec"]["template"]["spec"]["requirements"].append(only)
    made = situation([machine(name) for name in names], [pod(name, name, "1500m") for name in names], [pool])
    commands = [str(each) for each in found(made, "MultiNodeConsolidation")]
    assert commands == ([f"delete: [{', '.join(gone)}]"] if len(gone) > 1 else [])


@pytest.mark.parametrize("method", ["Emptiness", "SingleNodeConsolidation", "MultiNodeConsolidation"])
def test_static_nodepools_are_not_consolidated_and_nothing_is_said(method: str) -> None:
    """Core pkg/controllers/disruption/{emptiness,consolidation}.go; core 1.6 knows no static NodePools."""
    machines, pods = [machine(name) for name in "abc"], [] if method == "Emptiness" else [pod("p", "a"), pod("q", "b")]
    pools = [static(3, 9), nodepool("other")]
    made = situation(machines, pods, pools)
    assert not found(made, method)
    assert made.events == ()
    assert found(situation(machines, pods, pools, release=provider("1.6.5")), method)


def test_budgets_of_one_nodepool_keep_no_nodes_of_another() -> None:
    """Core pkg/controllers/disruption/multinodeconsolidation.go: who is over budget is left out, and the search goes on behind it."""
    pools = [nodepool("one", budgets=[{"nodes": "1"}]), nodepool("many", budgets=[{"nodes": "3"}])]
    names = {"a": "one", "b": "many", "c": "one", "d": "many", "e": "many"}
    pods = []
    for cost, name in enumerate(names):  # they are asked in this order
        pods.append(pod(name, name, "100m", annotations={NAMES["deletion"]: str(cost * 1_000_000)}))
    made = situation([machine(name, pool=of) for name, of in names.items()], pods, pools)
    (command,) = found(made, "MultiNodeConsolidation")
    assert str(command) == "delete: [a, b, d, e]"


@pytest.mark.parametrize(("zone", "replaced"), [("z-1", False), ("z-9", False), (None, True)])
def test_several_nodes_are_not_replaced_by_one_of_a_size_that_one_of_them_has(zone: str | None, replaced: bool) -> None:
    """Core filterOutSameInstanceType: also where no offering is known of that node, so that it costs nothing."""
    machines = [machine("a", "eight"), machine("b", "four" if zone is None else "two")]
    for each in machines[1]:
        each["metadata"]["labels"][ZONE] = zone or "z-1"
    made = situation(machines, [pod(name, name, "600m") for name in "ab"])
    commands = [str(each) for each in found(made, "MultiNodeConsolidation")]
    assert commands == (["replace: [a, b] -> [1 replacement]"] if replaced else [])


def test_a_node_that_took_a_pod_lately_takes_none_of_others_from_core_1_14_on() -> None:
    pools = [nodepool(consolidateAfter="30m")]
    machines = [machine("a"), machine("b")]
    machines[1][1]["status"]["lastPodEventTime"] = "2026-01-07T10:29:00Z"
    pods = [pod("p", "a"), pod("q", "b", "3")]
    assert not [
        each for each in found(situation(machines, pods, pools), "SingleNodeConsolidation") if not each.replacements
    ]
    old = situation(machines, pods, pools, release=provider("1.13.1"))
    assert [str(each) for each in found(old, "SingleNodeConsolidation")] == ["delete: [a]"]


def test_a_node_is_replaced_although_a_node_has_room_that_took_a_pod_lately() -> None:
    machines = [machine("a", "eight"), machine("b", conditions=())]
    machines[1][1]["status"]["lastPodEventTime"] = "2026-01-07T10:29:00Z"
    pods = [pod("p", "a", "1500m"), pod("q", "b")]
    for release, command in (("1.14.0", "replace: [a] -> [1 replacement]"), ("1.13.1", "delete: [a]")):
        made = situation(machines, pods, [nodepool(consolidateAfter="30m")], release=provider(release))
        assert [str(each) for each in found(made, "SingleNodeConsolidation")] == [command]


def test_spot_to_spot_has_a_gate_and_wants_fifteen_types() -> None:
    machines, pools = [machine("a", "eight", kind="spot")], [nodepool(kinds=("spot",))]
    pods = [pod("p", "a", "1500m")]
    off = situation(machines, pods, pools)
    assert not found(off, "SingleNodeConsolidation")
    assert said(off, "a") == ["SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node"]
    on = situation(machines, pods, pools, spot_to_spot=True)
    assert not found(on, "SingleNodeConsolidation")
    assert (
        "requires 15 cheaper instance type options than the current candidate to consolidate, got 2" in said(on, "a")[0]
    )


@pytest.mark.parametrize(("least", "kept"), [(None, 15), (14, 15), (16, 16), (18, 18), (19, None)])
def test_spot_is_replaced_by_the_fifteen_cheapest_sizes_or_as_many_as_min_values_ask_for(
    monkeypatch: pytest.MonkeyPatch, least: int | None, kept: int | None
) -> None:
    """Core pkg/controllers/disruption/consolidation.go, computeSpotToSpotConsolidation; of 19 sizes one is not cheaper."""
    sizes = [size(f"s{number:02}", 4, 1.0, 0.01 * number) for number in range(1, 20)]
    monkeypatch.setattr(fleet, "SIZES", sizes)
    of_spot = nodepool(kinds=("spot",))
    if least is not None:
        wanted = {"key": fleet.SIZE, "operator": "Exists", "minValues": least}
        of_spot["spec"]["template"]["spec"]["requirements"].append(wanted)
    made = situation([machine("a", "s19", kind="spot")], [pod("p", "a")], [of_spot], spot_to_spot=True)
    commands = found(made, "SingleNodeConsolidation")
    names = [[each.name for each in planned.instance_types] for command in commands for planned in command.replacements]
    assert names == ([] if kept is None else [[f"s{number:02}" for number in range(1, kept + 1)]])


@pytest.mark.parametrize(
    ("node", "pods", "text"),
    [
        (
            {"annotations": {"karpenter.sh/do-not-disrupt": "true"}},
            [],
            'Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation',
        ),
        (
            {},
            [pod("p", "a", annotations={"karpenter.sh/do-not-disrupt": "true"})],
            'Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=default/p)',
        ),
        ({"pool": "gone"}, [], "NodePool not found (NodePool=gone)"),
    ],
)
def test_blocked_nodes(node: Json, pods: list[Json], text: str) -> None:
    made = situation([machine("a", **node)], pods)
    assert not found(made, "Emptiness")
    assert said(made, "a") == [text]


def test_a_budget_that_allows_no_eviction_blocks_its_node() -> None:
    budget = {
        "metadata": {"name": "pdb", "namespace": "default"},
        "spec": {"selector": {}, "minAvailable": 1},
        "status": {"disruptionsAllowed": 0},
    }
    made = situation([machine("a"), machine("b")], [pod("p", "a", labels={"x": "y"})], pdbs=[budget])
    assert not found(made, "SingleNodeConsolidation")
    assert said(made, "a") == ["Pdb prevents pod evictions (PodDisruptionBudget=[default/pdb])"]


def blocking(**spec: Any) -> Json:
    """A budget of all pods that allows no eviction now."""
    name = {"name": "pdb", "namespace": "default"}
    return {"metadata": name, "spec": {"selector": {}, **spec}, "status": {"disruptionsAllowed": 0}}


@pytest.mark.parametrize(
    ("fields", "budgets", "command"),
    [
        ({}, (), "replace: [a] -> [1 replacement]"),
        ({}, (blocking(maxUnavailable=0),), "delete: [a]"),
        ({}, (blocking(maxUnavailable=1),), "replace: [a] -> [1 replacement]"),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, (), "delete: [a]"),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "false"}}, (), "replace: [a] -> [1 replacement]"),
    ],
)
@pytest.mark.parametrize("other", [False, True])
def test_pods_that_may_not_be_evicted_now_need_no_place_where_a_grace_period_lets_their_node_go(
    fields: dict[str, Any], budgets: Sequence[Json], command: str, other: bool
) -> None:
    """Core pkg/controllers/disruption/helpers.go, SimulateScheduling (IsCurrentlyReschedulable): budgets that never allow one."""
    drifted = machine("a", conditions=("Drifted",))
    drifted[1]["spec"]["terminationGracePeriod"] = "1h"
    pods = [pod("p", "a", "3500m", **fields), *([pod("q", "b", "3500m")] if other else [])]
    made = situation([drifted, machine("b")] if other else [drifted], pods, pdbs=budgets)
    assert not found(made, "Emptiness")
    assert [str(each) for each in found(made, "Drift")] == [command]
    if command.startswith("delete"):  # for consolidation it is no candidate afterwards either
        assert "a" not in {each.name for each in all_candidates(made, eventual=False)}


def test_a_pod_that_wants_no_disruption_withdraws_a_command_whatever_the_grace_period() -> None:
    """Core pkg/controllers/disruption/validation.go asks for graceful candidates: there the NodeClaim's grace period does not count."""
    machines = [machine("a"), machine("b")]
    machines[0][1]["spec"]["terminationGracePeriod"] = "1h"
    heavy = pod("q", "b", "3")

    def state(**fields: Any) -> Situation:
        return situation(machines, [pod("p", "a", **fields), heavy])

    made = state()
    (single,) = (each for each in methods_of(made.rules) if each.name == "SingleNodeConsolidation")

    def wait(seconds: float) -> None:
        made.view = state(annotations={"karpenter.sh/do-not-disrupt": "true"}).view

    assert [str(each) for each in found(state(), "SingleNodeConsolidation")] == ["delete: [a]"]
    done = after_waiting(attempt(made, single), wait)
    assert done.findings is not None
    assert (done.findings.commands, done.findings.withdrawn) == ([], True)


@pytest.mark.parametrize("release", ["next", "1.14.2"])
def test_nothing_is_said_of_a_node_that_can_go(release: str) -> None:
    fine, kept = machine("a"), machine("b", annotations={"karpenter.sh/do-not-disrupt": "true"})
    made = situation([fine, kept], release=provider(release))
    texts = {each.name: [*node_refusals(made, each)] for each in made.view.nodes}
    assert texts["a"] == []
    assert texts["b"] == ['disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation']


def test_a_candidate_is_what_its_labels_and_pods_say() -> None:
    marked = pod("q", "b", annotations={"karpenter.sh/do-not-disrupt": "false"})
    made = situation([machine("a"), machine("b", "eight")], [pod("p", "a"), marked])
    known = {
        each.name: (each.size, each.zone, each.capacity_type, each.pool, each.price, len(each.pods), each.marked)
        for each in all_candidates(made, eventual=False)
    }
    assert known == {
        "a": ("four", "z-1", "on-demand", "pool", 0.2, 1, False),
        "b": ("eight", "z-1", "on-demand", "pool", 0.4, 1, True),
    }


def test_what_a_node_costs_for_which_nobody_knows_a_price() -> None:
    machines = [machine("a"), machine("b")]
    for each in machines[1]:
        each["metadata"]["labels"][ZONE] = "z-9"
    made = situation(machines)
    assert [each.known_price for each in all_candidates(made, eventual=False)] == [0.2, 0.0]


def test_a_candidate_is_the_same_from_turn_to_turn_while_what_it_rests_on_is() -> None:
    memory, machines, pools = ClusterMemory(), [machine("a"), machine("b")], [nodepool()]
    types, dearer = (instance_types([size("four", 4, price)], RELEASE.vocabulary) for price in (0.2, 0.3))

    def look(machines: Any = machines, pools: Any = pools, types: Any = types) -> list[Candidate]:
        return list(all_candidates(situation(machines, (), pools, memory=memory, types=types), eventual=False))

    first = look()
    assert [each.price for each in first] == [0.2, 0.2]
    assert all(one is another for one, another in zip(first, look(), strict=True))
    assert [each.price for each in look(types=dearer)] == [0.3, 0.3]
    assert [each.policy for each in look(pools=[nodepool(consolidationPolicy="WhenEmpty")])] == ["WhenEmpty"] * 2
    assert [each.policy for each in look()] == ["WhenEmptyOrUnderutilized"] * 2
    before, after = look(), look([machines[0], machine("b", "eight")])
    assert [one is another for one, another in zip(before, after, strict=True)] == [True, False]
    assert [each.size for each in after] == ["four", "eight"]


def test_why_a_node_is_not_consolidated_is_worded_once_while_it_stays() -> None:
    made = situation([machine("a")], [pod("p", "a")], [nodepool(consolidationPolicy="WhenEmpty")])
    (one,) = all_candidates(made, eventual=False)
    assert [should_consolidate(made, one), should_consolidate(made, one)] == [False, False]
    assert len(made.said) == 2
    assert made.said[0] is made.said[1]
    assert len(said(made, "a")) == 1


def test_a_nomination_ends() -> None:
    machines = [machine("a")]
    assert not found(situation(machines, nominated={"a": parse(NOW) + SECOND}), "Emptiness")
    assert found(situation(machines, nominated={"a": parse(NOW)}), "Emptiness")


def test_a_drifted_node_goes_whatever_its_replacement_costs() -> None:
    made = situation([machine("a", "two", conditions=("Drifted",))], [pod("p", "a", "1500m")])
    (command,) = found(made, "Drift")
    assert str(command) == "replace: [a] -> [1 replacement]"
    assert command.savings(made.rules, made.view.release.vocabulary) < 0.1


@pytest.mark.parametrize(("method", "condition"), [("SingleNodeConsolidation", "Consolidatable"), ("Drift", "Drifted")])
def test_a_node_stays_where_its_pod_would_go_to_a_node_that_starts(method: str, condition: str) -> None:
    machines = [machine("a", conditions=(condition,)), machine("b", conditions=(condition,)), starting("c")]
    made = situation(machines, [pod(name, name, "3900m") for name in "ab"])
    assert not found(made, method)
    text = "Not all pods would schedule, default/{0} => would schedule against uninitialized nodeclaim/claim-c, node/c "
    assert [said(made, name) for name in "ab"] == [[text.format(name)] for name in "ab"]


def test_pods_of_a_drifted_node_move_to_a_node_that_took_a_pod_lately() -> None:
    """Core pkg/controllers/disruption/drift.go: the simulation of drift knows nothing of consolidateAfter."""
    machines = [machine("a", conditions=("Drifted",)), machine("b")]
    machines[1][1]["status"]["lastPodEventTime"] = "2026-01-07T10:29:00Z"
    made = situation(machines, [pod("p", "a")], [nodepool(consolidateAfter="30m")])
    assert [str(each) for each in found(made, "Drift")] == ["delete: [a]"]


def starting(name: str, of: str = "four") -> tuple[Json, Json]:
    """A node that is not initialized yet."""
    node, claim = machine(name, of)
    del node["metadata"]["labels"]["karpenter.sh/initialized"]
    claim["status"]["conditions"] = claim["status"]["conditions"][:-2]
    return node, claim


@pytest.mark.parametrize("full", ["", "a", "ab"])
def test_a_node_that_took_a_pod_lately_takes_those_of_a_drifted_one_before_a_node_that_starts(full: str) -> None:
    """Nodes that are initialized come first. That another drifted node before has to stay makes no difference."""
    drifted = {"conditions": ("Drifted",)}
    machines = [machine("a", **drifted), machine("b"), machine("c", **drifted), starting("d")]
    machines[1][1]["status"]["lastPodEventTime"] = "2026-01-07T10:29:00Z"
    pods = [pod("p", "c", "3500m"), *(pod(f"full-{name}", name, "3950m") for name in full)]
    for each in pods[1:]:
        each["spec"]["nodeSelector"] = {"nobody": "has"}
    made = situation(machines if full else machines[1:], pods, [nodepool(consolidateAfter="30m")])
    room = full != "ab"
    assert [str(each) for each in found(made, "Drift")] == (["delete: [c]"] if room else [])
    told = "Not all pods would schedule, default/p => would schedule against uninitialized nodeclaim/claim-d, node/d "
    assert said(made, "c") == ([] if room else [told])


@pytest.mark.parametrize(
    ("method", "pods", "later", "told"),
    [
        ("SingleNodeConsolidation", {"a": "100m", "b": "3"}, {"a": "100m", "b": "3950m"}, "scheduling"),
        (
            "MultiNodeConsolidation",
            {"a": "100m", "b": "100m", "c": "3"},
            {"a": "100m", "b": "100m", "c": "3950m"},
            None,
        ),
        ("Emptiness", {}, {"a": "100m"}, None),
    ],
)
def test_a_command_that_no_longer_holds_is_dropped(
    method: str, pods: dict[str, str], later: dict[str, str], told: str | None
) -> None:
    """Core pkg/controllers/disruption/validation.go. The method looks again at the next turn, whatever happens."""

    def state(load: dict[str, str]) -> Situation:
        return situation([machine(name) for name in pods or "a"], [pod(name, name, cpu) for name, cpu in load.items()])

    made = state(pods)
    (chosen,) = (each for each in methods_of(made.rules) if each.name == method)

    def wait(seconds: float) -> None:
        assert seconds == 15
        made.view = state(later).view

    done = after_waiting(attempt(made, chosen), wait)
    assert done.findings is not None
    assert (done.findings.commands, done.findings.consolidated, done.findings.withdrawn) == ([], False, True)
    rejected = [each for each in said(made, "a") if each.startswith("Consolidation rejected")]
    assert rejected == ([f"Consolidation rejected: delete: [a], reason: {told} (savings: $0.20)"] if told else [])


@pytest.mark.parametrize(
    ("conditions", "after", "kept"),
    [(("Consolidatable",), "0s", True), ((), "0s", False), (("Consolidatable",), "Never", False)],
)
@pytest.mark.parametrize("release", ["1.4.0", "1.14.0"])
def test_a_node_that_may_not_be_consolidated_any_more_stays(
    release: str, conditions: tuple[str, ...], after: str, kept: bool
) -> None:
    """Core pkg/controllers/disruption/validation.go, from the beginning."""

    def state(conditions: tuple[str, ...], after: str) -> Situation:
        pools = [nodepool(consolidateAfter=after)]
        return situation([machine("a", conditions=conditions)], pools=pools, release=provider(release))

    made = state(("Consolidatable",), "0s")
    (emptiness,) = (each for each in methods_of(made.rules) if each.name == "Emptiness")

    def wait(seconds: float) -> None:
        made.view = state(conditions, after).view

    done = after_waiting(attempt(made, emptiness), wait)
    assert done.findings is not None
    assert (len(done.findings.commands), done.findings.withdrawn) == ((1, False) if kept else (0, True))


@pytest.mark.parametrize(
    ("loaded", "nominated", "most", "kept", "failed"),
    [
        ("", "", "100%", "abc", {}),
        ("a", "", "100%", "bc", {}),
        ("", "b", "100%", "ac", {}),
        ("a", "b", "100%", "c", {}),
        ("", "", "1", "a", {"empty": 2}),
        ("a", "", "1", "b", {"empty": 1}),
        ("", "abc", "100%", "", {"empty": 3}),
        ("abc", "", "100%", "", {"empty": 3}),
    ],
)
def test_of_empty_nodes_those_go_that_still_may_and_others_are_counted(
    loaded: str, nominated: str, most: str, kept: str, failed: dict[str, int]
) -> None:
    """Core pkg/controllers/disruption/validation.go, EmptinessValidator. Who is no candidate any more counts only where nobody is."""
    machines = [machine(name) for name in "abc"]
    made = situation(machines, pools=[nodepool(budgets=[{"nodes": "100%"}])])
    (emptiness,) = (each for each in methods_of(made.rules) if each.name == "Emptiness")

    def wait(seconds: float) -> None:
        pods = [pod(f"p{name}", name) for name in loaded]
        until = dict.fromkeys(nominated, parse(NOW) + SECOND)
        made.view = situation(machines, pods, [nodepool(budgets=[{"nodes": most}])], nominated=until).view

    done = after_waiting(attempt(made, emptiness), wait)
    assert done.findings is not None
    assert "".join(each.name for command in done.findings.commands for each in command.candidates) == kept
    assert dict(made.tally.failed_validations) == failed


@pytest.mark.parametrize(
    ("later", "nominated", "most", "failed"),
    [
        ("ab", "", "100%", {}),
        ("a", "", "100%", {"multi": 2}),
        ("ab", "b", "100%", {"multi": 2}),
        ("ab", "", "1", {"multi": 2}),
    ],
)
def test_a_command_about_several_nodes_counts_with_all_of_them_when_one_may_not_go(
    later: str, nominated: str, most: str, failed: dict[str, int]
) -> None:
    """Core pkg/controllers/disruption/validation.go, ConsolidationValidator."""
    pods = [pod("p", "a"), pod("q", "b"), pod("r", "c", "3")]

    def state(may: str, nominated: str, most: str) -> Situation:
        machines = [machine(name, conditions=("Consolidatable",) if name in may else ()) for name in "abc"]
        until = dict.fromkeys(nominated, parse(NOW) + SECOND)
        return situation(machines, pods, [nodepool(budgets=[{"nodes": most}])], nominated=until)

    made = state("ab", "", "100%")
    (several,) = (each for each in methods_of(made.rules) if each.name == "MultiNodeConsolidation")

    def wait(seconds: float) -> None:
        made.view = state(later, nominated, most).view

    done = after_waiting(attempt(made, several), wait)
    assert done.findings is not None
    assert [str(each) for each in done.findings.commands] == ([] if failed else ["delete: [a, b]"])
    assert dict(made.tally.failed_validations) == failed


def test_a_command_is_dropped_when_the_node_that_takes_the_pods_has_just_got_others() -> None:
    """As in the simulation before, nodes within their NodePool's consolidateAfter take no pods."""

    def state(event: str) -> Situation:
        machines = [machine("a"), machine("b", conditions=())]
        machines[1][1]["status"]["lastPodEventTime"] = event
        return situation(machines, [pod("p", "a"), pod("q", "b", "3")], [nodepool(consolidateAfter="30m")])

    made = state("2026-01-07T09:00:00Z")
    (single,) = (each for each in methods_of(made.rules) if each.name == "SingleNodeConsolidation")

    def wait(seconds: float) -> None:
        made.view = state("2026-01-07T10:29:00Z").view

    done = after_waiting(attempt(made, single), wait)
    assert done.findings is not None
    assert done.findings.commands == []
    assert said(made, "a") == ["Consolidation rejected: delete: [a], reason: scheduling (savings: $0.20)"]


@pytest.mark.parametrize(
    ("method", "condition", "failed"),
    [("SingleNodeConsolidation", "Consolidatable", ["p1", "p2"]), ("Drift", "Drifted", ["p2"])],
)
@pytest.mark.parametrize("alike", ["a", "az"])
def test_which_pods_would_go_to_a_node_that_starts_is_told(
    method: str, condition: str, failed: list[str], alike: str
) -> None:
    """One pod has room on a node that took a pod lately: there go those of drifted nodes, and none of consolidated ones."""
    machines = [*(machine(name, conditions=(condition,)) for name in alike), machine("b", conditions=()), starting("c")]
    machines[-2][1]["status"]["lastPodEventTime"] = "2026-01-07T10:29:00Z"
    pods = [pod(f"p{number}", name, "1900m") for name in alike for number in (1, 2)]
    for each in pods[2:]:
        each["metadata"]["name"] = f"z{each['metadata']['name']}"
    made = situation(machines, [*pods, pod("q", "b", "1900m")], [nodepool(consolidateAfter="30m")])
    assert not found(made, method)
    for name, prefix in zip(alike, ("", "z"), strict=False):
        names = [f"default/{prefix}{pod}" for pod in failed]
        told = "".join(f"{pod} => would schedule against uninitialized nodeclaim/claim-c, node/c " for pod in names)
        assert said(made, name) == [f"Not all pods would schedule, {told}"]


def test_a_pod_that_would_go_to_a_node_that_starts_is_told_even_if_others_need_a_new_node() -> None:
    """Also of a second node, where it is known what the new node for the other pods would be."""
    machines = [machine("a", "eight"), machine("b", "eight"), starting("c")]
    pods = [pod(f"{name}{number}", name, "2500m") for name in "ab" for number in range(3)]
    made = situation(machines, pods)
    outcome = simulate(made, all_candidates(made, eventual=False)[:1], settled=True)
    assert outcome is not None
    assert (len(outcome.nodeclaims), outcome.stranded) == (1, ("default/a0",))
    assert not found(made, "SingleNodeConsolidation")
    text = (
        "Not all pods would schedule, default/{0}0 => would schedule against uninitialized nodeclaim/claim-c, node/c "
    )
    assert [said(made, name) for name in "ab"] == [[text.format(name)] for name in "ab"]


@pytest.mark.parametrize("release", ["1.13.1", "1.14.0"])
def test_drifted_nodes_of_a_size_that_nobody_sells_stay_as_others_do(release: str) -> None:
    machines = [machine("a", conditions=("Drifted",)), machine("b", conditions=("Drifted",)), starting("c")]
    for each in machines[1]:
        each["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "none"
    made = situation(machines, [pod(name, name, "3900m") for name in "ab"], release=provider(release))
    assert not found(made, "Drift")
    assert [len(said(made, name)) for name in "ab"] == [1, 1]


@pytest.mark.parametrize("selector", [{}, {CAPACITY: "on-demand"}])
def test_what_is_known_of_one_node_is_so_of_an_equal_one_and_not_of_two(selector: dict[str, str]) -> None:
    """Whether only amounts decide, or what pods select, too."""
    pods = [pod(name, name, "7500m") for name in "abc"]
    for each in pods:
        each["spec"]["nodeSelector"] = selector
    made = situation([machine(name, "eight") for name in "abc"], pods)
    a, b, _ = all_candidates(made, eventual=False)
    for some in ((a,), (b,), (a, b), (a,)):
        outcome = simulate(made, some, settled=True)
        assert outcome is not None
        assert sorted(id(pod) for each in outcome.nodeclaims for pod in each.pods) == sorted(
            id(pod) for one in some for pod in one.pods
        )


@pytest.mark.parametrize(
    ("budgets", "nodes", "allowed"),
    [
        ([], 10, UNLIMITED),
        ([{"nodes": "10%"}], 11, 2),
        ([{"nodes": "10%"}], 0, 0),
        ([{"nodes": "5%"}], 21, 2),
        ([{"nodes": "100%"}], 7, 7),
        ([{"nodes": "3"}, {"nodes": "50%"}], 4, 2),
        ([{"nodes": "0", "reasons": ["Drifted"]}], 4, UNLIMITED),
        ([{"nodes": "0", "reasons": ["Drifted", "Empty"]}], 4, 0),
        ([{"nodes": "0", "schedule": "0 11 * * *", "duration": "8h"}], 4, UNLIMITED),
        ([{"nodes": "0", "schedule": "0 10 * * *", "duration": "8h"}], 4, 0),
    ],
)
def test_budgets(budgets: list[Json], nodes: int, allowed: int) -> None:
    assert allowed_disruptions(nodepool(budgets=budgets), nodes, "Empty", parse(NOW)) == allowed


@pytest.mark.parametrize(
    "budget",
    [
        {"nodes": "many"},
        {"nodes": "%"},
        {"nodes": "x%"},
        {"nodes": "1", "schedule": "x", "duration": "1h", "reasons": ["Drifted"]},
    ],
)
def test_a_budget_that_cannot_be_read_allows_nothing_for_any_reason(budget: Json) -> None:
    pool = nodepool(budgets=[budget])
    with pytest.raises(BudgetError) as raised:
        allowed_disruptions(pool, 4, "Empty", parse(NOW))
    text = f"invalid disruption budgets in nodepool pool, {raised.value}"
    assert unreadable([nodepool(budgets=[]), pool], parse(NOW)) == text
    assert not found(situation([machine("a")], pools=[pool]), "Emptiness")


def test_budgets_are_spent_by_nodes_that_are_not_ready() -> None:
    machines = [machine(name) for name in "abc"]
    machines[0][0]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    made = situation(machines, pools=[nodepool(budgets=[{"nodes": "2"}])])
    (command,) = found(made, "Emptiness")
    assert len(command.candidates) == 1


def test_nodes_that_start_or_have_no_machine_any_more_do_not_count_for_budgets() -> None:
    """Core pkg/controllers/disruption/helpers.go, BuildDisruptionBudgetMapping."""
    gone = machine("b", conditions=("InstanceTerminating",))
    made = situation([machine("a"), gone, starting("d")], pools=[nodepool(budgets=[{"nodes": "100%"}])])
    assert disruption_budgets(made, "Empty") == {"pool": 1}
    assert made.tally.consuming == {("pool", "Empty"): 0}


def test_a_nodepool_without_nodes_spends_none_of_its_budget() -> None:
    made = situation(
        [machine("a")], pools=[nodepool(budgets=[{"nodes": "2"}]), nodepool("idle", budgets=[{"nodes": "3"}])]
    )
    assert disruption_budgets(made, "Empty") == {"pool": 2, "idle": 3}
    assert made.tally.allowed == {("pool", "Empty"): 2, ("idle", "Empty"): 3}
    assert made.tally.consuming == {("pool", "Empty"): 0, ("idle", "Empty"): 0}


@pytest.mark.parametrize(("going", "result"), [(False, "delete: [a]"), (True, None)])
def test_there_is_no_simulation_of_a_node_that_goes_already(going: bool, result: str | None) -> None:
    """Core SimulateScheduling returns errCandidateDeleting."""
    made = situation([machine("a"), machine("b")], [pod("p", "a")])
    one = candidate_of(made, made.view.nodes[0])
    if going:
        made = situation([machine("a"), machine("b")], [pod("p", "a")], deleting=frozenset({"claim-a"}))
    assert (simulate(made, (one,), settled=True) is None) is going


def test_what_simulations_share_does_not_change_their_outcome() -> None:
    machines = [machine(name) for name in "abcd"]
    pods = [pod(f"{name}{number}", name, "700m", labels={"app": "x"}) for name in "abcd" for number in range(3)]
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    for each in pods:
        each["spec"]["topologySpreadConstraints"] = [spread]
    shared = situation(machines, pods).view.simulations
    for name in "abcdab":
        moving = [each for each in pods if each["spec"]["nodeName"] == name]
        alone = situation(machines, pods).view.simulations
        mine, fresh = (each.without({name}, moving, settled=True) for each in (shared, alone))
        assert mine.existing == fresh.existing
        assert [str(each) for each in mine.errors.values()] == [str(each) for each in fresh.errors.values()]
        assert [each.to_nodeclaim() for each in mine.nodeclaims] == [each.to_nodeclaim() for each in fresh.nodeclaims]


class FoundEarlier(Method):
    """Finds that one node can go, and waits before it says so."""

    name, reason, kind = "Earlier", "Underutilized", "single"

    def should_disrupt(self, situation, candidate):
        return candidate.name == "n0"

    def compute(self, situation, proposal):
        outcome = simulate(situation, proposal.candidates, settled=False)
        yield TurnWait(15.0)
        return Findings([Command.of(proposal.candidates, outcome)])


def test_a_node_that_registers_while_a_command_is_validated_is_nominated_all_the_same() -> None:
    """The simulation knew it by its NodeClaim's name."""

    def machines(registered: bool):
        found = [machine("n0"), machine("n1")]
        for key in ("karpenter.sh/registered", "karpenter.sh/initialized"):
            if not registered:
                del found[1][0]["metadata"]["labels"][key]
        found[1][1]["status"]["allocatable"] = found[1][0]["status"]["allocatable"]
        return found

    nominated = []
    actions = SimpleNamespace(
        release=lambda nodes: None,
        mark_disrupted=lambda node, reason: None,
        mark_for_deletion=lambda nodes: None,
        nominate=lambda node: nominated.append(node.provider_id),
    )
    made = situation(machines(False), [pod("p", "n0")])

    def later(seconds: float) -> None:
        made.view = situation(machines(True), [pod("p", "n0")]).view

    done = after_waiting(turn(made, [FoundEarlier()], actions), later)
    assert [str(each.command) for each in done.started] == ["delete: [n0]"]
    assert nominated == ["azure:///n1"]


def test_a_price_is_known_of_what_is_offered_only() -> None:
    (two, *_) = instance_types([size("two", 2, 0.1)], RELEASE.vocabulary)
    assert not is_unpriced({ZONE: "z-1", CAPACITY: "on-demand"}, two)
    assert is_unpriced({ZONE: "z-1", CAPACITY: "spot"}, two)
    assert is_unpriced({ZONE: "z-1", CAPACITY: "on-demand"}, None)


FULL = "static NodePool's capacity reservations are full and cannot stage a replacement"
AT_LIMIT = "static NodePool is at its node limit and cannot stage a replacement"


@pytest.mark.parametrize(
    ("parts", "decision", "sentence"),
    [
        ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, "terminate-first", ""),
        ({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, "", AT_LIMIT),
        ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}, "going": True}, "", AT_LIMIT),
        ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}, "zone": "nowhere"}, "", FULL),
    ],
    ids=["ready", "not ready", "deleted", "nothing is offered"],
)
def test_a_drifted_node_at_the_limit_may_go_first(parts: dict[str, Any], decision: str, sentence: str) -> None:
    """Core pkg/controllers/disruption/staticdrift.go unreplaceableCommands, helpers.go staticReservations."""
    pool = {**static(1, 1), "status": parts["status"]}
    if "going" in parts:
        pool["metadata"] = {**pool["metadata"], "deletionTimestamp": "2026-01-07T10:00:00Z"}
    if "zone" in parts:
        template = pool["spec"]["template"]
        asked = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [parts["zone"]]}
        inside = {**template["spec"], "requirements": [*template["spec"].get("requirements", ()), asked]}
        pool["spec"] = {**pool["spec"], "template": {**template, "spec": inside}}
    drifted = machine("a", conditions=("Consolidatable", "Drifted"))
    made = situation([drifted], pools=[pool], release=provider("next"), terminates_first=True)
    commands = found(made, "StaticDrift")
    assert [(each.decision, each.terminate_first, each.replacements) for each in commands] == (
        [(decision, "static-at-limit", ())] if decision else []
    )
    assert said(made, "a") == ([sentence] if sentence else [])
