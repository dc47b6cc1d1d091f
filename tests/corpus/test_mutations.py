"""Whoever changes what a release knows of a label breaks a scenario.

Each entry of a release's label tables is taken away in turn; some scenario of that release must then fail. A few are drawn, always
the same ones; `CORPUS_MUTATIONS=all` tries every one.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from harness.karpenter.releases import ProviderRelease, provider
from harness.scenario.cases import Case
from harness.scenario.files import load
from harness.scenario.runner import Runner

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
RELEASES = ("1.6.5", "1.14.0")
SAMPLE = 4
SETS = ("computed_keys", "offering_keys", "base_keys")

Mutation = tuple[str, str, str]


def mutations(release: ProviderRelease) -> Iterator[Mutation]:
    """(table, key, value): what is taken away; without a value the whole entry."""
    for key in sorted(release.vocabulary.well_known):
        yield "well_known", key, ""
    for key, values in sorted(release.vocabulary.known_values.items()):
        yield from (("known_values", key, value) for value in sorted(values))
    for table in SETS:
        yield from ((table, key, "") for key in sorted(getattr(release, table)))


def mutated(release: ProviderRelease, mutation: Mutation) -> ProviderRelease:
    """A release that does not know the entry."""
    table, key, value = mutation
    vocabulary = release.vocabulary
    if table == "well_known":
        return replace(release, vocabulary=replace(vocabulary, well_known=vocabulary.well_known - {key}))
    if table == "known_values":
        known = {**vocabulary.known_values, key: vocabulary.known_values[key] - {value}}
        return replace(release, vocabulary=replace(vocabulary, known_values=known))
    return replace(release, **{table: getattr(release, table) - {key}})


@cache
def cases(version: str) -> tuple[Case, ...]:
    """The scenarios that may notice: small ones first, the recorded tables of all keys last."""
    small = ("requirements/sizes-{}.yaml", "rejected/required-keys-{}.yaml", "labels/keys-{}.yaml")
    files = [SCENARIOS / name.format(version) for name in small]
    files[2:2] = [*sorted((SCENARIOS / "labels").glob("[!k]*.yaml")), SCENARIOS / "labels" / "known-values.yaml"]
    return tuple(
        case for file in files for scenario in load(file) for case in scenario.cases if case.given.karpenter == version
    )


def concerned(case: Case, mutation: Mutation) -> bool:
    """Whether a case may notice: of the scenarios with a case for each key only those of this key."""
    per_key = "required-keys-" in case.file or "known-values" in case.file
    return not per_key or mutation[1] in case.name


@pytest.mark.parametrize("version", RELEASES)
def test_a_missing_entry_fails_a_scenario(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release = provider(version)
    every = list(mutations(release))
    drawn = every if os.environ.get("CORPUS_MUTATIONS") == "all" else random.Random(version).sample(every, SAMPLE)
    unnoticed = []
    for mutation in drawn:
        changed = mutated(release, mutation)
        monkeypatch.setattr("harness.world.world.provider", lambda _, changed=changed: changed)
        runner = Runner()
        tried = (case for case in cases(version) if concerned(case, mutation))
        if all(runner.run(case).outcome == "passed" for case in tried):
            unnoticed.append(mutation)
    assert not unnoticed


@pytest.mark.parametrize("version", RELEASES)
def test_without_a_mutation_they_pass(version: str) -> None:
    runner = Runner()
    sizes = [case for case in cases(version) if "sizes-" in case.file]
    assert sizes
    assert [case.name for case in sizes if runner.run(case).outcome != "passed"] == []
