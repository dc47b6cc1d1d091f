"""The simulated loop beside recorded runs of the real controller; `make test-real ARGS="--record DIR"` makes such recordings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.scenario.comparing.kept import KeptDifferences
from harness.scenario.comparing.real_runs import RealRuns
from harness.scenario.comparing.recordings import Recording, recordings
from harness.scenario.language.files import load
from harness.world import default_caches

FOLDER = Path(__file__).with_name("recordings")
ROOT = Path(__file__).parents[2]
RECORDED = recordings(FOLDER)


@pytest.fixture(scope="module")
def runs() -> Iterator[RealRuns]:
    found = RealRuns(default_caches(), {}, KeptDifferences.read(Path(__file__).with_name("differences.yaml")))
    yield found
    found.close()


def test_there_are_recordings_of_all_provision_modes() -> None:
    modes = {each.case.rpartition("[")[2].rstrip("]") for each in RECORDED if "however machines are made" in each.case}
    assert modes == {"aksscriptless", "bootstrappingclient", "aksmachineapi", "aksmachineapiheaderbatch"}


@pytest.mark.parametrize("recording", RECORDED, ids=[each.case.rpartition("::")[2] for each in RECORDED])
def test_the_simulated_loop_comes_to_what_the_controller_came_to(runs: RealRuns, recording: Recording) -> None:
    file, _, name = recording.case.partition("::")
    case = next(case for scenario in load(ROOT / file, file) for case in scenario.cases if case.name == name)
    assert [str(each) for each in runs.replay(case, recording)] == []


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    recording = Recording("scenarios/a.yaml::a case[1]", "1.14.0", {"then[0]": "holds"}, {"NodeClaims": {"a 1": ["x"]}})
    recording.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a-case-1.yaml"]
    assert recordings(tmp_path) == [recording]


def test_another_fact_is_a_difference(runs: RealRuns) -> None:
    recording = RECORDED[0]
    file, _, name = recording.case.partition("::")
    case = next(case for scenario in load(ROOT / file, file) for case in scenario.cases if case.name == name)
    changed = Recording(recording.case, recording.release, recording.expectations, {**recording.facts, "Pods": {}})
    assert any("Pods" in each.fact for each in runs.replay(case, changed))
