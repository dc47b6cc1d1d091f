"""The rows that a run of Terraform comes to: a plan that should be empty and is not, a failure, a command that says nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.clients.operation import MOST
from tests.clients.terraform_plans import addresses, outcomes

SUMMARY = {"type": "change_summary", "changes": {"add": 0, "change": 0, "remove": 0, "operation": "plan"}}
FAILED = {"@level": "error", "@message": "Error: no credential"}


def change(address: str, action: str) -> dict[str, Any]:
    return {"type": "planned_change", "change": {"resource": {"addr": address}, "action": action}}


class Told:
    """A Terraform that has said what it will say."""

    def __init__(self, *answers: list[dict[str, Any]]) -> None:
        self._answers = list(answers)

    def run(self, command: str, *options: str, round_: int) -> list[dict[str, Any]]:
        return self._answers.pop(0)


def created() -> list[dict[str, Any]]:
    ended = [{"type": "apply_complete", "hook": {"resource": {"addr": address}}} for address in addresses()]
    return [*(change(address, "create") for address in addresses()), *ended, SUMMARY]


@pytest.mark.parametrize(
    ("applied", "planned", "states"),
    [
        (created(), [SUMMARY], {"works": 20}),
        (created(), [change("azapi_resource.disk", "update"), SUMMARY], {"works": 19, "wrong": 1}),
        (created(), [FAILED], {"works": 10, "missing": 10}),
        (created(), [], {"works": 10, "missing": 10}),
        ([FAILED], [], {"missing": 20}),
        ([FAILED], [SUMMARY], {"missing": 20}),
        ([SUMMARY], [SUMMARY], {"wrong": 10, "missing": 10}),
        ([], [], {"missing": 20}),
    ],
    ids=[
        "as it should be",
        "a plan that is not empty",
        "no plan",
        "a plan that says nothing",
        "a failure",
        "nothing to change after a failure",
        "nothing applied",
        "silence",
    ],
)
def test_each_resource_has_a_row(
    applied: list[dict[str, Any]],
    planned: list[dict[str, Any]],
    states: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(MOST, "12")
    told: Any = Told(applied, planned)
    assert Counter(outcome.state for outcome in outcomes(told)) == states
