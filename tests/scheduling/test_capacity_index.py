"""What is known of machines and moves with them from one moment to the next is what their room tells from nothing."""

from random import Random
from types import SimpleNamespace

import pytest

from harness.karpenter.scheduling.nodes.capacity_index import NodeCapacityIndex

SHAPES = [SimpleNamespace(fit=cores, amounts=(("cpu", cores), ("memory", 1))) for cores in range(1, 7)]


def place(state):
    return not state.initialized, state.name


class Machines:
    """Machines by name; how often they were asked whether they ever take a pod."""

    def __init__(self, random):
        self.random, self.states, self.nodes, self.asked = random, {}, {}, 0

    def change(self):
        number = self.random.randrange(60)
        if self.random.random() < 0.3:
            self.states.pop(number, None)
        else:
            self.states[number] = SimpleNamespace(name=f"n{number:02}", initialized=self.random.random() < 0.8)

    def in_order(self):
        return sorted(self.states.values(), key=place)

    def node(self, state):
        known = self.nodes.get(id(state))
        if known is None:
            amounts = {"cpu": self.random.randrange(8), "memory": self.random.randrange(3)}
            refused = self.random.sample(range(1, 7), 2)

            def refusal(shape):
                self.asked += 1
                lacking = any(amounts[name] < amount for name, amount in shape.amounts)
                return "no" if lacking or shape.fit in refused else None

            known = SimpleNamespace(name=state.name, state=state, amounts=amounts, refusal=refusal)
            self.nodes[id(state)] = known
            self.kept = [*self.__dict__.get("kept", ()), state]  # so that no other gets its identity
        return known


def told(room, shape):
    return (
        room.accepting(shape),
        room.holding(shape.amounts),
        room.position_of,
    )


@pytest.mark.parametrize("seed", range(12))
def test_after_every_change_it_is_the_room_made_from_nothing(seed):
    random = Random(seed)
    machines, room = Machines(random), NodeCapacityIndex(())
    for _ in range(60):
        machines.change()
    asked = anew = 0
    for _ in range(80):
        for _ in range(random.choice([0, 1, 1, 2, 4, 30])):
            machines.change()
        states = machines.in_order()
        room, fresh = (
            room.after(states, place, machines.node),
            NodeCapacityIndex([machines.node(each) for each in states]),
        )
        assert [node.state for node in room.existing] == states
        for shape in random.sample(SHAPES, random.randrange(4)):
            machines.asked = 0
            found = told(room, shape)
            asked += machines.asked
            machines.asked = 0
            assert found == told(fresh, shape)
            anew += machines.asked
            assert room.refused.get(shape.fit, 0) & found[1] == fresh.refused.get(shape.fit, 0)
    assert asked < 0.8 * anew


def test_a_node_that_lacks_a_resource_has_not_the_least_of_it():
    states = [SimpleNamespace(name=f"n{number}", initialized=True) for number in range(9)]
    node = SimpleNamespace(amounts={"cpu": 1})
    room = NodeCapacityIndex([node] * 8, states[:8])
    for number in range(8):  # for the first all nodes are looked through, for the others looked up
        assert room.holding((("cpu", 1), (f"resource{number}", 1))) == 0
        assert room.holding((("cpu", 1), (f"resource{number}", 0))) == 0xFF
    after = room.after(states, place, lambda each: node)
    assert after.holding((("cpu", 1), ("resource0", 1))) == 0
    assert after.holding((("cpu", 1), ("resource0", 0))) == 0x1FF
