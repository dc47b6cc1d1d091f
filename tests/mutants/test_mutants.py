"""The runner that changes code: where it changes what, and what it says of tests that notice or do not."""

import subprocess
from pathlib import Path

import pytest

from tests.mutants.__main__ import drawn, places, table
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.places import Mutant, mutants, switched
from tests.mutants.trial import Copy, Fate
from tests.project.tree import ROOT

SOURCE = b'''
LIMIT = 3


class Room:
    def full(self, guests: int | None = 1) -> bool:
        """Whether 2 more come in."""
        return guests is not None and guests >= 3 - 1 and f"{guests + 1}" != "x"
'''


def test_each_operator_number_and_truth_value_of_a_function_is_changed_once() -> None:
    assert [(found.function, found.before, found.after) for found in mutants("room.py", SOURCE)] == [
        (
            "Room.full",
            'guests is not None and guests >= 3 - 1 and f"{guests + 1}" != "x"',
            "guests is not None or guests >= 3 - 1 or f'{guests + 1}' != 'x'",
        ),
        ("Room.full", "guests is not None", "guests is None"),
        ("Room.full", "guests >= 3 - 1", "guests > 3 - 1"),
        ("Room.full", "3 - 1", "3 + 1"),
        ("Room.full", "3", "4"),
        ("Room.full", "1", "2"),
        ("Room.full", 'f"{guests + 1}" != "x"', "f'{guests + 1}' == 'x'"),
    ]


def test_a_change_leaves_the_rest_of_the_file_alone() -> None:
    changed = next(found for found in mutants("room.py", SOURCE) if found.before == "3 - 1")
    assert changed.applied(SOURCE) == SOURCE.replace(b"3 - 1", b"(3 + 1)")


def test_places_behind_letters_of_several_bytes_are_found() -> None:
    source = "def f(a):\n    return ('→', a == 1)\n".encode()
    (compared, _) = mutants("f.py", source)
    assert compared.applied(source).decode() == "def f(a):\n    return ('→', (a != 1))\n"


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    project, folder = tmp_path / "project", tmp_path / "copy"
    (project / "shop").mkdir(parents=True)
    (project / "shop" / "price.py").write_text(
        "def dear(usd):\n    return usd > 10\n\n\ndef cheap(usd):\n    return usd > LIMIT\n"
    )
    (project / "test_price.py").write_text(
        "from shop.price import dear\n\n\ndef test_far():\n    assert dear(50)\n\n\ndef test_edge():\n    assert not dear(10)\n"
    )
    (project / "pyproject.toml").write_text("[tool.pytest]\npythonpath = ['.']\n")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=project, check=True)
    folder.mkdir()
    return Copy(project, folder)


@pytest.mark.parametrize(
    ("tests", "fate"),
    [
        (["test_price.py::test_far"], Fate.SURVIVED),
        (["test_price.py::test_far", "test_price.py::test_edge"], Fate.KILLED),
        ([], Fate.UNREACHED),
    ],
)
def test_a_change_is_killed_by_a_test_that_fails(copy: Copy, tests: list[str], fate: Fate) -> None:
    (edge, *_) = places(copy.root, ["shop"])
    before = (copy.root / edge.path).read_bytes()
    assert edge.after == "usd >= 10"
    assert copy.fate(edge, tests) is fate
    assert (copy.root / edge.path).read_bytes() == before


def test_all_changes_are_tried_in_one_session(copy: Copy) -> None:
    (copy.root / "tests" / "mutants").mkdir(parents=True)
    for name in ("jobs.py", "session.py", "switch.py", "places.py"):
        (copy.root / "tests" / "mutants" / name).write_bytes((ROOT / "tests" / "mutants" / name).read_bytes())
    before = (copy.root / "shop" / "price.py").read_bytes()
    changes = places(copy.root, ["shop"])
    tests = ("test_price.py::test_edge", "test_price.py::test_far")
    found = dict(copy.tried(changes, ["test_price.py"], workers=2))
    assert {changes[number].after: verdict.fate for number, verdict in found.items()} == {
        "usd >= 10": Fate.KILLED,
        "11": Fate.SURVIVED,
        "usd >= LIMIT": Fate.UNREACHED,
    }
    assert [sorted(verdict.tests) for _, verdict in sorted(found.items())] == [[*tests], [*tests], []]
    assert (copy.root / "shop" / "price.py").read_bytes() == before


def test_changes_stand_in_the_code_together() -> None:
    numbered = dict(enumerate(mutants("room.py", SOURCE)))
    together = switched(SOURCE, numbered)
    assert together.splitlines()[-1].startswith(b"from tests.mutants.switch")  # there is no docstring
    for on, change in numbered.items():
        alone, among = ({"__name__": "room"} for _ in range(2))
        exec(change.applied(SOURCE), alone)
        exec(together, among)
        among["__original__"] = lambda number, on=on: number != on
        for guests in (None, *range(6)):
            answers = []
            for room in (alone, among):
                try:
                    answers.append(room["Room"]().full(guests))
                except TypeError as error:
                    answers.append(str(error))
            assert answers[0] == answers[1]


def test_a_seed_draws_the_same_places() -> None:
    found = places(ROOT, ["fakeazure/arm"])
    assert drawn(found, 5, 1) == drawn(found, 5, 1) != drawn(found, 5, 2)
    assert drawn(found, len(found) + 1, 1) == found


def test_the_table_counts_by_package() -> None:
    one, two = (Mutant(f"a/{name}.py", "f", 1, "x", "y", 0, 1) for name in ("m", "n"))
    assert table({one: Fate.KILLED, two: Fate.EQUIVALENT}, ["a"]).splitlines()[1].split() == [
        "a",
        "1",
        "1",
        "0",
        "0",
        "100%",
    ]


def test_what_counts_as_equivalent_is_there() -> None:
    for path in {identity[0] for identity in EQUIVALENT}:
        found = {mutant.identity for mutant in mutants(path, (ROOT / path).read_bytes())}
        assert {identity for identity in EQUIVALENT if identity[0] == path} <= found
