"""What a release of the provider brings: what can be read from its sources, and what a person has to decide.

    python -m tools.new_release SOURCES VERSION [--previous SOURCES] [--core OWN OTHER] [--write]

SOURCES is a folder with the sources of karpenter-provider-azure at that release. Label sets, versions of libraries and restricted sizes
are compared with the release of the table that VERSION is or follows. Lists of sizes and CRDs are compared with those in
harness/karpenter/releases/data; `--write` puts what no release has yet there under VERSION. `--previous` names the sources of the release
before: the changed files are then listed by the records of flags that they may concern, and with `--write` kept as decisions to be made in
tools/decisions. `--core` names the sources of the core that SOURCES is built with and of the one that it is taken to have instead; their
changed files are to be decided, too. The page docs/how-to/new-release.md has the steps around this one.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, KNOWN_RELEASES, ProviderRelease, provider, sizes
from tools.core_crds import on_other_core
from tools.crd_tables import TARGET, definitions, of_release, render, with_release, without_later, without_release
from tools.release_decisions import CORE_CONCERNS, DECISIONS, Decision, changed, merged, problems
from tools.release_decisions import read as read_decisions
from tools.release_decisions import write as write_decisions
from tools.release_labels import differences, label_sets, sets_of

DATA = Path(sizes.__file__).parent / "data"
_SYSTEMS = {"ubuntu": "ubuntu", "azurelinux": "azurelinux", "azurelinux2": "azurelinux", "azurelinux3": "azurelinux"}
_RESTRICTED = re.compile(
    r"(?:AKSRestrictedVMSizes|karpenterRestrictedVMSKUs)\s*=\s*sets\.New\w*(?:\[string\])?\((.*?)\n?\)", re.DOTALL
)
_TEXT = re.compile(r'"([A-Za-z]+_[A-Za-z0-9_-]+)"')


@dataclass(frozen=True, slots=True)
class Sources:
    """What can be read from a release's sources without understanding them."""

    core: str
    skewer: str
    known_skus: frozenset[str]
    gpu_sizes: Mapping[str, sizes.GpuSize]
    restricted_skus: frozenset[str]


def read(root: Path) -> Sources:
    """What the sources in a folder say. Raises OSError or ValueError where they are no sources of the provider."""
    modules = (root / "go.mod").read_text(encoding="utf-8")
    here = root / "pkg/providers/instancetype"
    known = yaml.safe_load((here / "known_skus.yaml").read_text(encoding="utf-8"))
    gpus = yaml.safe_load((root / "pkg/utils/supported-gpus.yaml").read_text(encoding="utf-8"))
    return Sources(
        core=_version(modules, "sigs.k8s.io/karpenter"),
        skewer=_version(modules, "github.com/Azure/skewer"),
        known_skus=frozenset(row["name"] for row in known),
        gpu_sizes={name.lower(): _gpu(row) for name, row in gpus.items()},
        restricted_skus=frozenset(_restricted((here / "skus.go").read_text(encoding="utf-8"))),
    )


def _version(modules: str, path: str) -> str:
    """The version of a module; of a commit between two versions, which replaces it, the later one."""
    found = re.search(rf"^replace {re.escape(path)} => \S+ v([\d.]+)", modules, re.MULTILINE) or re.search(
        rf"^\s*{re.escape(path)} v(\S+)", modules, re.MULTILINE
    )
    if found is None:
        raise ValueError(f"go.mod does not name {path}")
    return found[1]


def _gpu(row: Mapping[str, object]) -> sizes.GpuSize:
    systems = row["os"]
    assert isinstance(systems, list)
    return sizes.GpuSize(str(row["gpu"]), frozenset(_SYSTEMS[name] for name in systems if name in _SYSTEMS))


def _restricted(text: str) -> Iterator[str]:
    """The names in the two sets of restricted sizes."""
    for found in re.finditer(
        r"(?:AKSRestrictedVMSizes|karpenterRestrictedVMSKUs)\s*=\s*sets\.New\w*(?:\[string\])?\((.*?)\n?\)",
        text,
        re.DOTALL,
    ):
        yield from _TEXT.findall(found[1])


def lists(found: Sources, version: str, write: bool, data: Path = DATA) -> Iterator[str]:
    """A line for each list of sizes: the release that has the same one, or what is new in it, and written if asked for."""
    known = {(name, "", ""): None for name in found.known_skus}
    gpus = {
        (name, gpu.manufacturer, "|".join(sorted(gpu.systems, reverse=True))): None
        for name, gpu in found.gpu_sizes.items()
    }
    for table, flag, rows in (("known_skus", "known_skus", known), ("gpus", "gpu_registry", gpus)):
        path = data / f"{table}.csv"
        present = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        by_release: dict[str, set[tuple[str, str, str]]] = {}
        for row in present:
            for release in row["releases"].split("|"):
                by_release.setdefault(release, set()).add(_row(row))
        same = next((release for release, names in by_release.items() if names == rows.keys()), None)
        if same is not None:
            yield f'{flag}="{same}": {len(rows)} sizes, the list of {same}'
            continue
        newest = by_release[list(by_release)[-1]]
        yield f'{flag}="{version}": {len(rows)} sizes, {len(rows.keys() - newest)} new, {len(newest - rows.keys())} gone'
        yield from (f"  + {row[0]}" for row in sorted(rows.keys() - newest))
        yield from (f"  - {row[0]}" for row in sorted(newest - rows.keys()))
        if write:
            path.write_text(_with_list(present, set(rows), version), encoding="utf-8")


def _row(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["sku"], row.get("manufacturer", ""), row.get("systems", "")


def _with_list(present: list[dict[str, str]], rows: set[tuple[str, str, str]], version: str) -> str:
    for row in present:
        if _row(row) in rows:
            rows.discard(_row(row))
            row["releases"] += f"|{version}"
    fields = list(present[0])
    for sku, manufacturer, systems in rows:
        new = {"sku": sku, "manufacturer": manufacturer, "systems": systems, "releases": version}
        present.append({field: new[field] for field in fields})
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(present, key=lambda row: row["sku"]))
    return text.getvalue()


def compared_with(version: str) -> ProviderRelease:
    """The release of the table that a version is, or else follows."""
    known = version if version in KNOWN_RELEASES else ALL_PROVIDER_RELEASES[-1]
    return provider(known)


def facts(found: Sources, newest: ProviderRelease) -> Iterator[str]:
    """A line for each value that a release of the table has otherwise."""
    if found.core != newest.core.version:
        yield f'core="{found.core}": CORE_RELEASES, CORE_VOCABULARIES and the tables of scheduling and disruption rules need an entry'
    if found.skewer != newest.skewer:
        yield f'skewer="{found.skewer}": was {newest.skewer}; GRAMMARS in instancetypes/vmsize.py needs an entry'
    if found.restricted_skus != newest.restricted_skus:
        new, gone = found.restricted_skus - newest.restricted_skus, newest.restricted_skus - found.restricted_skus
        yield f"restricted_skus: new {sorted(new)}, gone {sorted(gone)}"


def crds(root: Path, version: str, core: Sequence[Path] | None, write: bool) -> Iterator[str]:
    """What is new in the CRDs, and it is written if asked for. Raises ValueError for a rule that nobody has a predicate for."""
    found = definitions(root / "pkg/apis/crds")
    if core is not None:
        own, other = (definitions(each / "pkg/apis/crds") for each in core)
        found = on_other_core(found, own, other)
    tables = json.loads(TARGET.read_text(encoding="utf-8"))
    if version in tables["releases"]:
        known = without_later(tables, version)
        made = with_release(without_release(known, version), version, found)
        new, old = of_release(made, version), of_release(known, version)
        same = {name: sorted(map(str, rows)) for name, rows in new.items()} == {
            name: sorted(map(str, rows)) for name, rows in old.items()
        }
        how = "the same as" if new == old else "in another order than" if same else "NOT"
        yield f"crds: {how} those of {version} in the tables"
        return
    made = with_release(tables, version, found)
    for name, table in made["crds"].items():
        for part in ("rules", "fields"):
            new = [row for row in table[part] if row[-2] == version]
            gone = [row for row in table[part] if row[-1] == tables["releases"][-1]]
            yield from (
                f"crds: {mark} {name} {row[0]} {row[1]}" for mark, rows in (("+", new), ("-", gone)) for row in rows
            )
    if write:
        TARGET.write_text(render(made), encoding="utf-8")


def decisions(given: argparse.Namespace, version: str) -> list[Decision]:
    """The changed files of the provider and of core, with what was decided about them; written if asked for."""
    found = list(changed(given.previous, given.sources)) if given.previous is not None else []
    if given.core is not None:
        rows = changed(*given.core, concerns=CORE_CONCERNS)
        found += [replace(row, concern=f"core: {row.concern}") for row in rows]
    path = DECISIONS / f"{version}.csv"
    result = merged(found, read_decisions(path))
    if given.write and found:
        write_decisions(path, result)
    return result


def main(arguments: list[str] | None = None) -> int:
    """Prints what is read and what is to be decided; exit code 2 for a folder without the provider's sources."""
    parser = argparse.ArgumentParser(prog="python -m tools.new_release", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", type=Path, metavar="SOURCES")
    parser.add_argument("version", metavar="VERSION")
    parser.add_argument("--previous", type=Path, metavar="SOURCES", help="the sources of the release before")
    parser.add_argument("--core", type=Path, nargs=2, metavar=("OWN", "OTHER"), help="the core of go.mod, and another")
    parser.add_argument("--write", action="store_true", help="write what no release has yet, and what is to be decided")
    given = parser.parse_args(arguments)
    version = given.version.removeprefix("v")
    newest = compared_with(version)
    try:
        found = read(given.sources)
        lines = [*facts(found, newest), *lists(found, version, given.write)]
        lines += differences(label_sets(given.sources), sets_of(newest))
        lines += crds(given.sources, version, given.core, given.write)
        undecided = list(problems(decisions(given, version)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"tools.new_release: {given.sources} has no sources of the provider: {error}", file=sys.stderr)
        return 2
    print(f"Read, beside {newest.version}:", *lines, sep="\n  ")
    if undecided:
        print("Decide:", *undecided, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
