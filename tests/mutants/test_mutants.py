"""The runner that changes code: where it changes what, and what it says of tests that notice or do not."""

import subprocess
from pathlib import Path

import pytest

from tests.mutants.__main__ import drawn, places, table
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.places import Mutant, mutants
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
    (project / "shop" / "price.py").write_text("def dear(usd):\n    return usd > 10\n")
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
    (edge, _) = places(copy.root, ["shop"])
    before = (copy.root / edge.path).read_bytes()
    assert edge.after == "usd >= 10"
    assert copy.fate(edge, tests) is fate
    assert (copy.root / edge.path).read_bytes() == before


def test_what_tests_reach_is_recorded(copy: Copy) -> None:
    pytest.importorskip("coverage", reason="pip install coverage")
    (copy.root / "tests" / "mutants").mkdir(parents=True)
    for name in ("contexts.py",):
        (copy.root / "tests" / "mutants" / name).write_bytes((ROOT / "tests" / "mutants" / name).read_bytes())
    reach = copy.record(["shop"], ["test_price.py"])
    assert set(reach.tests("shop/price.py", 2)) == {"test_price.py::test_far", "test_price.py::test_edge"}
    assert reach.tests("shop/price.py", 7) == []


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
