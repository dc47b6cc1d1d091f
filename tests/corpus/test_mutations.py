"""Whoever changes what a release knows of a label breaks a scenario.

A few cells are drawn here, always the same ones, and only the scenarios that are recorded for each release are asked.
`make mutations` changes every cell and asks all of them.
"""

from __future__ import annotations

import random
from dataclasses import fields, replace

import pytest

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, POLICIES, provider
from harness.karpenter.releases.scheduling import SchedulingRules
from harness.scenario.language.files import load
from tests.corpus.mutations.cells import RECORDED, Cell
from tests.corpus.mutations.equivalent import EQUIVALENT, Equivalent, Equivalents
from tests.corpus.mutations.every import POLICIES_ON, every_cell
from tests.corpus.mutations.flag_cells import FLAGS, NOT_CHANGED, OTHER_FLAGS
from tests.corpus.mutations.hunt import Hunt, changed
from tests.corpus.mutations.transcription import as_transcribed
from tests.corpus.mutations.units import SCENARIOS, Unit, units_of
from tests.corpus.mutations.vectors import vector_witness

FILES = (
    "rejected/required-keys-{}.yaml",
    "requirements/sizes-{}.yaml",
    "labels/keys-{}.yaml",
    "labels/claims-{}.yaml",
)
TABLES = ("well-known", "restricted-domains", "computed-keys", "base-keys", "winning-base-keys")
CRDS = "crd of NodePool"


def recorded_units(version: str) -> tuple[Unit, ...]:
    return units_of(
        version,
        [case for name in FILES for scenario in load(SCENARIOS / name.format(version)) for case in scenario.cases],
    )


@pytest.mark.parametrize("version", ["1.7.2", "1.14.0"])
def test_a_changed_cell_fails_a_scenario(version: str) -> None:
    units, hunt, equivalents = recorded_units(version), Hunt(), Equivalents()
    cells = [cell for cell in every_cell(version) if equivalents.reason(cell) is None]
    chance = random.Random(f"cells of {version}")
    of_table = [[cell for cell in cells if cell.table.startswith(table)] for table in (*TABLES, CRDS)]
    drawn = [chance.choice(table) for table in of_table]
    assert [str(cell) for cell in drawn if hunt.witness(cell, units) is None] == []


def test_without_a_change_none_fails() -> None:
    units = [unit for unit in recorded_units("1.14.0") if unit.cost <= 1]
    assert len(units) > 20
    assert Hunt().witness(Cell("1.14.0", "no table", "no key", "is changed"), units) is None


def test_a_scenario_that_fails_anyhow_notices_nothing() -> None:
    (unit,) = (unit for unit in recorded_units("1.14.0") if "GPU" not in unit.name and "an A100 size" in unit.name)
    older = unit.case.given.model_copy(update={"karpenter": "1.4.0"})
    wrong = replace(unit, case=replace(unit.case, given=older))
    hunt = Hunt()
    assert hunt.witness(Cell("1.4.0", "no table", "no key", "is changed"), [wrong]) is None
    assert hunt.broken == {unit.name}


def test_every_table_is_changed() -> None:
    tables = {cell.table for cell in every_cell("1.6.5")}
    assert {*TABLES, "offering-keys", "aliases", "known-values", "flag of release", "flag of scheduling"} <= tables
    changes = {cell.change for cell in every_cell("1.6.5") if cell.table == "base-keys"}
    assert changes == {"is missing", "is there"}


def test_what_changed_between_recorded_releases_is_changed_one_release_too_late_and_too_early() -> None:
    late = {str(cell) for cell in every_cell("1.6.7")}
    assert "1.6.7: well-known: kubernetes.azure.com/mode is missing" in late
    assert "1.6.7: base-keys: karpenter.sh/do-not-sync-taints is there" in late
    assert "1.6.4: well-known: kubernetes.azure.com/sku-cpu is there" in {str(cell) for cell in every_cell("1.6.4")}


@pytest.mark.parametrize("name", POLICIES_ON)
def test_what_a_document_decides_is_changed(name: str) -> None:
    cells = list(every_cell(name))
    assert {cell.policy.name for cell in cells if cell.policy is not None} == {name.partition("@")[0]}
    assert not all(as_transcribed(cell.policy) for cell in cells if cell.policy is not None)


def test_the_decisions_are_those_of_the_documents() -> None:
    assert [name for name, policy in POLICIES.items() if not as_transcribed(policy)] == []


@pytest.mark.parametrize("one", EQUIVALENT, ids=lambda one: f"{one.table}-{one.key}-{one.change}")
def test_a_cell_that_does_not_matter_exists(one: Equivalent) -> None:
    assert len(one.reason) > 30
    assert any(one.covers(cell) for name in one.releases or RECORDED for cell in every_cell(name))


@pytest.mark.parametrize("owner", FLAGS)
def test_every_field_is_changed_or_says_why_not(owner: str) -> None:
    release = provider("1.14.0")
    of = {"release": release, "core": release.core, "vocabulary": release.vocabulary, "scheduling": SchedulingRules()}
    listed = [*FLAGS[owner], *OTHER_FLAGS[owner], *NOT_CHANGED[owner]]
    assert sorted(listed) == sorted(item.name for item in fields(of[owner]))
    assert min(map(len, NOT_CHANGED[owner].values()), default=99) >= len("the name")


def test_a_table_beside_code_is_put_back() -> None:
    (cell,) = (one for one in every_cell("1.10.2") if "LEGACY" in one.table and one.key == "agentpool")
    assert vector_witness(cell) is None
    with changed(cell):
        assert vector_witness(cell) is not None
    assert vector_witness(cell) is None


def test_labels_of_aks_are_changed_with_the_newest_release() -> None:
    key, newest = "kubernetes.azure.com/role", ALL_PROVIDER_RELEASES[-1]
    cells = [one for one in every_cell(newest) if one.table == "labels of AKS" and one.key == key]
    assert [one.change for one in cells] == ["is missing", "has another value"]
    units = [unit for unit in units_of(newest) if "every label that AKS itself puts" in unit.name]
    assert [Hunt().witness(cell, units) is not None for cell in cells] == [True, True]
