"""Runs scenarios with one changed cell until one of them fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from fakeazure.catalog import Catalogue
from harness.karpenter.releases import CoreRelease, ProviderRelease, provider
from harness.karpenter.releases.scheduling import SchedulingRules, rules_of
from harness.karpenter.validation import Crds, crd_set
from harness.reading.problems import ScenarioError
from harness.scenario.running.runner import Runner
from harness.world import Caches
from tests.corpus.mutations.cells import Cell
from tests.corpus.mutations.flag_cells import MARKET_FLAGS
from tests.corpus.mutations.transcription import as_transcribed
from tests.corpus.mutations.units import Order, Unit
from tests.corpus.mutations.vectors import vector_witness

__all__ = ["Hunt", "changed"]


_OF_SIZES = frozenset(
    {
        "computed-keys",
        "offering-keys",
        "image-families",
        "aliases",
        "normalized-values",
        "flag of vocabulary",
        "skewer",
        "ephemeral_rule",
        "gpu_registry",
        "regional_offerings",
        "zonal_regions_listed",
        "spot_needs_low_priority",
        "false_capabilities_absent",
        "local_dns",
        "local_dns_preferred_from",
        "restricted-skus",
        "nodeclass-hash-fields",
        *MARKET_FLAGS,
    }
)
"""Tables and flags that instance types depend on: those of the release cannot be used then."""


class Hunt:
    """Looks for a scenario that notices a cell. One catalogue serves all, instance types those cells that do not touch them."""

    def __init__(self) -> None:
        self._catalogue = Catalogue.load()
        self._order = Order()
        self._release = ""
        self._shared = Caches(catalogue=self._catalogue)
        self._passed: set[str] = set()
        self.broken: set[str] = set()
        self.tried = 0

    def _caches(self, cell: Cell) -> Caches:
        if self._release != cell.release:
            self._release, self._shared = cell.release, Caches(catalogue=self._catalogue)
        touched = "decision" in cell.table or bool(cell.patches) or not _OF_SIZES.isdisjoint((cell.table, cell.key))
        return Caches(catalogue=self._catalogue) if touched else self._shared

    def witness(self, cell: Cell, units: Sequence[Unit]) -> str | None:
        """The name of the first unit that fails when the cell is changed, None when all of them stay as they are.

        What a document leaves undecided changes no world: its decisions are compared with their transcription, too.
        """
        if cell.vectors:
            with changed(cell):
                found = vector_witness(cell)
            if found is not None:
                return found
        runner = Runner(self._caches(cell))
        for unit in self._order.of(cell, units):
            if unit.name in self.broken:
                continue
            with changed(cell):
                same = self._same(runner, unit)
            if not same and self._sound(unit):
                self._order.learn(cell, unit)
                return unit.name
        if cell.policy is not None and not as_transcribed(cell.policy):
            return "docs/seeds/decisions.yaml"
        return None

    def _same(self, runner: Runner, unit: Unit) -> bool:
        self.tried += 1
        try:
            return runner.run(unit.case).outcome == unit.expected
        except ScenarioError:
            return False

    def _sound(self, unit: Unit) -> bool:
        """Whether the unit passes without a change: one that fails anyhow notices nothing."""
        if unit.name not in self._passed:
            if not self._same(Runner(self._shared), unit):
                self.broken.add(unit.name)
                return False
            self._passed.add(unit.name)
        return True


@contextmanager
def changed(cell: Cell) -> Iterator[None]:
    """The worlds of the cell's release are made with the change."""
    unchanged = provider(cell.release)
    mutant = cell.mutant or unchanged

    def lookup(name: str) -> ProviderRelease:
        release = provider(name)
        return mutant if release is unchanged else release

    def definitions(name: str) -> Crds:
        return cell.crds if cell.crds is not None and name == cell.crds.name else crd_set(name)

    def rules(core: CoreRelease) -> SchedulingRules:
        return cell.rules if cell.rules is not None and core is mutant.core else rules_of(core)

    with ExitStack() as stack:
        stack.enter_context(patch("harness.world.settings.provider", lookup))
        for module in ("settings", "world", "nodeclasses"):
            stack.enter_context(patch(f"harness.world.{module}.crd_set", definitions))
        for module in ("simulation", "context"):
            stack.enter_context(patch(f"harness.karpenter.scheduling.{module}.rules_of", rules))
        for target, value in cell.patches:
            stack.enter_context(patch(target, value))
        yield
