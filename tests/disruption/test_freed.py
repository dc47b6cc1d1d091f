"""A turn is freed when it is over: a week has ten thousand turns, each with lists of all nodes, and Python finds circles only late."""

import gc

from benchmarks import week
from harness.karpenter.disruption.situation import Situation, View
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.world import World


def test_nothing_of_a_turn_refers_to_itself(monkeypatch):
    world = World()
    monkeypatch.setattr(week, "World", lambda: world)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        disrupted = week.week(10)["nodes_disrupted"]
        gc.collect()
        found = {type(each).__name__ for each in gc.garbage if isinstance(each, (Situation, StateNode, View))}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert disrupted
    assert found == set()
