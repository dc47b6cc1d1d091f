"""A part of the fuzzing that `python -m tests.transports.fuzz` does at length."""

from __future__ import annotations

import sys

import pytest

from tests.transports.fuzz import run


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.slow
def test_malformed_requests_get_arms_errors() -> None:
    found = run(seed=7, requests=500, workers=8)
    assert found.broken == []
    assert sum(found.statuses.values()) > 400
    assert {200, 400, 401, 404, 405, 413, 414, 431, 501, 505} <= set(found.statuses)
    assert found.grown < 20_000_000
