"""Scenarios in pieces that can be tried one by one, those first that are likely to notice a changed cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from harness.karpenter.labels.azure import LEGACY
from harness.karpenter.releases import provider
from harness.scenario.expectations.verdicts import Outcome
from harness.scenario.language.cases import Case, Entry
from harness.scenario.language.files import load
from harness.scenario.language.inputs import world_arguments
from tests.corpus.mutations.cells import Cell

__all__ = ["SCENARIOS", "Order", "Unit", "units_of"]

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"
_CHEAP = {"rejected": 0, "accepted": 0, "requirements": 1, "labels": 2}


@dataclass(frozen=True, slots=True)
class Unit:
    """A case, or one row of its label table. `key` is the one key that a row or a case of a recorded list is about."""

    case: Case
    name: str
    key: str
    text: str = field(repr=False)
    cost: int

    def family(self, release: str) -> str:
        """Its scenario, whatever the release and the row."""
        return f"{Path(self.case.file).name.replace(release, '*')}::{self.case.scenario}"

    @property
    def expected(self) -> Outcome:
        """What comes of it as long as nothing is changed."""
        return Outcome.PASSED if self.case.header.xfail is None else Outcome.EXPECTED_FAILURE


@cache
def _all_cases() -> tuple[Case, ...]:
    files = sorted(SCENARIOS.rglob("*.yaml"))
    return tuple(case for file in files for scenario in load(file) for case in scenario.cases)


def release_of(case: Case) -> str:
    """The release that a case is run with, or the policy and its base."""
    return provider(str(world_arguments(case.given).get("karpenter", "1.14.0"))).version


def units_of(version: str, cases: Iterable[Case] | None = None) -> tuple[Unit, ...]:
    """The units of a release, cheap ones first; of all scenarios unless `cases` are given."""
    chosen = _all_cases() if cases is None else cases
    mine = [case for case in chosen if case.header.skip is None and release_of(case) == version]
    return tuple(sorted((unit for case in mine for unit in _split(case)), key=lambda unit: unit.cost))


def _split(case: Case) -> Iterator[Unit]:
    name = f"{Path(case.file).relative_to(SCENARIOS) if Path(case.file).is_absolute() else case.file}::{case.name}"
    cost = max((_CHEAP.get(entry.expectation.kind, 3) for entry in case.then), default=3)
    asked = [entry for entry in case.then if _asks(entry)]
    if asked and len(asked) == len(case.then):
        for entry in asked:
            table = entry.expectation.labels
            assert table is not None
            for key, row in table.are.items():
                one = entry.expectation.model_copy(update={"labels": table.model_copy(update={"are": {key: row}})})
                part = replace(case, then=(replace(entry, expectation=one),))
                yield Unit(part, f"{name}::{key}", key, f"{key} {row!r}", cost)
        return
    text = f"{case.name} {case.given_document.value!r} {[manifest.object for manifest in case.manifests]!r}"
    key = case.name.partition("[")[2].rstrip("]").split(" ")[0] if _listed(case) else ""
    yield Unit(case, name, key, case.name if key else text, cost)


def _listed(case: Case) -> bool:
    """Whether the case is one of a list with a case for each key."""
    return "required-keys-" in case.file or "known-values" in case.file


def _asks(entry: Entry) -> bool:
    """Whether each row of a label table is a world of its own."""
    table = entry.expectation.labels
    return table is not None and any(row.pod is not None or row.nodepool is not None for row in table.are.values())


class Order:
    """Which units to try first: of scenarios that noticed such a cell already, then of those that mention the key, cheap ones first."""

    def __init__(self) -> None:
        self._noticed: dict[tuple[str, str], Counter[str]] = {}

    def of(self, cell: Cell, units: Sequence[Unit]) -> list[Unit]:
        """The units that could notice: all but the rows and listed cases of other keys."""
        own = self._noticed.get((cell.table, cell.key), Counter())
        alike = self._noticed.get((cell.table, ""), Counter())

        def rank(unit: Unit) -> tuple[int, bool, int, bool, int]:
            family = unit.family(cell.release)
            mentioned = unit.key == cell.key if unit.key else cell.key in unit.text
            return (-own[family], not mentioned, -alike[family], unit.key != cell.key, unit.cost)

        of_a_key = "/" in cell.key or cell.key in LEGACY
        return sorted((unit for unit in units if not (of_a_key and unit.key and unit.key != cell.key)), key=rank)

    def learn(self, cell: Cell, unit: Unit) -> None:
        """Remembers who noticed."""
        for key in (cell.key, ""):
            self._noticed.setdefault((cell.table, key), Counter())[unit.family(cell.release)] += 1
