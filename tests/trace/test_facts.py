"""What a trace says: what was applied and where it stands, what was refused, decided, booted, written, and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from harness.explain.sizes.reasons import causes_of
from harness.karpenter.provisioning.listening import Listener
from harness.karpenter.scheduling.reasons.ledger import Ledger, PoolFiltered, PoolTried
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.trace import Trace
from harness.trace.facts import (
    Applied,
    ArmCall,
    Blocked,
    Boot,
    ClaimState,
    Cost,
    Decision,
    End,
    Expectation,
    Fact,
    Funnel,
    LabelWrite,
    NodeState,
    PodState,
    PriceOf,
    RunawayFound,
    Sizes,
    Step,
    Usage,
    Write,
)
from harness.world import World
from harness.world.snapshot import snapshot
from tests.trace.conftest import ROOT, SPOT, trace_of

Traced = Callable[[str], Trace]


@pytest.fixture
def spot(traced: Traced) -> Trace:
    return traced(SPOT)


def test_header_says_what_was_simulated(spot: Trace) -> None:
    header = spot.header
    assert (header.trace, header.release, header.region, header.cluster) == (1, "1.14.0", "eastus", "memory")
    assert header.karpenter == "simulated"
    assert header.scenario == {"file": "case.yaml", "line": 1, "name": "a zone without spot"}
    assert header.command == "harness run case.yaml -k 'a zone without spot'"


def test_header_has_the_description_of_the_scenario(traced: Traced) -> None:
    described = traced(SPOT.replace("given:", "description: What it is about.\ngiven:", 1))
    assert described.header.scenario["description"] == "What it is about."


def test_objects_stand_at_their_lines(spot: Trace) -> None:
    applied = {fact.object: fact for fact in spot.facts_of(Applied)}
    lines = SPOT.splitlines()
    for name, fact in applied.items():
        assert lines[fact.line - 1].startswith("apiVersion"), name
        assert fact.manifest["metadata"]["name"] == name.partition("/")[2]
        assert "uid" not in fact.manifest["metadata"]
    assert set(applied) == {"AKSNodeClass/default", "NodePool/default", "Pod/web"}


def test_steps_are_told_before_what_they_bring_about(spot: Trace) -> None:
    assert [(step.text, step.line) for step in spot.facts_of(Step)] == [("settle", 4), ("advance: 2m", 4)]
    assert spot.facts[0] == spot.facts_of(Step)[0]


def test_a_step_reads_as_in_a_file(traced: Traced) -> None:
    text = SPOT.replace(
        "when: [settle, ", "when: [{azure: {prices: {Standard_D4s_v5: none}, quota: {cores: 8}}}, {apply: [Pod/web]}, "
    )
    said = [step.text for step in traced(text).facts_of(Step)]
    assert said[:2] == ["azure: {prices: {Standard_D4s_v5: none}, quota: {cores: 8}}", "apply: [Pod/web]"]


def test_what_azure_refused_and_what_karpenter_leaves_alone(spot: Trace) -> None:
    refused = [call for call in spot.facts_of(ArmCall) if call.status >= 400 and call.method == "PUT"]
    assert [(call.error, call.size, call.zone, call.priority) for call in refused] == [
        ("SkuNotAvailable", "Standard_D4s_v5", "eastus-1", "Spot")
    ]
    assert refused[0].message.startswith("The requested VM size")
    blocked = spot.facts_of(Blocked)
    assert ("Standard_D4s_v5", "eastus-1", "spot") in {(one.size, one.zone, one.capacity_type) for one in blocked}
    assert all(one.until > one.t for one in blocked)


def test_the_corridor_of_a_nodeclaim(spot: Trace) -> None:
    last = spot.facts_of(ClaimState)[-1]
    states = [fact.state for fact in spot.facts_of(ClaimState) if fact.claim == last.claim]
    assert states == ["created", "launched", "registered", "initialized"]
    assert (last.size, last.capacity_type, last.zone) == ("Standard_D4s_v5", "on-demand", "eastus-1")
    boots = [boot for boot in spot.facts_of(Boot) if boot.claim == last.claim]
    assert [(boot.state, boot.capacity_type) for boot in boots] == [("on", "on-demand")]
    pod = [(fact.state, fact.node) for fact in spot.facts_of(PodState)]
    assert pod[0] == ("created", "")
    assert pod[-2:] == [("bound", last.node), ("running", last.node)]


def test_bars_and_prices(spot: Trace) -> None:
    node = spot.facts_of(NodeState)[-1]
    usage = spot.facts_of(Usage)[-1]
    assert (usage.node, usage.pods) == (node.node, ("default/web",))
    assert usage.requests == {"pods": 1, "cpu": 2, "memory": 1 << 30}
    assert usage.allocatable == node.allocatable
    price = next(fact.price for fact in spot.facts_of(PriceOf) if fact.capacity_type == "on-demand")
    assert spot.facts_of(Cost)[-1].price == price == node.price
    assert [fact.machines for fact in spot.facts_of(Cost)] == [1]


def test_who_wrote_a_label(spot: Trace) -> None:
    zone = [fact for fact in spot.facts_of(LabelWrite) if fact.key == "topology.kubernetes.io/zone"]
    assert {fact.value for fact in zone} == {"eastus-1"}
    assert [(fact.kind, fact.by) for fact in zone] == [
        ("set", "kubelet"),
        ("same", "cloud-node-manager"),
        ("same", "karpenter"),
    ]
    assert {write.by for write in spot.facts_of(Write) if write.object == "Pod/web"} >= {
        "user",
        "kube-scheduler",
        "kubelet",
    }


def test_decisions_name_their_funnel(spot: Trace) -> None:
    first = spot.facts_of(Decision)[0]
    assert (first.pods, first.result) == (("default/web",), "nodeclaim")
    sizes, funnel = spot.facts_of(Sizes)[0], spot.facts_of(Funnel)[0]
    assert first.tried == ({"nodepool": "default", "funnel": funnel.number},)
    assert sizes.sold == len(sizes.offered) + sum(map(len, sizes.dropped.values()))
    left = [step["left"] for step in funnel.steps]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 1
    assert (spot.facts.index(sizes), spot.facts.index(funnel)) < (spot.facts.index(first),) * 2


def test_facts_are_in_order_of_time_and_counted(spot: Trace) -> None:
    times = [fact.t for fact in spot.facts]
    assert times == sorted(times)
    end = spot.facts[-1]
    assert isinstance(end, End)
    assert (end.outcome, end.facts) == ("passed", len(spot.facts) - 1)
    held = spot.facts_of(Expectation)
    assert [(one.text, one.held, one.line) for one in held] == [("then[0].pods.bound", True, 5)]


def test_a_price_that_changes_is_told_when_it_does(traced: Traced) -> None:
    text = SPOT.replace(
        "when: [settle, {advance: 2m}]",
        "when: [settle, {advance: 2m}, {azure: {prices: {Standard_D4s_v5: {on-demand: 9}}}}, {advance: 1s}]",
    )
    trace = traced(text)
    told = [(fact.t, fact.price) for fact in trace.facts_of(PriceOf) if fact.capacity_type == "on-demand"]
    assert [price for _, price in told][-1] == 9
    changed = next(step.t for step in trace.facts_of(Step) if step.text.startswith("azure"))
    assert told[-1][0] == changed
    assert trace.facts_of(Cost)[-1] == Cost(changed, 9, 1)


class Ledgers(Listener):
    """Compares each funnel with the ledger's verdicts in explain's words, which look at every size one by one."""

    wants_ledger = True

    def __init__(self) -> None:
        self.compared = 0
        self.told: set[str] = set()

    def solved(self, snapshot: object, types: object, results: object, ledger: Ledger | None) -> None:
        assert ledger is not None
        for entry in (*ledger.filtered, *ledger.entries):
            if isinstance(entry, PoolTried | PoolFiltered):
                self._compare(entry)

    def _compare(self, entry: PoolTried | PoolFiltered) -> None:
        funnel = entry.funnel()
        before, counted = len(funnel.types), Counter[str]()
        for name, mask in funnel.left:
            counted[name] += before - mask.bit_count()
            before = mask.bit_count()
        words = {"limits": "limits", "nodepool": "NodePool", "pod": "pod", "host-port": "host-ports"}
        words |= {"resources": "resources", "available": "available", "zone and priority": "sold-so"}
        counted["pod"] += counted.pop("placement", 0)
        counted["resources"] += counted.pop("reserved", 0)
        expected = Counter[str]()
        for verdict in entry.types():
            # explain's are in the order of keys, and a size that is not wanted need not be had
            causes = sorted(causes_of(verdict), key=lambda cause: cause.rule == "offerings")
            if causes:
                expected[words[causes[0].subject if causes[0].rule == "offerings" else causes[0].rule]] += 1
        assert +counted == +expected
        assert before == len(funnel.types) - expected.total()
        self.compared += 1
        self.told |= set(expected)


@pytest.mark.parametrize(
    "name",
    [
        "scheduling/daemonsets.yaml",
        "scheduling/topology-spread.yaml",
        "scheduling/nodepools.yaml",
        "capacity/pods-that-wait.yaml",
        "capacity/refusals.yaml",
    ],
)
def test_funnels_say_what_explain_says(name: str, runner: Runner) -> None:
    compared, told = 0, set[str]()
    for scenario in load(ROOT / "scenarios" / name, name):
        for case in scenario.cases[:2]:
            world = runner.shared.new_world(case)
            listener = Ledgers()
            world.listeners.append(listener)
            for manifest in case.manifests:
                world.apply(manifest.object)
            world.settle(allow_rejections=True)
            compared += listener.compared
            told |= listener.told
    assert compared
    assert "available" in told or name != "capacity/refusals.yaml"


def test_a_recorded_world_comes_to_the_same(runner: Runner) -> None:
    case = load(ROOT / "scenarios/capacity/refusals.yaml", "refusals.yaml")[0].cases[0]
    alone, _ = runner.examine(case)
    recorded, _ = runner.examine(case, recorded=True, explained=True)
    assert snapshot(recorded.world) == snapshot(alone.world)


def test_a_loop_without_end_is_a_fact(runner: Runner) -> None:
    (found,) = trace_of(runner, ROOT / "scenarios/faq/runaways.yaml", 1).facts_of(RunawayFound)
    assert (found.subject, found.fault) == ("Pod/web", "kubernetes.azure.com/cluster")
    assert len(found.loops) == 8
    assert "does not have known values" in found.loops[1]["why"]
    assert found.loops[0]["at"] < found.loops[-1]["at"] <= found.t


def test_a_restarted_karpenter_is_recorded_on(traced: Traced) -> None:
    text = SPOT.replace("when: [settle, {advance: 2m}]", "when: [settle, {restart: karpenter}, {apply: Pod/late}]")
    late = SPOT.rpartition("---\n")[2].replace("name: web}\n", "name: late}\n").replace("cpu: 2", "cpu: 3")
    trace = traced(text.replace("{bound: 1}", "{bound: 2}") + "---\n" + late)
    assert ("default/late",) in {fact.pods for fact in trace.facts_of(Decision)}


def test_facts_of_a_world_in_python() -> None:
    from harness.trace import record

    world = World()
    recording = record(world)
    world.apply(
        "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: web, image: web}]}}\n# a text"
    )
    world.settle()
    trace = recording.trace()
    assert [fact.state for fact in trace.facts_of(PodState)] == ["created", "pending"]
    assert isinstance(trace.facts[0], Fact)
