"""A part of the fuzzing that `python -m tests.transports.fuzz` does at length."""

from __future__ import annotations

import sys

import pytest

from tests.transports.fuzz import run


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.slow
def test_malformed_requests_get_arms_errors() -> None:
    found = run(seed=7, requests=500, workers=8, burst=200, reads=500)
    assert found.broken == []
    assert sum(found.statuses.values()) > 600
    assert {200, 400, 401, 404, 405, 413, 414, 431, 501, 505} <= set(found.statuses)
    assert found.grown + found.grown_by_burst < 20_000_000
    assert found.grown_by_reads < 5_000_000
