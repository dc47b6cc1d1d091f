"""How often Python looks for garbage where scenarios are collected."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from harness.garbage import SELDOM
from harness.pytest_plugin.processes import GarbageSeldom

LEAK = """
import gc

class Leak:
    def __del__(self):
        raise RuntimeError("left open")

def test_leak():
    assert gc.get_freeze_count() > 0  # what was collected is out of sight
    first = Leak()
    first.other = first
"""


@pytest.fixture(autouse=True)
def threshold() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("own", "then"),
    [
        (700, SELDOM),
        (SELDOM * 2, SELDOM * 2),  # the user's own choice
        (0, 0),  # and one who has switched it off
    ],
)
def test_threshold(own: int, then: int) -> None:
    gc.set_threshold(own)
    GarbageSeldom()
    assert gc.get_threshold()[0] == then


def test_leaks_of_python_tests_beside_scenarios_are_still_told(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml('[tool.pytest]\naddopts = ["-p", "no:benchmark"]\n')
    pytester.makeconftest('pytest_plugins = ("harness.pytest_plugin",)\n')
    pytester.makefile(".yaml", web="scenario: web\nthen: [{pods: {bound: 0}}]\n")
    pytester.makepyfile(test_leak=LEAK)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-s")
    result.assert_outcomes(passed=2)
    result.stderr.fnmatch_lines(["*RuntimeError: left open*"])


COUNT_WORLDS = """
import gc

pytest_plugins = ("harness.pytest_plugin",)

def pytest_runtest_logfinish(nodeid):
    from harness.world import World

    print("worlds:", sum(isinstance(each, World) for each in gc.get_objects()))
"""
TWO = "scenario: web\nmatrix: {seed: [1, 2]}\ngiven: {seed: '${seed}'}\nwhen: [{advance: 60s}]\nthen: [{pods: {bound: 0}}]\n"


def test_the_world_of_a_case_goes_with_it(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml('[tool.pytest]\naddopts = ["-p", "no:benchmark"]\n')
    pytester.makeconftest(COUNT_WORLDS)
    pytester.makefile(".yaml", web=TWO)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-s")
    result.assert_outcomes(passed=2)
    assert result.stdout.str().count("worlds:") == result.stdout.str().count("worlds: 0") == 2
