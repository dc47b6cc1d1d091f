"""Facts of a comparison that may be shown to others: figures and words of a known form, and labels that many clusters have."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.capture.objects import kept
from harness.capture.pseudonyms import Pseudonyms
from harness.capture.public_values import is_public
from harness.karpenter.releases import KNOWN_RELEASES, ProvisionMode
from harness.kube.api.labels import REGION
from harness.kube.api.objects import Object, is_mapping, labels_of, mapping_in
from harness.reality.comparing import Twins, manifests_of
from harness.reality.facts import ABSENT, Comparison, State, facts_of
from harness.reality.machines import DECIDING, Machine, machine_of
from harness.scenario.language.dumps import Dump
from harness.world import World
from lazyrecords import dataclass

__all__ = ["SharedFacts", "mistakes", "shared"]

_QUANTITY = re.compile(r"[0-9]{1,20}(m|[KMGT]i?|k)?")
_FORMS: Mapping[str, re.Pattern[str]] = {
    **{
        f"{side}.{name}": _QUANTITY
        for side in ("capacity", "allocatable")
        for name in ("cpu", "memory", "ephemeral-storage", "pods", "hugepages-1Gi", "hugepages-2Mi", "nvidia.com/gpu")
    },
    "nodeInfo.architecture": re.compile("amd64|arm64"),
    "nodeInfo.operatingSystem": re.compile("linux|windows"),
    "nodeInfo.osImage": re.compile(
        r"Ubuntu [0-9]{2}\.[0-9]{2}(\.[0-9])? LTS|Microsoft Azure Linux 3\.0|CBL-Mariner/Linux"
    ),
    "nodeInfo.kubeletVersion": re.compile(r"v1\.[0-9]{1,2}\.[0-9]{1,3}"),
}
_WHERE = "a cluster of a user"
_SITUATION: Mapping[str, re.Pattern[str]] = {
    "kind": re.compile("Node|NodeClaim"),
    "date": re.compile(r"[0-9]{4}-[0-9]{2}"),
    "kubernetes": re.compile(r"1\.[0-9]{1,2}\.[0-9]{1,3}"),
    "mode": re.compile("|".join(ProvisionMode)),
    "plugin": re.compile("azure|none|kubenet"),
    "pluginMode": re.compile("overlay|"),
    "dataplane": re.compile("azure|cilium|"),
}
_NEEDED = frozenset({"where", "kind", "release", "region", "kubernetes", "size", "facts"})


@dataclass(frozen=True, slots=True)
class SharedFacts:
    """Entries of machines, each once, and the number of machines that have none, by reason."""

    entries: tuple[dict[str, Any], ...]
    left_out: Mapping[str, int]


def shared(comparisons: Iterable[Comparison], dump: Dump, world: World) -> SharedFacts:
    """Return one entry for each kind of machine: what the simulation needs to make one, and the facts that say nothing of whose it is.

    A machine is left out that the entry alone does not make again: its facts would be held against another one.
    """
    by_object: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        if comparison.state is not State.INCOMPARABLE:
            by_object.setdefault(comparison.object, []).append(comparison)
    manifests = {manifest.reference: manifest.object for manifest in manifests_of(dump)}
    twins = Twins(world, manifests_of(dump))
    entries: list[dict[str, Any]] = []
    left_out: Counter[str] = Counter()
    alone = _Alone()
    for reference, facts in by_object.items():
        obj = manifests[reference]
        entry = _entry(obj, twins.nodeclass(obj), facts, world)
        why = next(iter(mistakes(entry)), "") or alone.disagreement(entry, facts)
        if why:
            left_out[why] += 1
        elif entry not in entries:
            entries.append(entry)
    return SharedFacts(tuple(entries), dict(left_out))


def _entry(obj: Object, nodeclass: Object | None, facts: Iterable[Comparison], world: World) -> dict[str, Any]:
    labels = {word: labels_of(obj).get(key, "") for word, key in DECIDING.items()}
    public = {word: text for word, text in labels.items() if is_public(DECIDING[word], text)}
    spec = mapping_in((kept(nodeclass, Pseudonyms(anonymise=True)) or {}).get("spec")) if nodeclass else {}
    return {
        "where": _WHERE,
        "kind": obj["kind"],
        **_situation(world),
        **public,
        **({"nodeclass": dict(spec)} if spec else {}),
        "facts": {fact.field: fact.theirs for fact in facts if _may_stay(fact.field, fact.theirs)},
    }


class _Alone:
    """Machines that are made of entries alone, each once."""

    def __init__(self) -> None:
        self._made: dict[str, Machine | str] = {}

    def disagreement(self, entry: Mapping[str, Any], facts: Iterable[Comparison]) -> str:
        """Return why the entry's machine is not the one that the facts were compared with, empty where it is."""
        situation = json.dumps({word: value for word, value in entry.items() if word not in ("kind", "facts")})
        if situation not in self._made:
            self._made[situation] = machine_of(entry)
        machine = self._made[situation]
        if isinstance(machine, str):
            return machine
        ours = {field: value for field, value, _ in facts_of(machine[entry["kind"]])}
        other = [
            fact.field for fact in facts if fact.field in entry["facts"] and ours.get(fact.field, ABSENT) != fact.ours
        ]
        return f"what may be shared makes a machine with another {min(other)}" if other else ""


def _situation(world: World) -> dict[str, str]:
    """Return what decides of a machine beside its NodePool and AKSNodeClass."""
    options = world.options
    words = {
        "date": world.clock.timestamp()[:7],
        "release": world.release.version,
        "region": world.region,
        "kubernetes": world.kubernetes,
        "mode": str(options.provision_mode),
        "plugin": options.network_plugin,
        "pluginMode": options.network_plugin_mode,
        "dataplane": options.network_dataplane,
    }
    return {word: text for word, text in words.items() if word not in _SITUATION or _SITUATION[word].fullmatch(text)}


def _may_stay(field: str, value: str) -> bool:
    if field in _FORMS:
        return _FORMS[field].fullmatch(value) is not None
    key = field.removeprefix("labels.")
    return key != field and is_public(key, value)


def mistakes(entry: object) -> Iterator[str]:
    """Yield a line for each part of an entry that is none of those that `shared` writes: a file of a stranger is taken by these rules."""
    if not is_mapping(entry):
        yield "an entry is expected: where, kind, release, region, kubernetes, size and facts"
        return
    for name in sorted(_NEEDED - entry.keys()):
        yield f"{name} is missing"
    for name, value in entry.items():
        if name == "facts":
            yield from _wrong_facts(value)
        elif name == "nodeclass":
            if not is_mapping(value):
                yield "nodeclass: the fields of an AKSNodeClass are expected"
                continue
            obj = {"apiVersion": "", "kind": "AKSNodeClass", "metadata": {}, "spec": value}
            if (kept(obj, Pseudonyms(anonymise=True)) or {}).get("spec") != value:
                yield "nodeclass: a field or a value that says more than captures do"
        elif not _is_word(str(name), value):
            yield f"{name}: not a value that is shared"


def _wrong_facts(facts: object) -> Iterator[str]:
    if not is_mapping(facts) or not facts:
        yield "facts: fields and their values are expected"
        return
    for field, value in facts.items():
        if not isinstance(value, str) or not _may_stay(str(field), value):
            yield f"facts.{field}: not a value that is shared"


def _is_word(name: str, value: object) -> bool:
    if not isinstance(value, str):
        return False
    if name == "where":
        return value == _WHERE
    if name == "release":
        return value in KNOWN_RELEASES
    if name == "region":
        return is_public(REGION, value)
    if name in DECIDING:
        return is_public(DECIDING[name], value)
    return name in _SITUATION and _SITUATION[name].fullmatch(value) is not None
