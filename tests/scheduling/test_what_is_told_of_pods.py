"""What is told of pods that need a place: without a simulation, and where ports or places decide."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.karpenter.scheduling import SchedulingOptions
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.likeness import outcomes
from harness.karpenter.scheduling.likeness.outcomes import Likeness
from harness.karpenter.scheduling.likeness.outlook import Outlook
from harness.karpenter.scheduling.nodeclaims.candidates import Candidates
from harness.karpenter.scheduling.nodeclaims.pod_fitter import PodFitter
from harness.karpenter.scheduling.nodeclaims.templates import Template
from harness.karpenter.scheduling.nodes.room import Room
from harness.karpenter.scheduling.pods.shapes import ShapeCatalog
from harness.karpenter.scheduling.topology.node_filter import NodeFilter
from harness.karpenter.scheduling.topology.topology import _LONG, Topology
from tests.scheduling.workload import HOST, VOCABULARY, ZONE, pod, run, spread


def place(name: str) -> Any:
    return (0, 0), name, 7, name


def likeness(**parts: Any) -> Any:
    return SimpleNamespace(_going=(), **parts)


def test_only_nodes_with_room_have_room() -> None:
    told = likeness(_rooms={}, _ground=SimpleNamespace(with_room=lambda amounts: amounts))
    asking: Any = SimpleNamespace(amounts=frozenset({2, 8}))
    assert Likeness._with_room(told, asking) == 10


@pytest.mark.parametrize("exempt", [False, True])
def test_exempt_pods_are_marked_in_the_line(exempt: bool) -> None:
    told = likeness(
        _anyway=SimpleNamespace(places=[place("a")]), _exempt_keys=frozenset({"a"}), _exempt_line="the others"
    )
    own: Any = SimpleNamespace(exempt=lambda going: frozenset({"b"} if exempt else ()))
    line, marked = Likeness._line_with(told, own)
    assert marked is exempt
    assert line.is_of((7, True)) if exempt else line == "the others"


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("exempt", [False, True])
def test_counting_does_not_tell_of_exempt_pods_where_it_is_strict(strict: bool, exempt: bool) -> None:
    outlook = SimpleNamespace(strict=strict, hurry=lambda leaving, joining: "counted")
    own = SimpleNamespace(may_be_exempt=lambda going: exempt)
    told = likeness(_counts=True, _asked_by=lambda moving: own, _outlook_for=lambda asking, settling: outlook)
    settling: Any = None
    assert Likeness.hurry(told, ["n"], [()], settling=settling) == (None if strict and exempt else "counted")


def test_a_line_with_exempt_pods_is_not_taken_for_one_of_equal_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    line = SimpleNamespace(places=[], runs=lambda own, alike: asked.append(alike))
    monkeypatch.setattr(outcomes, "course_of", lambda *about: None)
    monkeypatch.setattr(outcomes, "Foretold", lambda *about: "told")
    own = SimpleNamespace(fillers=True, count=1)
    ground = SimpleNamespace(tolerates_preferences=False, room=SimpleNamespace(positions_in=lambda nodes: {}))
    told = likeness(
        _tells=True,
        _anyway=SimpleNamespace(fillers=True),
        _ground=ground,
        _line=None,
        _limited=False,
        _asked_by=lambda moving: own,
        _accepting=lambda asking: 1,
        _line_with=lambda asking: (line, True),
    )
    settling: Any = SimpleNamespace(among=lambda nodes: 1)
    assert Likeness.foretold(told, [], [()], settling=settling) == "told"
    assert asked == [False]


@pytest.mark.parametrize("settles", [False, True])
def test_exempt_pods_make_a_difference_only_where_a_node_settles(settles: bool) -> None:
    own = SimpleNamespace(plain=True, places=())
    plain, marked = (SimpleNamespace(joined=lambda places, name=name: name, places=()) for name in ("plain", "marked"))
    told = likeness(
        _tells=True,
        _asked_by=lambda moving: own,
        _ground=SimpleNamespace(position_of={}),
        _with_room=lambda asking: 1,
        _anyway=None,
        _taken=lambda position: None,
        _line=plain,
        _line_with=lambda asking: (marked, True),
    )
    settling: Any = SimpleNamespace(among=lambda nodes: nodes if settles else 0)
    alike = Likeness.of(told, "n", (), settling=settling)
    assert alike is not None
    assert alike.key == (("marked", None, True) if settles else ("plain", None))


def test_no_young_place_is_left_after_as_many_pods_as_there_are_places() -> None:
    shape: Any = SimpleNamespace(fit=7, amounts=(("cpu", 1),), requirements=SimpleNamespace(items={}), plain=True)
    state = SimpleNamespace(initialized=False, name="n")
    young: Any = SimpleNamespace(name="n", amounts={"cpu": 1}, refusal=lambda shape: None, state=state)
    outlook = Outlook.of(Room([young]), shape, [place("c")], 0, False)
    assert outlook is not None
    assert outlook._finds_young(0, place("b"))
    assert not outlook._finds_young(1, place("b"))
    own: Any = SimpleNamespace(first=place("b"))
    assert outlook._first_of(own) == (0, place("b"))


def test_a_nodeclaim_that_did_not_refuse_a_pod_stays_a_candidate() -> None:
    about: Any = None
    order: Any = SimpleNamespace(by_id=["first", "second"])
    candidates = Candidates(about, about, order)
    shape: Any = SimpleNamespace(fit=7)
    nodeclaim: Any = SimpleNamespace(bit=2)
    candidates.refuse(nodeclaim, shape)
    assert candidates.of(shape, ()) == 1


@pytest.mark.parametrize("by_size", [False, True])
@pytest.mark.parametrize("asks", [False, True])
def test_ports_of_daemons_refuse_a_pod_at_once_only_where_they_are_the_same_on_all_sizes(
    by_size: bool, asks: bool
) -> None:
    port = SimpleNamespace(port=80, conflicts=lambda other: True)
    fitter: Any = SimpleNamespace(
        _rules=SimpleNamespace(daemons_by_instance_type=by_size),
        _bound=lambda nodeclaim: [port],
        _meet=lambda here, host, incoming: "met",
    )
    nodeclaim: Any = SimpleNamespace(template=SimpleNamespace(taints=()), requirements=None, host=None)
    shape: Any = SimpleNamespace(host_ports=[port] if asks else [], requirements=None)
    assert PodFitter._base(fitter, nodeclaim, shape) == (None if asks and not by_size else "met")


@pytest.mark.parametrize("made", [False, True])
def test_only_the_last_of_the_daemons_that_are_made_without_a_name_has_its_ports_counted(made: bool) -> None:
    template: Any = SimpleNamespace(mask=3, _types_for=lambda *about: 3)
    daemons: Any = [
        SimpleNamespace(
            ignored=False, key=f"d{port}", made=made, pod=pod("d", ports=[{"containerPort": port, "hostPort": port}])
        )
        for port in (80, 81)
    ]
    about: Any = None
    rules: Any = SimpleNamespace(daemons_named=False)
    Template.add_daemons(template, daemons, about, rules)
    (group,) = template.groups
    assert [port.port for port in group.host_ports] == ([81] if made else [80, 81])


def test_a_pod_with_a_host_port_is_not_plain() -> None:
    claims: Any = SimpleNamespace(found=lambda pod: ())
    shapes = ShapeCatalog(Algebra(VOCABULARY), "Respect", False, lambda pod: ((), {}, ""), claims)
    assert shapes.of(pod("web")).plain
    assert not shapes.of(pod("web", ports=[{"containerPort": 80, "hostPort": 80}])).plain


def test_the_text_of_a_filter_leaves_out_the_hostname() -> None:
    alternatives: Any = [SimpleNamespace(items={ZONE: "zone In [z1]", HOST: "host In [n]"})]
    assert str(NodeFilter(alternatives)).startswith("{[zone In [z1]] ")
    assert str(NodeFilter()).startswith("{[] ")


def test_a_result_with_one_draw_is_momentary() -> None:
    drawn = SchedulingOptions(draw=lambda name, values: values[0])
    pods = [pod("web", labels={"app": "web"}, topologySpreadConstraints=[spread(ZONE, "web")])]
    assert run(pods, options=drawn).momentary
    assert not run([pod("web")], options=drawn).momentary


@pytest.mark.parametrize("deferred", [False, True])
def test_a_pod_is_looked_at_again_when_it_is_no_longer_deferred(deferred: bool) -> None:
    looks: list[Any] = []
    topology: Any = SimpleNamespace(_step=lambda shape: None, _look=looks.append)
    shape: Any = SimpleNamespace(reached=False, deferred=deferred, before=None, own=None)
    Topology.reach(topology, shape)
    shape.deferred = False
    Topology.reach(topology, shape)
    assert len(looks) == (2 if deferred else 1)


@pytest.mark.parametrize("filters_change", [False, True])
def test_groups_with_other_filters_are_forgotten_when_the_next_step_is_reached(filters_change: bool) -> None:
    step = SimpleNamespace(filters_change=filters_change)
    before = SimpleNamespace(before="one before", groups=[None] * (_LONG + 1), reached=True, own="groups", step=step)
    topology: Any = SimpleNamespace(_step=lambda shape: None, _look=lambda shape: None)
    shape: Any = SimpleNamespace(reached=False, deferred=False, before=before, own=None)
    Topology.reach(topology, shape)
    assert (before.own is None) is filters_change
    assert not before.reached
