"""Results that are remembered with the object that they are about."""

import pytest

from harness.karpenter.scheduling.remembered import Memory, Result, remembered, remembered_while_same


class Machine:
    """An object that remembers."""

    def __init__(self, name: str) -> None:
        self.name, self.remembered = name, Memory()


def test_a_result_is_computed_once_for_each_owner_and_each_argument() -> None:
    asked = []

    @remembered
    def about(machine: Machine, reason: str) -> str | None:
        asked.append((machine.name, reason))
        return None if reason == "none" else f"{machine.name} {reason}"

    first, second = Machine("a"), Machine("b")
    for _ in range(2):
        assert [about(machine, reason) for machine in (first, second) for reason in ("x", "y", "none")] == [
            "a x", "a y", None, "b x", "b y", None,
        ]  # fmt: skip
    assert asked == [(name, reason) for name in "ab" for reason in ("x", "y", "none")]
    with pytest.raises(TypeError, match="unexpected keyword argument 'reason'"):
        about(first, reason="x")  # type: ignore[call-arg]


def test_a_result_is_computed_anew_where_it_rests_on_another_object_though_an_equal_one() -> None:
    asked = []

    @remembered_while_same
    def price(machine: Machine, offers: list[int], factor: int) -> int:
        asked.append((machine.name, *offers, factor))
        return min(offers) * factor

    machine, offers, equal = Machine("a"), [3, 2], [3, 2]
    assert [price(machine, offers, 2), price(machine, offers, 2)] == [4, 4]
    assert len(asked) == 1
    assert [price(machine, equal, 2), price(machine, equal, 3), price(machine, equal, 3)] == [4, 6, 6]
    assert len(asked) == 3


def test_what_fails_is_not_remembered() -> None:
    answers = iter([None, "found"])

    @remembered
    def late(machine: Machine) -> str:
        answer = next(answers)
        if answer is None:
            raise LookupError(machine.name)
        return answer

    machine = Machine("a")
    with pytest.raises(LookupError):
        late(machine)
    assert late(machine) == "found"


def test_kinds_of_results_are_kept_apart() -> None:
    machine, sizes, prices = Machine("a"), Result[str](), Result[str]()
    assert sizes.last(machine) is None
    assert sizes.keep(machine, "large") == "large"
    sizes.keep(machine, "small", "spot")
    assert (sizes.last(machine), sizes.last(machine, "spot"), prices.last(machine)) == ("large", "small", None)
    assert sizes.last(Machine("a")) is None
