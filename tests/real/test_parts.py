"""The parts of real runs that need no controller: where binaries are, what a process is given, how time passes, what may differ."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from harness.engine.clock import SECOND, Clock
from harness.engine.engine import Engine
from harness.karpenter.releases import provider
from harness.karpenter.releases.options import ProviderOptions
from harness.reading.problems import ScenarioError
from harness.scenario.comparing.comparison import Comparison, Difference, Result
from harness.scenario.comparing.kept import KeptDifferences
from harness.world.real.binaries import BinariesWrong, binaries
from harness.world.real.environment import Endpoints, controller_environment
from harness.world.real.wall import Wall, wall_clock

TRUE = shutil.which("true") or "/bin/true"

ENDPOINTS = Endpoints(
    "http://127.0.0.1:1",
    "https://127.0.0.1:2",
    Path("/ca.pem"),
    Path("/cloud.json"),
    Path("/kubeconfig"),
    api_host="127.0.0.1",
    api_port=3,
    metrics_port=4,
    health_port=5,
    secret="a secret",
    proxy="http://127.0.0.1:6",
)


def environment(release: str = "1.14.0", **changes: Any) -> dict[str, str]:
    options = ProviderOptions.of(provider(release).defaults, **changes)
    return controller_environment(release, options, "westeurope", ENDPOINTS)


def test_a_path_is_the_default_release() -> None:
    assert binaries({"HARNESS_KARPENTER": TRUE}) == {"1.14.0": Path(TRUE)}
    assert binaries({}) == {}


def test_pairs_name_several_releases() -> None:
    found = binaries({"HARNESS_KARPENTER": f"1.14.0={TRUE}, 1.10.2={TRUE}"})
    assert list(found) == ["1.14.0", "1.10.2"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("/nowhere/karpenter", "HARNESS_KARPENTER: /nowhere/karpenter is no program that can be executed"),
        (f"9.9.9={TRUE}", "9.9.9"),
        ("/tmp", "/tmp is no program"),
    ],
)
def test_what_cannot_be_run_is_said(value: str, message: str) -> None:
    with pytest.raises(BinariesWrong) as caught:
        binaries({"HARNESS_KARPENTER": value})
    assert message in str(caught.value)


def test_options_become_variables() -> None:
    found = environment(
        network_dataplane="", batch_idle_seconds=0.5, additional_tags={"a": "b", "c": "d"}, use_sig=True
    )
    assert found["NETWORK_DATAPLANE"] == ""  # unset would be cilium
    assert (found["BATCH_IDLE_DURATION"], found["ADDITIONAL_TAGS"], found["USE_SIG"]) == ("0.5s", "a=b,c=d", "true")
    assert found["LOCATION"] == "westeurope"
    assert found["ARM_SUBSCRIPTION_ID"] == ProviderOptions().subscription_id


def test_a_release_gets_only_the_options_that_it_has() -> None:
    assert "AKS_MACHINES_POOL_NAME" in environment("1.7.2")
    assert "AKS_MACHINES_POOL_NAME" not in environment("1.6.6")


def test_a_clock_on_the_wall_follows_it_and_counts_from_its_start() -> None:
    engine = Engine(wall_clock())
    wall = Wall(engine)
    before = engine.clock.now
    assert engine.clock.seconds == 0.0
    threading.Event().wait(0.01)
    wall.catch_up()
    assert engine.clock.now > before
    assert engine.clock.timestamp() > "2026-01-01T00:00:00Z"


def test_a_world_may_start_before_all_others() -> None:
    clock = Clock(-3600 * SECOND)
    assert clock.timestamp() == "2025-12-31T23:00:00Z"
    clock.advance_to(0)
    assert clock.seconds == 3600.0


KEPT = """
- fact: "a\\\\[.*\\\\]"
  real: '"no"'
  reason: known
  evidence: here
"""


def test_a_kept_difference_fits_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "kept.yaml"
    file.write_text(KEPT.replace('"no"', "no"))
    kept = KeptDifferences.read(file)
    assert kept.reason("case", "1.14.0", "a[b]", "yes", "no") == "known"
    assert kept.reason("case", "1.14.0", "a[b]", "yes", "not this") == ""
    assert kept.reason("case", "1.14.0", "b[a[b]]", "yes", "no") == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "a list of differences is expected"),
        ("- {fact: a, reason: b}", "[0].evidence: Field required"),
        ("- {fact: '(', reason: b, evidence: c}", "no regular expression"),
        ("- {fact: a, reason: b, evidence: c, fcat: d}", "[0].fcat: Extra inputs are not permitted"),
        ("- {fact: '.*', reason: b, evidence: c}", "[0].fact: a fact that fits everything excuses everything"),
        ("- {reason: b, evidence: c}", "a fact is expected, or a case that is not compared"),
        ("a: [", "cannot be read"),
    ],
)
def test_mistakes_in_the_file_are_told(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "kept.yaml"
    file.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        KeptDifferences.read(file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_entry_without_a_fact_leaves_its_cases_out(tmp_path: Path) -> None:
    file = tmp_path / "kept.yaml"
    file.write_text("- {case: '.*::endless.*', reason: it never ends, evidence: here, releases: [1.14.0]}")
    kept = KeptDifferences.read(file)
    assert kept.uncompared("a.yaml::endless[x]", "1.14.0") == "it never ends"
    assert kept.uncompared("a.yaml::endless[x]", "1.7.2") == ""
    assert kept.reason("a.yaml::endless[x]", "1.14.0", "a", "b", "c") == ""


def test_the_kept_differences_of_the_project_can_be_read() -> None:
    assert KeptDifferences.read(Path(__file__).with_name("differences.yaml")).all


def test_of_lists_what_only_one_has_is_shown() -> None:
    text = str(Difference("Events", ["a", "b"], ["a", "c"]))
    assert text.splitlines()[1:] == ['    simulated  ["b"]', '    real       ["c"]']


def test_a_comparison_travels_between_processes() -> None:
    found = Comparison(
        "f::c",
        "1.14.0",
        "aksscriptless",
        Result.DIFFER,
        "",
        (Difference("a", 1, [2], "why"),),
        3,
        {"real": ["zone 1"]},
        0.5,
    )
    assert Comparison.from_json(found.to_json()) == found
    assert found.first is None
    assert len(found.kept) == 1
