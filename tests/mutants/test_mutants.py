"""The runner that changes code: where it changes what, and what it says of tests that notice or do not."""

import importlib
import subprocess
import time
from collections import Counter, deque
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.mutants.__main__ import drawn, places, table, unnoticed
from tests.mutants.equivalent import Equivalents
from tests.mutants.jobs import TIMED_OUT, Job, done, may_compute
from tests.mutants.noticed import Noticed
from tests.mutants.originals import Originals
from tests.mutants.places import Mutant, mutants, switched
from tests.mutants.session import Asked, Course, Session, ranked, within
from tests.mutants.trial import Copy, Fate, Verdict
from tests.project.tree import ROOT

SHOP = "test_price.py::"
UNUSED_PLUGINS = ("fakeazure", "faker", "hypothesispytest", "karpenter_azure_harness", "logging", "syrupy")
"""The shop is tested with pytest alone: each process that begins with all that is installed would take a second more."""
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
        ("Room.full", "3 - 1", "4 - 1"),
        ("Room.full", "3 - 1", "3 - 2"),
        ("Room.full", 'f"{guests + 1}" != "x"', "f'{guests + 1}' == 'x'"),
    ]


def test_a_change_leaves_the_rest_of_the_file_alone() -> None:
    changed = next(found for found in mutants("room.py", SOURCE) if found.before == "3 - 1")
    assert changed.applied(SOURCE) == SOURCE.replace(b"3 - 1", b"(3 + 1)")


def test_places_behind_letters_of_several_bytes_are_found() -> None:
    source = "def f(a):\n    return ('→', a == 1)\n".encode()
    (compared, _) = mutants("f.py", source)
    assert compared.applied(source).decode() == "def f(a):\n    return ('→', (a != 1))\n"


def test_that_lists_are_as_long_as_each_other_is_no_behaviour() -> None:
    source = b"def f(a):\n    return zip(a, a, strict=True), zip(a, a, strict=False), sorted(a, reverse=True)\n"
    assert [found.before for found in mutants("f.py", source)] == ["strict=False", "reverse=True"]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    project, folder = tmp_path / "project", tmp_path / "copy"
    (project / "shop").mkdir(parents=True)
    (project / "shop" / "price.py").write_text(
        "def dear(usd):\n    return usd > 10\n\n\ndef cheap(usd):\n    return usd > LIMIT\n\n\n"
        "def down(usd):\n    while usd > 2:\n        usd = usd - 1\n    return usd\n"
    )
    (project / "test_price.py").write_text(
        "from shop.price import dear, down\n\n\n"
        "def test_far():\n    assert dear(50)\n\n\n"
        "def test_edge():\n    assert not dear(10)\n\n\n"
        "def test_wrong():\n    assert not dear(50)\n\n\n"
        "def test_down():\n    assert down(4) == 2\n"
    )
    for name in ("jobs.py", "noticed.py", "originals.py", "session.py", "switch.py", "places.py"):
        (project / "tests" / "mutants").mkdir(parents=True, exist_ok=True)
        (project / "tests" / "mutants" / name).write_bytes((ROOT / "tests" / "mutants" / name).read_bytes())
    options = [word for name in UNUSED_PLUGINS for word in ("-p", f"no:{name}")]
    (project / "pyproject.toml").write_text(f"[tool.pytest]\npythonpath = ['.']\naddopts = {options}\n")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=project, check=True)
    folder.mkdir()
    return Copy(project, folder)


@pytest.mark.parametrize(
    ("tests", "verdict"),
    [
        (["test_far"], Verdict(Fate.SURVIVED, (f"{SHOP}test_far",))),
        (["test_far", "test_edge"], Verdict(Fate.KILLED, (f"{SHOP}test_far", f"{SHOP}test_edge"), f"{SHOP}test_edge")),
        (["test_wrong", "test_far"], Verdict(Fate.SURVIVED, (f"{SHOP}test_far",))),
        (["test_wrong"], Verdict(Fate.UNREACHED)),
        ([], Verdict(Fate.UNREACHED)),
    ],
)
def test_a_change_is_killed_by_a_test_that_fails_and_passes_without_it(
    copy: Copy, tests: list[str], verdict: Verdict
) -> None:
    (edge, *_) = places(copy.root, ["shop"])
    before = (copy.root / edge.path).read_bytes()
    assert edge.after == "usd >= 10"
    assert copy.verdict(edge, [SHOP + name for name in tests]) == verdict
    assert (copy.root / edge.path).read_bytes() == before


def test_all_changes_are_tried_in_one_session(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    before = (copy.root / "shop" / "price.py").read_bytes()
    changes = places(copy.root, ["shop"])
    found = dict(copy.tried(changes, ["test_price.py"], workers=2))
    assert {changes[number].after: verdict.fate for number, verdict in found.items()} == {
        "usd >= 10": Fate.KILLED,
        "usd > 11": Fate.SURVIVED,
        "usd >= LIMIT": Fate.UNREACHED,
        "usd >= 2": Fate.KILLED,
        "usd > 3": Fate.KILLED,
        "usd + 1": Fate.KILLED,  # which never ends
        "usd - 2": Fate.SURVIVED,
    }
    passed = [f"{SHOP}test_edge", f"{SHOP}test_far"]
    assert [sorted(verdict.tests) for _, verdict in sorted(found.items())][:3] == [passed[:1], passed, []]
    assert found[0].by == f"{SHOP}test_edge"
    assert (copy.root / "shop" / "price.py").read_bytes() == before
    assert f"not asked, since they fail without any change: {SHOP}test_wrong" in capsys.readouterr().out


def test_a_test_that_fails_behind_others_only_notices_nothing(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    (copy.root / "test_price.py").write_text(
        "import os\nfrom shop.price import dear\n\n\n"
        "def test_leaves():\n    os.environ['LEFT'] = '1'\n    assert dear(50)\n"
    )
    (copy.root / "test_other.py").write_text(
        "import os, time\nfrom shop.price import dear\n\n\n"
        "def test_finds():\n    begun = time.process_time()\n    while time.process_time() < begun + 0.5: pass\n"
        "    assert 'LEFT' not in os.environ and dear(50)\n"
    )
    (edge, *_) = places(copy.root, ["shop"])
    found = dict(copy.tried([edge], ["test_price.py", "test_other.py"], workers=1))
    assert found == {0: Verdict(Fate.SURVIVED, (f"{SHOP}test_leaves",))}
    assert "fail without any change: test_other.py::test_finds" in capsys.readouterr().out


def test_values_kept_since_the_collection_of_tests_are_made_anew(copy: Copy) -> None:
    (copy.root / "shop" / "price.py").write_text('"""Ten."""\n\n\ndef ten():\n    return 20 / 2\n\n\nTEN = ten()\n')
    (copy.root / "test_price.py").write_text(
        "from shop.price import TEN, ten\n\n\ndef test_kept():\n    assert ten() and TEN == 10\n"
    )
    (divided, *_) = places(copy.root, ["shop"])
    assert dict(copy.tried([divided], ["test_price.py"], workers=1))[0].fate is Fate.KILLED


def test_about_what_has_run_before_the_first_test_those_of_its_file_are_asked(copy: Copy) -> None:
    (copy.root / "shop" / "price.py").write_text(
        '"""Ten."""\n\n\ndef ten():\n    return 20 / 2\n\n\nTEN = ten()\n\n\ndef price(count):\n    return TEN * count\n'
    )
    (copy.root / "test_price.py").write_text(
        "from shop.price import price\n\n\ndef test_price():\n    assert price(3) == 30\n"
    )
    changes = places(copy.root, ["shop"])
    found = dict(copy.tried(changes, ["test_price.py"], workers=1))
    fates = {change.before: found[number].fate for number, change in enumerate(changes)}
    assert (fates["20 / 2"], fates["TEN * count"]) == (Fate.KILLED, Fate.KILLED)


def test_what_is_imported_stays_as_it_is(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    """Also in processes that a test starts: one that knows of the switch notices, one with an environment of its own does not."""
    (copy.root / "test_price.py").write_text(
        "import os, subprocess, sys\n\n"
        "CODE = 'import sys; before = {*sys.modules}; from shop.price import dear; print({*sys.modules} - before, dear(10))'\n\n\n"
        "def told(**how):\n"
        "    return subprocess.run([sys.executable, '-c', CODE], capture_output=True, text=True, **how).stdout.split('}')\n\n\n"
        "def test_set():\n"
        "    imported, price = told()\n"
        "    assert sorted(imported.strip('{').split(', ')) == [\"'shop'\", \"'shop.price'\"]\n"
        "    assert price == ' False\\n'\n\n\n"
        "def test_alone():\n    assert told(env={})[1] == ' False\\n'\n"
    )
    (edge, *_) = places(copy.root, ["shop"])
    (verdict,) = dict(copy.tried([edge], ["test_price.py"], workers=1)).values()
    assert verdict == Verdict(Fate.KILLED, (f"{SHOP}test_set",), f"{SHOP}test_set")
    assert "not asked" not in capsys.readouterr().out
    assert not (copy.root / "sitecustomize.py").exists()


def test_what_hangs_is_ended_by_the_seconds_it_computes() -> None:
    def works() -> int:
        may_compute(0.2)
        time.sleep(1)  # of these it computes none
        return 0

    def hangs() -> int:
        may_compute(0.2)
        while True:
            pass

    ended = {job.number: code for job, code in done(deque([Job(1, works, 60), Job(2, hangs, 60)]), workers=2)}
    assert ended == {1: 0, 2: TIMED_OUT}


def test_tests_that_are_quick_and_about_little_are_asked_first() -> None:
    def asked(name: str, seconds: float, places: int) -> Asked:
        return Asked(SimpleNamespace(nodeid=name), seconds, places)  # type: ignore[arg-type]

    story = asked("story.py::all", 2.0, 50)
    slow, small = asked("door.py::slow", 1.0, 1), asked("door.py::small", 0.01, 1)
    wide, window = asked("wall.py::wide", 0.01, 40), asked("window.py::open", 0.02, 1)
    tests = (story, slow, wide, small, window)
    assert [test.name for test in ranked(tests)] == [
        "door.py::small",
        "window.py::open",
        "door.py::slow",
        "wall.py::wide",
        "story.py::all",
    ]
    assert [*within(ranked(tests), 0.04)] == [small, window]
    assert [*within([story], 0.04)] == [story]  # one is asked in any case


def test_a_test_that_noticed_changes_near_by_is_asked_first() -> None:
    tests = [SimpleNamespace(name=name) for name in "abcd"]
    noticed = Noticed()
    for path, function, test in [("m.py", "f", "d"), ("m.py", "g", "c"), ("m.py", "g", "c"), ("n.py", "f", "b")]:
        noticed.count(path, function, test)

    def order(path: str, function: str) -> str:
        return "".join(test.name for test in noticed.in_order(path, function, tests))

    assert [order("m.py", "f"), order("m.py", "g"), order("m.py", "h"), order("n.py", "f")] == [
        "dcab",
        "cdab",
        "cdab",
        "bacd",
    ]
    assert order("other.py", "f") == "abcd"
    noticed.count("n.py", "f", "b")
    noticed.count("n.py", "f", "b")
    likely = noticed.likely("other.py", "f", tests)
    assert "".join(test.name for test in likely) == "bcd"


def test_half_of_the_seconds_are_for_tests_that_noticed_changes_before(tmp_path: Path) -> None:
    wide = [Asked(SimpleNamespace(nodeid=f"wide.py::{name}"), 1.0, 50) for name in "abcdef"]  # type: ignore[arg-type]
    near = [Asked(SimpleNamespace(nodeid=f"near.py::{name}"), 1.0, 1) for name in "uvwxyz"]  # type: ignore[arg-type]
    session = Session(tmp_path, [("m.py", "f")], 1, 4.0)

    def asked() -> str:
        return "".join(test.name[-1] for test in session._asked(Course(0, ranked([*wide, *near]), 0)))

    assert asked() == "uvwx"
    for name in "feedff":
        session._noticed.count("other.py", "g", f"wide.py::{name}")
    assert asked() == "feuv"


def test_only_the_function_that_is_tried_asks_for_its_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        b"def one(a):\n    return (lambda: a > 1)()\n\n\nclass Shop:\n    def two(self, a):\n        return a > 2\n"
    )
    (tmp_path / "as_it_was").mkdir()
    (tmp_path / "as_it_was" / "changed_shop.py").write_bytes(source)
    numbered = dict(enumerate(mutants("changed_shop.py", source)))
    (tmp_path / "changed_shop.py").write_bytes(switched(source, numbered))
    asked: list[int] = []
    monkeypatch.setattr("builtins.__original__", lambda number: asked.append(number) or True, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    shop = importlib.import_module("changed_shop")
    assert (shop.one(2), shop.Shop().two(2)) == (True, False)
    assert {numbered[number].function for number in asked} == {"one", "Shop.two"}
    originals = Originals(tmp_path, tmp_path / "as_it_was")
    asked.clear()
    assert (shop.one(2), shop.Shop().two(2), asked) == (True, False, [])
    originals.change("changed_shop.py", "one")
    assert (shop.one(2), shop.Shop().two(2)) == (True, False)
    assert {numbered[number].function for number in asked} == {"one"}


def test_changes_stand_in_the_code_together() -> None:
    numbered = dict(enumerate(mutants("room.py", SOURCE)))
    together = switched(SOURCE, numbered)
    assert together.splitlines()[-1].startswith(b"__original__ = ")  # there is no docstring
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


def _changes(of_model: int, of_cloud: int) -> list[Mutant]:
    files = ["harness/kube/go/sort.py"] * of_model + ["fakeazure/arm/body.py"] * of_cloud
    return [Mutant(file, "f", 1, "x", "y", place, place + 1, "y", "x → y") for place, file in enumerate(files)]


@pytest.mark.parametrize(
    ("of_model", "of_cloud", "drawn_of_model", "drawn_of_cloud"),
    [(900, 100, 10, 10), (100, 900, 10, 10), (900, 3, 17, 3), (3, 900, 3, 17), (3, 4, 3, 4)],
)
def test_half_of_the_places_are_of_the_cloud_as_far_as_it_has_them(
    of_model: int, of_cloud: int, drawn_of_model: int, drawn_of_cloud: int
) -> None:
    found = Counter(change.path.split("/")[0] for change in drawn(_changes(of_model, of_cloud), 20, 1))
    assert found == {"harness": drawn_of_model, "fakeazure": drawn_of_cloud}


def test_the_table_counts_by_package_beside_the_goals() -> None:
    fates = dict(
        zip(
            _changes(3, 2),
            [Fate.KILLED, Fate.EQUIVALENT, Fate.SURVIVED, Fate.KILLED, Fate.KILLED],
            strict=True,
        )
    )
    found = [line.split() for line in table(fates, ["harness/kube", "harness/nodes", "fakeazure"]).splitlines()[1:]]
    assert found == [
        ["harness/kube", "1", "1", "1", "0", "50.0%", "95%"],
        ["harness/nodes", "0", "0", "0", "0", "-", "95%"],
        ["fakeazure", "2", "0", "0", "0", "100.0%", "90%"],
        ["model", "1", "1", "1", "0", "50.0%", "95%"],
    ]


def test_what_a_run_printed_is_tried_again_wherever_its_lines_are_now() -> None:
    found = [*mutants("room.py", SOURCE)]
    first, second, last = found[0], found[1], found[-1]
    moved = str(last).replace(f":{last.line}:", ":90:")
    printed = f"1/3 survived (7 tests): {first}\n2/3 killed (a.py::b): {second}\n3/3 unreached (0 tests): {moved}\n"
    assert unnoticed(found, printed) == [first, last]
    assert unnoticed(found, "4/4 survived (1 tests): room.py:1: Room.full: gone  →  away") == []


def test_an_equivalent_change_is_named_by_its_kind(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(
        "room.py:\n- in: Room.full\n  because: nobody is a half\n  changes: ['- → +', '>= → >', 1 → 2, '1 → 2, 2 of 2']\n"
    )
    found, named = [*mutants("room.py", SOURCE)], Equivalents(tmp_path)
    assert [change.after for change in found if named.has(change)] == ["guests > 3 - 1", "3 + 1", "3 - 2"]
    assert [change.kind for change in named.missing("room.py", found)] == ["1 → 2, 2 of 2"]


def test_a_change_is_named_alike_whatever_the_code_calls_its_things() -> None:
    renamed = SOURCE.replace(b"guests", b"visitors")
    assert [change.kind for change in mutants("room.py", renamed)] == [
        change.kind for change in mutants("room.py", SOURCE)
    ]


def test_of_several_changes_of_a_kind_in_a_function_it_is_said_which() -> None:
    source = b"def f(a, b):\n    return a < 1 or b < 1 or not a\n\n\ndef g(a):\n    return a < 1\n"
    assert [change.kind for change in mutants("f.py", source)] == [
        "or → and",
        "< → <=, 1 of 2",
        "1 → 2, 1 of 2",
        "< → <=, 2 of 2",
        "1 → 2, 2 of 2",
        "not → nothing",
        "< → <=",
        "1 → 2",
    ]


def test_what_counts_as_equivalent_is_there() -> None:
    named = Equivalents()
    for path in named.paths():
        assert named.missing(path, mutants(path, (ROOT / path).read_bytes())) == []
    assert all(each.because for each in named.all)
