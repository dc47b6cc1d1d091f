"""docs/seeds.yaml leads from every row and statement of the seed documents to scenarios that exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.explain.labels.design_documents import claim_of, claimed_keys, differences
from harness.karpenter.hosting import LIMITS
from harness.scenario.language.files import load
from tools.seeds import current

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
SEEDS = ROOT / "docs" / "seeds.yaml"
CLAIMS = ROOT / "docs" / "labels" / "claims.md"
KEYS = ROOT / "tests" / "conformance" / "data" / "seed-keys.yaml"
DOCUMENTS = {
    "requirements-and-labels-2025-11-07": 60,
    "requirements-and-labels-2025-10-30": 12,
    "karpenter-nap-concepts": 36,
}
"""The documents and how many statements of each there are at least."""
RELEASES = ("1.4.0", "1.6.5", "1.6.6", "1.7.2", "1.10.2", "1.13.1", "1.14.0")


def read(path: Path) -> Any:
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)  # every scalar is text, as in scenario files


SEED = read(SEEDS)


@cache
def ids(file: str) -> frozenset[str]:
    """What an id of this file may say behind `file::`."""
    found: set[str] = set()
    for scenario in load(SCENARIOS / file):
        for case in scenario.cases:
            found |= {case.name, case.scenario}
            for entry in case.then:
                if entry.expectation.kind == "labels":
                    found |= {f"{case.scenario}::{row}" for row in entry.expectation.body.are}
    return frozenset(found)


def statements() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, statement in SEED["faq"].items():
        yield f"faq {number}", statement
    for document in DOCUMENTS:
        for statement in SEED[document]:
            yield f"{document}, {statement['at']}: {statement['says']}", statement


STATEMENTS = dict(statements())
ROWS = {key: names for table in SEED["rows"].values() for key, names in table.items()}
NAMED = sorted({name for names in ROWS.values() for name in names}) + sorted(
    {name for statement in STATEMENTS.values() for name in statement.get("scenarios", ())}
)


def test_all_rows_of_both_tables_are_there() -> None:
    tables = read(KEYS)["tables"]
    assert {name: list(rows) for name, rows in SEED["rows"].items()} == {
        name: tables[name] for name in ("aks", "karpenter")
    }
    assert {name: len(rows) for name, rows in SEED["rows"].items()} == {"aks": 63, "karpenter": 13}


def test_a_row_is_asked_of_all_three_sides() -> None:
    for key, names in ROWS.items():
        texts = " ".join(names)
        assert len(names) == 3, key
        assert "pods ask for" in texts
        assert "wrote" in texts
        assert "require[" in texts


@pytest.mark.parametrize("release", RELEASES)
def test_every_row_has_been_recorded_for_the_release(release: str) -> None:
    for name in (name for names in ROWS.values() for name in names if "labels/keys-" in name):
        file, _, rest = name.replace("1.14.0", release).partition("::")
        assert rest in ids(file), name


def test_the_faq_is_complete() -> None:
    assert list(SEED["faq"]) == [f"F{number}" for number in range(1, 22)]


@pytest.mark.parametrize(("document", "count"), DOCUMENTS.items())
def test_a_document_has_its_statements(document: str, count: int) -> None:
    assert len(SEED[document]) >= count


def test_every_statement_is_tried_or_says_why_not() -> None:
    for where, statement in STATEMENTS.items():
        assert statement.get("scenarios") or "planned" in statement, where
        assert len(statement.get("planned", "no reason needed")) > 10, where


@pytest.mark.parametrize("name", dict.fromkeys(name.partition("::")[0] for name in NAMED))
def test_every_id_exists(name: str) -> None:
    wanted = [each for each in NAMED if each.startswith(f"{name}::")]
    missing = [each for each in wanted if each.partition("::")[2] not in ids(name)]
    assert not missing


def recorded(release: str) -> dict[str, dict[str, Any]]:
    """Row by key: the cells that were recorded from the real code, of a plain Node made without AKS's machine API."""
    found: dict[str, dict[str, Any]] = {}
    for document in yaml.load_all((SCENARIOS / "labels" / f"keys-{release}.yaml").read_text(), Loader=yaml.BaseLoader):
        if "scenario" in document and "aksmachineapi" not in document["scenario"]:
            for expectation in document["then"]:
                for key, row in expectation["labels"]["are"].items():
                    found.setdefault(key, {}).update(row)
    return found


def schedulable(cell: Any) -> str:
    """Whether Karpenter knows the key, whatever becomes of the value."""
    outcome = cell if isinstance(cell, str) else cell["outcome"]
    return "yes" if outcome in ("yes", "incompatible", "runaway") else "no"


def written(cell: Any) -> str:
    """Whether Karpenter writes the label, through the kubelet or itself; what kubelets and the cloud write by themselves does not count."""
    if isinstance(cell, str):
        return cell
    by_itself = cell["by"] == "cloud-node-manager" or cell.get("from") == "kubelet-default"
    return "no" if by_itself else "yes"


CONDITIONAL = {
    "topology.kubernetes.io/zone": "the zone is chosen at launch; Karpenter repeats the value that the cloud-node-manager wrote",
    "karpenter.azure.com/sku-gpu-name": "on sizes with a GPU",
    "karpenter.azure.com/sku-gpu-manufacturer": "on sizes with a GPU",
    "karpenter.azure.com/sku-hyperv-generation": "on sizes of one generation",
}
"""Labels that Karpenter writes on some Nodes only; the recorded plain Node is none of them."""


@pytest.mark.parametrize("release", ["1.6.5", "1.14.0"])
def test_the_listed_mismatches_are_those_of_the_real_code(release: str) -> None:
    real = recorded(release)
    found = set()
    for key in claimed_keys():
        claim = claim_of(key)
        assert claim is not None
        now = {"schedulable": schedulable(real[key]["pod"]), "written": written(real[key]["written"])}
        if key in CONDITIONAL:
            now["written"] = "yes"
        said = {"schedulable": claim.schedulable, "written": claim.written}
        found |= {(key, name, now[name]) for name in now if said[name] is not (now[name] == "yes")}
    rows = [line.strip("| ").split(" | ") for line in CLAIMS.read_text().splitlines() if f" | {release} | " in line]
    listed = {
        (row[0].strip("`"), row[1], row[4].partition(" ")[0].rstrip(",")) for row in rows if ", with " not in row[4]
    }
    assert listed == found


def test_the_cells_are_those_of_all_rows() -> None:
    assert list(claimed_keys()) == [key for rows in SEED["rows"].values() for key in rows]


@pytest.mark.parametrize("page", current(), ids=lambda page: page.name)
def test_the_pages_are_fresh(page: Path) -> None:
    assert page.read_text() == current()[page], "run python -m tools.seeds"


def test_every_limit_is_a_statement_with_a_scenario_or_only_said() -> None:
    named = [limit for statement in SEED["karpenter-nap-concepts"] for limit in statement.get("limit", ())]
    assert set(named) == {limit.id for limit in LIMITS}
    shown = {
        limit
        for statement in SEED["karpenter-nap-concepts"]
        for limit in statement.get("limit", ())
        # the table of limits is the project's own; a scenario of its own shows what machines are made of
        if "only-said" in statement or any("::limits of the concepts" not in name for name in statement["scenarios"])
    }
    assert shown == set(named)


def test_differences_that_statements_name_exist() -> None:
    rows = {row.id for row in differences()}
    for where, statement in STATEMENTS.items():
        assert set(statement.get("differs", ())) <= rows, where
        assert ("today" in statement) == ("evidence" in statement), where
        unknown = set(statement) - {
            "at",
            "says",
            "scenarios",
            "planned",
            "differs",
            "limit",
            "today",
            "evidence",
            "only-said",
        }
        assert not unknown, where
