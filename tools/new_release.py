"""What a release of the provider brings: lists and versions read from its sources, and what a person has to decide.

    python -m tools.new_release SOURCES VERSION [--previous SOURCES] [--write]

SOURCES is a folder with the sources of karpenter-provider-azure at that release. Lists of sizes are compared with those in
harness/karpenter/releases/data; `--write` puts a list that no release has yet there under VERSION. Versions of libraries and restricted
sizes are compared with the newest release of the table. `--previous` names the sources of the release before: the changed files are then
listed by the records of flags that they may concern. The page docs/how-to/new-release.md has the steps around this one.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import io
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, provider, sizes

DATA = Path(sizes.__file__).parent / "data"
_SYSTEMS = {"ubuntu": "ubuntu", "azurelinux": "azurelinux", "azurelinux2": "azurelinux", "azurelinux3": "azurelinux"}
_RESTRICTED = re.compile(
    r"(?:AKSRestrictedVMSizes|karpenterRestrictedVMSKUs)\s*=\s*sets\.New\w*(?:\[string\])?\((.*?)\n?\)", re.DOTALL
)
_TEXT = re.compile(r'"([A-Za-z]+_[A-Za-z0-9_-]+)"')

CONCERNS: Mapping[str, tuple[str, ...]] = {
    "labels and vocabulary (LabelFlags, well_known, known_values)": (
        "pkg/apis/v1beta1/labels.go",
        "pkg/providers/labels/",
    ),
    "instance types (InstanceTypeFlags)": (
        "pkg/providers/instancetype/",
        "pkg/providers/pricing/",
        "pkg/providers/quota/",
        "pkg/utils/sku/",
    ),
    "AKSNodeClass (NodeClassFlags)": ("pkg/apis/v1beta1/", "pkg/controllers/nodeclass/"),
    "launch (LaunchFlags)": (
        "pkg/providers/instance/",
        "pkg/providers/allocationstrategy/",
        "pkg/providers/imagefamily/",
        "pkg/cloudprovider/",
    ),
    "boot (BootFlags, gpu_drivers)": (
        "pkg/providers/imagefamily/bootstrap/",
        "pkg/providers/launchtemplate/",
        "pkg/utils/gpu.go",
    ),
    "failures (FailureFlags)": ("pkg/providers/instance/offerings/", "pkg/cache/"),
    "options": ("pkg/operator/options/",),
    "CRDs (tools/crd_tables.py)": ("pkg/apis/crds/",),
}
"""What a person looks at, by the places in the sources; the first place that fits a file counts, longer ones before shorter ones."""


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
    found = re.search(rf"^\s*{re.escape(path)} v(\S+)", modules, re.MULTILINE)
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


def facts(found: Sources) -> Iterator[str]:
    """A line for each value that the newest release of the table has otherwise."""
    newest = provider(ALL_PROVIDER_RELEASES[-1])
    if found.core != newest.core.version:
        yield f'core="{found.core}": CORE_RELEASES, CORE_VOCABULARIES and the tables of scheduling and disruption rules need an entry'
    if found.skewer != newest.skewer:
        yield f'skewer="{found.skewer}": was {newest.skewer}; GRAMMARS in instancetypes/vmsize.py needs an entry'
    if found.restricted_skus != newest.restricted_skus:
        new, gone = found.restricted_skus - newest.restricted_skus, newest.restricted_skus - found.restricted_skus
        yield f"restricted_skus: new {sorted(new)}, gone {sorted(gone)}"


def changed(previous: Path, sources: Path) -> Mapping[str, list[str]]:
    """By record of flags the Go and YAML files that differ, each with the number of lines that came and went; tests are left out."""
    result: dict[str, list[str]] = {}
    names = {
        path.relative_to(root).as_posix()
        for root in (previous, sources)
        for path in root.rglob("pkg/**/*")
        if _counts(path.relative_to(root))
    }
    for name in sorted(names):
        old, new = (_lines(root / name) for root in (previous, sources))
        if old != new:
            marks = [line[0] for line in difflib.unified_diff(old, new, n=0) if line[:3] not in ("+++", "---")]
            result.setdefault(_concern(name), []).append(f"{name}: +{marks.count('+')} -{marks.count('-')}")
    return result


def _counts(path: Path) -> bool:
    generated = path.name.startswith("zz_generated.deepcopy")
    return (
        path.suffix in (".go", ".yaml")
        and not generated
        and not path.name.endswith("_test.go")
        and not {"fake", "test"} & set(path.parts)
    )


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def _concern(name: str) -> str:
    places = sorted(
        ((place, what) for what, all_ in CONCERNS.items() for place in all_), key=lambda pair: -len(pair[0])
    )
    return next((what for place, what in places if name.startswith(place)), "elsewhere")


def main(arguments: list[str] | None = None) -> int:
    """Prints what is read and what is to be decided; exit code 2 for a folder without the provider's sources."""
    parser = argparse.ArgumentParser(prog="python -m tools.new_release", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", type=Path, metavar="SOURCES")
    parser.add_argument("version", metavar="VERSION")
    parser.add_argument("--previous", type=Path, metavar="SOURCES", help="the sources of the release before")
    parser.add_argument("--write", action="store_true", help="write the lists that no release has yet")
    given = parser.parse_args(arguments)
    try:
        found = read(given.sources)
        differences = changed(given.previous, given.sources) if given.previous is not None else {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"tools.new_release: {given.sources} has no sources of the provider: {error}", file=sys.stderr)
        return 2
    print("Read:", *facts(found), *lists(found, given.version.removeprefix("v"), given.write), sep="\n  ")
    for what, files in differences.items():
        print(f"Decide: {what}", *files, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
