"""The label sets of a release, read from the Go sources of the provider since 1.6.6.

Go is read as text, as far as these sets need it: names that stand for texts, `sets.New(...)`, assignments to maps. What cannot be read
is an error, never a set that lacks a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from harness.karpenter.labels.core import CAPACITY_TYPE, DO_NOT_SYNC_TAINTS, ON_DEMAND, SPOT
from harness.karpenter.releases.model import ProviderRelease
from harness.kube.api.labels import ARCH, INSTANCE_TYPE, OS, REGION, ZONE

__all__ = ["LabelSets", "differences", "label_sets", "sets_of"]

_UPSTREAM: Mapping[str, str] = {
    "LabelInstanceTypeStable": INSTANCE_TYPE,
    "LabelArchStable": ARCH,
    "LabelOSStable": OS,
    "LabelTopologyZone": ZONE,
    "LabelTopologyRegion": REGION,
    "CapacityTypeLabelKey": CAPACITY_TYPE,
    "CapacityTypeOnDemand": ON_DEMAND,
    "CapacityTypeSpot": SPOT,
    "NodeDoNotSyncTaintsLabelKey": DO_NOT_SYNC_TAINTS,
}
"""Names of Kubernetes and of core."""

_COMMENT = re.compile(r"//[^\n]*")
_TERM = r'(?:"[^"\n]*"|[A-Za-z_][\w.]*)'
_NAMED = re.compile(rf"^\s*(?:const |var )?(\w+)\s*=\s*({_TERM}(?:\s*\+\s*{_TERM})*)\s*$", re.MULTILINE)
_NEW_SET = r"sets\.New(?:String|\[string\])?\(([^()]*)\)"
_KNOWN_VALUES = re.compile(rf"WellKnownValuesForRequirements\[([\w.]+)\]\s*=\s*{_NEW_SET}")
_REQUIREMENT = re.compile(r"scheduling\.NewRequirement\(\s*([\w.]+),")
_BASE = re.compile(rf"\blabels\[({_TERM})\]\s*=")


@dataclass(frozen=True, slots=True)
class LabelSets:
    """What a release knows of labels. ``restricted``: keys that it takes away from users."""

    well_known: frozenset[str]
    restricted: frozenset[str]
    known_values: Mapping[str, frozenset[str]] = field(hash=False)
    computed: frozenset[str]
    offering: frozenset[str]
    base: frozenset[str]


def sets_of(release: ProviderRelease) -> LabelSets:
    """The same of a release in our tables."""
    provided = {
        key: values
        for key, values in release.vocabulary.known_values.items()
        if key != CAPACITY_TYPE or (SPOT in values and len(values) == 2)
    }
    return LabelSets(
        well_known=release.azure_well_known,
        restricted=release.allowed_at_create - release.vocabulary.well_known,
        known_values=provided,
        computed=release.computed_keys,
        offering=release.offering_keys,
        base=release.base_keys,
    )


def label_sets(root: Path) -> LabelSets:
    """The sets in a folder of sources. Raises OSError for a file that is not there, ValueError for Go that is not understood."""
    api, labels = _go(root / "pkg/apis/v1beta1"), _go(root / "pkg/providers/labels")
    names = _Names("\n".join((_go(root / "pkg/apis", deep=False), api, labels)))
    types = root / "pkg/providers/instancetype"
    computed = _function(_code(types / "instancetype.go"), "computeRequirements")
    return LabelSets(
        well_known=names.members("AzureWellKnownLabels"),
        restricted=names.members("RestrictedLabels"),
        known_values={names.text(key): frozenset(names.each(values)) for key, values in _KNOWN_VALUES.findall(api)},
        computed=_some("computeRequirements", names, _REQUIREMENT.findall(computed)),
        offering=_some(
            "createOfferings",
            names,
            _REQUIREMENT.findall(_function(_code(types / "instancetypes.go"), "createOfferings")),
        ),
        base=_some("labels.Get", names, _BASE.findall(_function(labels, "Get"))),
    )


def differences(found: LabelSets, known: LabelSets) -> Iterator[str]:
    """A line for each set that is not the known one, with the keys that came and went."""
    for each in fields(LabelSets):
        new, old = getattr(found, each.name), getattr(known, each.name)
        if isinstance(new, Mapping):
            changed = sorted(key for key in new.keys() & old.keys() if new[key] != old[key])
            if changed:
                yield f"{each.name}: other values of {changed}"
        if came := sorted(new - old if isinstance(new, frozenset) else new.keys() - old.keys()):
            yield f"{each.name}: new {came}"
        if went := sorted(old - new if isinstance(new, frozenset) else old.keys() - new.keys()):
            yield f"{each.name}: gone {went}"


class _Names:
    """What names of Go's stand for."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._terms: dict[str, str] = dict(_NAMED.findall(code))

    def text(self, expression: str) -> str:
        """The text that a literal, a name or a sum of these is. Raises ValueError."""
        return "".join(self._term(part.strip()) for part in expression.split("+"))

    def _term(self, term: str) -> str:
        if term.startswith('"'):
            return term[1:-1]
        name = term.rpartition(".")[2]
        if name in self._terms and self._terms[name] != term:
            return self.text(self._terms[name])
        if name in _UPSTREAM:
            return _UPSTREAM[name]
        raise ValueError(f"{term} is no text that the sources name")

    def each(self, listed: str) -> Iterator[str]:
        """The texts of a list with commas."""
        return (self.text(part) for part in listed.split(",") if part.strip())

    def members(self, name: str) -> frozenset[str]:
        """The members of a set that is made with ``sets.New``. Raises ValueError without one."""
        found = re.search(rf"^\s*{name}\s*=\s*{_NEW_SET}", self._code, re.MULTILINE)
        if found is None:
            raise ValueError(f"no set {name}")
        return frozenset(self.each(found[1]))


def _some(place: str, names: _Names, terms: Iterable[str]) -> frozenset[str]:
    found = frozenset(names.text(term) for term in terms)
    if not found:
        raise ValueError(f"no label in {place}")
    return found


def _go(folder: Path, deep: bool = True) -> str:
    """The code of a package without its tests. Raises OSError without the folder."""
    files = sorted(path for path in folder.iterdir() if path.suffix == ".go" and not path.name.endswith("_test.go"))
    if not files and deep:
        raise OSError(f"no Go files in {folder}")
    return "\n".join(_code(path) for path in files)


def _code(path: Path) -> str:
    return _COMMENT.sub("", path.read_text(encoding="utf-8"))


def _function(code: str, name: str) -> str:
    """The body of a function or method. Raises ValueError without one."""
    found = re.search(rf"^func (?:\([^)]*\) )?{name}\(.*?^}}", code, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"no function {name}")
    return found[0]
