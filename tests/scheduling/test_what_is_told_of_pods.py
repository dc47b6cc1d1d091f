"""What is told of pods that need a place: without a simulation, and where ports or places decide."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.karpenter.scheduling import SchedulingOptions
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.nodeclaims.candidates import Candidates
from harness.karpenter.scheduling.nodeclaims.pod_fitter import PodFitter
from harness.karpenter.scheduling.nodeclaims.templates import Template
from harness.karpenter.scheduling.pods.shapes import ShapeCatalog
from harness.karpenter.scheduling.topology.node_filter import NodeFilter
from harness.karpenter.scheduling.topology.topology import _LONG, Topology
from tests.scheduling.workload import HOST, VOCABULARY, ZONE, pod, run, spread


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
