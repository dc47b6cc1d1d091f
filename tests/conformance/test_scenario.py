"""A mismatch becomes a scenario that says what the real code says: with our right answers, those scenarios pass."""

from pathlib import Path

import pytest

from harness.scenario.expectations.verdicts import Outcome
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner
from tests.conformance.golden import GOLDEN, vectors
from tests.conformance.scenario import scenario_text


def test_scenarios_of_golden_vectors_pass(tmp_path: Path) -> None:
    runner = Runner()
    lines = list(vectors(GOLDEN / "v1.14.0" / "validate_nodepool.jsonl.gz"))[:120]
    said = 0
    for number, vector in enumerate(lines):
        text = scenario_text("1.14.0", {**vector["input"], "op": vector["op"]}, vector)
        if text is not None:
            said += 1
            (scenario,) = load_text(text, file=f"{number}.yaml", directory=tmp_path)
            report = runner.run(scenario.cases[0])
            assert report.outcome is Outcome.PASSED, text
    assert said > 60


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"op": "requirements", "a": {}}, "another op"),
        ({"op": "validate_nodepool", "labels": ["team"]}, "no object"),
        ({"op": "validate_nodepool", "object": {"kind": "NodePool"}}, "no name"),
    ],
)
def test_what_the_language_cannot_say(request_: dict[str, object], why: str) -> None:
    assert scenario_text("1.14.0", request_, {"answer": {}}) is None, why
