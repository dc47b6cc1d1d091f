"""Whoever lets time pass in one world leaves Python's search for garbage as it was."""

from __future__ import annotations

import gc

import pytest

from harness.garbage import NothingToFind


def _fail() -> None:
    with NothingToFind():
        assert not gc.isenabled()
        raise ZeroDivisionError


@pytest.mark.parametrize("enabled", [True, False])
def test_the_search_is_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(ZeroDivisionError):
            _fail()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
