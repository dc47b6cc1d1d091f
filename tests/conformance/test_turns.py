"""The turns of scenarios' worlds are questions that can be asked: our own code comes to what the world came to."""

from __future__ import annotations

from pathlib import Path

from harness.conformance.context import AnswerContext
from harness.conformance.ops.catalog import answer as register
from harness.conformance.ops.disrupt import answer
from harness.karpenter.releases import provider
from harness.scenario.running.runner import Runner
from tests.conformance.turns import Catalogs, cases_of, recorded

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "disruption" / "emptiness.yaml"


def test_the_turn_that_removes_an_empty_node() -> None:
    catalogs = Catalogs()
    case = next(
        case for case in cases_of([SCENARIO], "1.14.0") if case.scenario == "several empty nodes go by one command"
    )
    requests = recorded(case, Runner(), catalogs, 50)
    context = AnswerContext(provider("1.14.0"))
    for request in catalogs.taken():
        register(request, context)
    assert not catalogs.taken(), "each content is registered once"
    loops = [answer(request, context)["loop"] for request in requests]
    (started,) = [loop["commands"] for loop in loops if loop["commands"]]
    assert [(each["method"], each["decision"], len(each["candidates"])) for each in started] == [
        ("Emptiness", "delete", 3)
    ]


def test_no_more_turns_than_wanted_spread_over_the_time() -> None:
    case = next(cases_of([SCENARIO], "1.14.0"))
    every, few = (recorded(case, Runner(), Catalogs(), most) for most in (100, 2))
    assert len(few) == 2 < len(every)
    assert few == [every[0], every[len(every) // 2]]
