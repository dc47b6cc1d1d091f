"""Stories that were told on the real control plane come to the same in memory.

Recorded by `make stories RECORD=1` (KUBEBUILDER_ASSETS); the seed of a story is in its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.clusters.stories import __main__ as command
from tests.clusters.stories.facts import differences, leaves, repeated
from tests.clusters.stories.generating import KINDS, story
from tests.clusters.stories.memory import told_in_memory
from tests.clusters.stories.shrinking import shrunk
from tests.clusters.stories.story import Story

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json"))


def read(path: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_story_is_told_the_same_way(path: Path) -> None:
    recorded = read(path)
    told = told_in_memory(Story.from_json(recorded["story"]), recorded["kubernetes"])
    assert differences(recorded["facts"], told) == []


def test_every_kind_of_workload_was_recorded() -> None:
    stories = [read(path)["story"]["kind"] for path in RECORDED]
    assert set(stories) == set(KINDS)
    assert len(stories) >= 50
    assert sum(leaves(read(path)["facts"]) for path in RECORDED) > 3000


def test_a_seed_tells_the_same_story_again() -> None:
    for kind in KINDS:
        first = story(kind, 7, 3)
        assert first == story(kind, 7, 3)
        assert first != story(kind, 8, 3)
        assert Story.from_json(json.loads(json.dumps(first.as_json()))) == first


def test_a_difference_is_told_with_its_place() -> None:
    real = {"pods": {"1": 3}, "order": ["+a", "-b"], "most": None}
    assert differences(real, {"pods": {"1": 2}, "order": ["+a", "+b"], "most": 5}) == [
        "order[1]: real '-b', memory '+b'",
        "pods.1: real 3, memory 2",
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_a_fact_of_one_telling_alone_is_not_compared(turned: bool) -> None:
    late = [{"status": {"active": 1}, "events": ["a"], "most": {"ready": 1}}]
    done = [{"status": {"succeeded": 1}, "events": ["a", "b"], "most": {"ready": 1}}]
    facts = repeated(done, late) if turned else repeated(late, done)
    assert facts == [{"status": {"active": None, "succeeded": None}, "events": None, "most": {"ready": 1}}]
    assert differences(facts, late) == differences(facts, done) == []
    assert differences(facts, [{**done[0], "most": {"ready": 2}}]) == ["[0].most.ready: real 1, memory 2"]


def test_pods_that_live_while_a_job_is_replaced_are_not_counted() -> None:
    drawn = {policy: next(_cron_jobs(policy)) for policy in ("Replace", "Allow")}
    peaks = {policy: told_in_memory(told, "1.36.3")[1]["most"] for policy, told in drawn.items()}
    assert peaks["Replace"]["living"] is None
    assert peaks["Replace"]["there"] == 2
    assert peaks["Allow"]["living"]


def _cron_jobs(policy: str) -> Iterator[Story]:
    """Yield stories of a CronJob of this policy that waits for Jobs which do not end."""
    for number in range(200):
        drawn = story("CronJob", 6, number)
        (cron_job,) = (obj for obj in drawn.steps[0].value if obj["kind"] == "CronJob")
        ends = "ends" in cron_job["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
        waits = drawn.steps[1].verb == "wait"
        if cron_job["spec"].get("concurrencyPolicy", "Allow") == policy and waits and not ends:
            yield drawn


def test_a_story_that_differs_is_shortened() -> None:
    long = next(drawn for number in range(100) if len((drawn := story("Deployment", 1, number)).steps) == 4)
    guilty = long.steps[2]
    assert shrunk(long, lambda shorter: guilty in shorter.steps).steps == (long.steps[0], guilty)


def test_the_shortest_story_that_differs_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A difference is planted in what memory tells of a cordon; the other side is memory as it is."""

    class Place:
        def version(self) -> str:
            return "1.36.3"

        def tell(self, stories: Sequence[Story]) -> list[list[dict[str, Any]]]:
            return [told_in_memory(told, self.version()) for told in stories]

    def planted(told: Story, kubernetes: str) -> list[dict[str, Any]]:
        facts = told_in_memory(told, kubernetes)
        return (
            [{**rest, "taints": {}} for rest in facts] if any(step.verb == "cordon" for step in told.steps) else facts
        )

    drawn = [story("DaemonSet", 1, number) for number in range(100)]
    long = next(
        told for told in drawn if [step.verb for step in told.steps].count("cordon") == 1 and len(told.steps) > 3
    )
    monkeypatch.setattr(command, "stage", lambda: nullcontext(Place()))
    monkeypatch.setattr(command, "told_in_memory", planted)
    monkeypatch.setattr(command, "story", lambda kind, seed, number: long)
    monkeypatch.setattr("sys.argv", ["stories", "--cases", "1", "--kinds", "DaemonSet", "--shrink"])
    assert command.main() == 1
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("shrunk: "))
    short = Story.from_json(json.loads(line.removeprefix("shrunk: ")))
    assert [step.verb for step in short.steps] == ["apply", "cordon"]


def _lost(number: int) -> Story:
    """Return a story that loses so many nodes, and waits until their pods have gone."""
    for drawn in (story("NodeLoss", 1, index) for index in range(200)):
        waits = [step.value for step in drawn.steps if step.verb == "wait"]
        if len(drawn.steps[1].value["nodes"]) == number and waits[-1:] == [20 * number + 10]:
            return drawn
    raise AssertionError(f"no story loses {number} nodes")


@pytest.mark.parametrize(
    ("number", "tainted"),
    [
        (1, [1, 1, 0]),
        (2, [1, 2, 2, 0]),
        (3, [0, 0, 0, 2, 2, 0]),  # most of a zone: none until one is back
        (4, [1, 4, 4, 0]),  # all of a zone
    ],
)
def test_nodes_that_are_lost_are_tainted_in_turn(number: int, tainted: list[int]) -> None:
    told = _lost(number)
    facts = told_in_memory(told, "1.36.3")[1:]
    driven = [sum(count for taint, count in rest["tainted"].items() if "NoExecute" in taint) for rest in facts]
    assert driven == tainted
    assert Story.from_json(json.loads(json.dumps(told.as_json()))) == told
