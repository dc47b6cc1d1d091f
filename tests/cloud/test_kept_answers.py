"""Every operation that is served answers as it is kept in `kept_answers/`: status, headers and body, to the letter."""

from __future__ import annotations

import pytest

from fakeazure.routing import router
from tests.cloud.exchanges import AREAS, KEPT, made


@pytest.mark.parametrize("area", AREAS)
def test_answers_are_those_that_are_kept(area: str) -> None:
    kept = (KEPT / f"{area}.txt").read_text(encoding="utf-8")
    assert made(area).text().splitlines() == kept.splitlines(), "changed on purpose? python -m tests.cloud.exchanges"


def test_every_operation_is_asked_once_at_least() -> None:
    asked = set[tuple[str, str]]().union(*(made(area).routes for area in AREAS))
    assert {(route.method, route.pattern) for route in router().routes} - asked == set()


def test_no_file_is_kept_of_what_is_not_asked() -> None:
    assert {path.stem for path in KEPT.iterdir()} == set(AREAS)
