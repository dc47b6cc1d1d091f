"""A recording that says what the file says already does not touch it."""

from pathlib import Path

from tests.conformance.recorded_file import write_recording

FIRST = "source: recorded on 2026-01-02 from v1.4.0\nvalue: 1\n"


def test_another_day_alone_changes_nothing(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "new" / "keys.yaml", FIRST)
    assert write_recording(path, FIRST.replace("2026-01-02", "2026-03-04")).read_text() == FIRST


def test_another_answer_is_written_with_its_day(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "keys.yaml", FIRST)
    other = FIRST.replace("2026-01-02", "2026-03-04").replace("value: 1", "value: 2")
    assert write_recording(path, other).read_text() == other
    assert write_recording(path, FIRST).read_text() == FIRST
