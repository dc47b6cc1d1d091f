"""What a person decided about each file that a release changed: ``tools/decisions/VERSION.csv``.

``python -m tools.new_release`` writes a row for each changed file, with nothing in its column ``decision``; the tests fail until every row
says ``flags: NAME, …`` (flags or tables of the release records), ``nothing: WHY`` or ``open: WHAT IS MISSING``.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.releases.core_release import CoreRelease
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.releases.model import ProviderRelease
from harness.karpenter.releases.scheduling import SchedulingRules

__all__ = ["CONCERNS", "CORE_CONCERNS", "DECISIONS", "Decision", "changed", "merged", "problems", "read", "write"]

DECISIONS = Path(__file__).parent / "decisions"

_RECORDS = (ProviderRelease, CoreRelease, SchedulingRules, DisruptionRules, Vocabulary)
KNOWN = frozenset(item.name for record in _RECORDS for item in fields(record)) | {"options"}
"""What a decision can name: the fields of the release records, and the table of options."""

_SHORTEST = 12  # letters of a reason


@dataclass(frozen=True, slots=True)
class Decision:
    """A changed file: the records that it may concern, the lines that came and went, and what follows from it."""

    concern: str
    file: str
    lines: str
    decision: str = ""


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
    "options (option_table.py)": ("pkg/operator/options/",),
    "drift and repair (DriftFlags)": ("pkg/cloudprovider/drift.go",),
    "CRDs": ("pkg/apis/crds/",),
}
"""What a person looks at in the provider, by the places in the sources; longer places count before shorter ones."""

CORE_CONCERNS: Mapping[str, tuple[str, ...]] = {
    "scheduling (SchedulingRules)": ("pkg/controllers/provisioning/", "pkg/scheduling/", "pkg/utils/pod/"),
    "disruption (DisruptionRules)": (
        "pkg/controllers/disruption/",
        "pkg/controllers/nodeclaim/disruption/",
        "pkg/utils/disruption/",
    ),
    "lifecycle (CoreRelease)": ("pkg/controllers/nodeclaim/", "pkg/controllers/node/", "pkg/controllers/state/"),
    "labels and vocabulary (CORE_VOCABULARIES)": ("pkg/apis/v1/labels.go",),
    "instance types and offerings": ("pkg/cloudprovider/",),
    "NodePools and NodeClaims": ("pkg/apis/v1/",),
    "options and gates (CoreRelease.gates)": ("pkg/operator/options/",),
    "CRDs": ("pkg/apis/crds/",),
}
"""The same of core."""


def changed(previous: Path, sources: Path, concerns: Mapping[str, tuple[str, ...]] = CONCERNS) -> Iterator[Decision]:
    """The Go and YAML files below ``pkg`` that differ, tests left out, each with nothing decided; by what they concern."""
    found: list[Decision] = []
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
            lines = f"+{marks.count('+')} -{marks.count('-')}"
            found.append(Decision(_concern(name, concerns), name, lines))
    yield from sorted(found, key=lambda each: (each.concern, each.file))


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


def _concern(name: str, concerns: Mapping[str, tuple[str, ...]]) -> str:
    places = sorted(
        ((place, what) for what, all_ in concerns.items() for place in all_), key=lambda pair: -len(pair[0])
    )
    return next((what for place, what in places if name.startswith(place)), "elsewhere")


def read(path: Path) -> list[Decision]:
    """The rows of a file, none where it does not exist."""
    if not path.exists():
        return []
    return [Decision(**row) for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]


def write(path: Path, rows: Iterable[Decision]) -> None:
    """Writes the rows."""
    path.parent.mkdir(exist_ok=True)
    names = [item.name for item in fields(Decision)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([getattr(row, name) for name in names] for row in rows)


def merged(found: Iterable[Decision], known: Iterable[Decision]) -> list[Decision]:
    """The changed files with what was decided about them before, as long as they have not changed since."""
    decided = {(row.file, row.lines): row.decision for row in known}
    return [replace(row, decision=decided.get((row.file, row.lines), "")) for row in found]


def problems(rows: Iterable[Decision]) -> Iterator[str]:
    """A line for each row without a decision, or with one that names what there is not."""
    for row in rows:
        kind, colon, text = row.decision.partition(": ")
        if not row.decision:
            yield f"{row.file}: not decided ({row.concern})"
        elif not colon or kind not in ("flags", "nothing", "open"):
            yield f"{row.file}: a decision begins with 'flags: ', 'nothing: ' or 'open: '"
        elif kind == "flags":
            names = text.partition(";")[0].split(", ")
            yield from (f"{row.file}: no flag is called {name}" for name in names if name not in KNOWN)
        elif len(text) < _SHORTEST:
            yield f"{row.file}: no reason"
