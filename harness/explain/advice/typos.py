"""Words that were probably meant: label keys and values, sizes, zones, and names of NodePools, AKSNodeClasses and StorageClasses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Any

from harness.explain.advice.candidates import Candidate, Looked, Rank, required_terms
from harness.explain.advice.edits import renaming, renaming_resource, replacing, requesting, setting
from harness.explain.advice.meanings import in_own_words, sizes_like, vendor_size
from harness.explain.advice.synonyms import KEYS_ALSO_CALLED, VALUES_ALSO_CALLED
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.labels.azure import GROUP
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirements import UndefinedKey
from harness.karpenter.scheduling.reasons.ledger import PoolFiltered, PoolTried
from harness.karpenter.scheduling.reasons.pods import RequirementsIncompatible, TaintsNotTolerated
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import labels_of, name_of, namespace_of, spec_of
from harness.kube.api.quantity import NANO, Quantity

__all__ = ["Words", "nearest", "reference_candidates", "word_candidates"]

_KEYS_ALIKE, _VALUES_ALIKE = 0.74, 0.65
_NAMES_ALIKE = 0.6
_MEANT = 2
_MEGA = 1_000_000


class Words:
    """The label keys of a cluster that mean something, and the values that a Node could have for each.

    `exists` tells of a key and a value whether Azure has it, here or elsewhere.
    """

    def __init__(
        self,
        nodepools: Sequence[Mapping[str, Any]],
        nodes: Iterable[Mapping[str, Any]],
        types: Mapping[str, Sequence[InstanceType]],
        vocabulary: Vocabulary,
        exists: Callable[[str, str], bool],
    ) -> None:
        self._vocabulary = vocabulary
        self._exists = exists
        self._types = {id(sizes): sizes for sizes in types.values()}
        self._values: dict[str, dict[str, None]] = {NODEPOOL: dict.fromkeys(map(name_of, nodepools))}
        for pool in nodepools:
            template = spec_of(pool).get("template") or {}
            for requirement in spec_of(template).get("requirements") or ():
                values = requirement.get("values") if requirement.get("operator") == "In" else ()
                self._add(requirement["key"], values or ())
            for key, value in labels_of(template).items():
                self._add(key, (value,))
        for node in nodes:
            for key, value in labels_of(node).items():
                self._add(key, (value,))
        self._of_sizes: dict[str, frozenset[str]] = {}

    def _add(self, key: str, values: Iterable[str]) -> None:
        self._values.setdefault(key, {}).update(dict.fromkeys(values))

    def keys(self) -> list[str]:
        """All keys, those that somebody wrote down first."""
        return list(dict.fromkeys([*self._values, *sorted(self._vocabulary.well_known)]))

    def keys_meant(self, key: str) -> list[str]:
        """The keys that `key` may have been meant for: that of the same name in another domain first; nothing for one that is known."""
        keys, (domain, _, name) = self.keys(), key.rpartition("/")
        if key in keys:
            return []
        same = [candidate for candidate in keys if "/" in candidate and candidate.rpartition("/")[2] == name]
        called = [other] if (other := KEYS_ALSO_CALLED.get(key)) in keys and other else []
        # in a long domain of their own all keys are alike
        like = [
            candidate
            for candidate in keys
            if candidate.rpartition("/")[0] != domain or _alike(candidate.rpartition("/")[2], name)
        ]
        return list(dict.fromkeys([*called, *same, *nearest(key, like, _KEYS_ALIKE)]))

    def meant(self, key: str, value: str, values: Iterable[str] | None = None) -> list[str]:
        """Return the likely meanings of a value of a key that no Node can have; none for a value that exists, but not for this pod."""
        if self._exists(key, value):
            return []
        there = self.values(key) if values is None else list(values)
        other = VALUES_ALSO_CALLED.get(key, {}).get(value.lower()) or in_own_words(key, value, there)
        if other is not None and other != value and other in there:
            return [other]
        vendor = vendor_size(value) if key == INSTANCE_TYPE else None
        if vendor is not None:
            return sizes_like(vendor, (size for sizes in self._types.values() for size in sizes))[:1]
        return nearest(value, there)

    def fitting(self, key: str, value: str) -> list[str]:
        """The values that `value` stands for under a key it was not written for: itself where it may be one, else what it was meant for."""
        there = self.values(key)
        if not there or value in there or self._exists(key, value):
            return [value]
        return self.meant(key, value, there)

    def values(self, key: str) -> list[str]:
        """Values of a key that some Node could have."""
        known_values = self._vocabulary.known_values.get(key, ())
        return list(dict.fromkeys([*self._values.get(key, ()), *sorted(self.of_sizes(key)), *sorted(known_values)]))

    def of_sizes(self, key: str) -> frozenset[str]:
        """Values of a key that sizes have."""
        if key not in self._of_sizes:
            sizes_values: set[str] = set()
            for sizes in self._types.values():
                for size in sizes:
                    if key in size.requirements and not size.requirements[key].complement:
                        sizes_values |= size.requirements[key].values
            self._of_sizes[key] = frozenset(sizes_values)
        return self._of_sizes[key]


def _alike(name: str, other: str) -> bool:
    return SequenceMatcher(None, name.lower(), other.lower()).ratio() >= _NAMES_ALIKE


def nearest(word: str, names_known: Iterable[str], alike: float = _VALUES_ALIKE) -> list[str]:
    """The known words that `word` may have been meant for, the likeliest first; the word itself is none."""
    names: dict[str, str] = {}
    for name_known in names_known:
        names.setdefault(name_known.lower(), name_known)
    low = word.lower()
    if low in names and names[low] != word:
        return [names[low]]
    if low in names:
        return []
    longer = [name for end, name in names.items() if end.endswith((f"_{low}", f"-{low}", f"/{low}"))]
    close = [] if low.isdecimal() else get_close_matches(low, names, n=_MEANT, cutoff=alike)
    likeness = [SequenceMatcher(None, name, low).ratio() for name in close]
    equal = [names[name] for name, ratio in zip(close, likeness, strict=True) if ratio == likeness[0]]
    return list(dict.fromkeys([*longer[:1], *equal]))


def word_candidates(pod: Mapping[str, Any], looked_at: Sequence[Looked], words: Words) -> Iterator[Candidate]:
    """Other words for those in the pod's selectors and tolerations, and in the NodePools' requirements, that nothing matches."""
    yield from _of_selector(pod, looked_at, words)
    for path, index, expression in required_terms(pod):
        yield from _of_expression(path, index, expression, words, "the pod's required node affinity")
    yield from _of_tolerations(pod, looked_at)
    yield from _of_amounts(pod, looked_at)
    yield from _of_resources(pod, looked_at)
    for entry in looked_at:
        if isinstance(entry, PoolFiltered):
            yield from _of_nodepool(entry, words)


def _of_selector(pod: Mapping[str, Any], looked_at: Sequence[Looked], words: Words) -> Iterator[Candidate]:
    at = ("spec", "nodeSelector")
    hints: dict[str, str] = {}
    for entry in looked_at:
        reason = entry.reason if isinstance(entry, PoolTried) else None
        cause = reason.cause if isinstance(reason, RequirementsIncompatible) else None
        if isinstance(cause, UndefinedKey) and cause.hint is not None:
            hints[cause.key] = cause.hint  # the key that Karpenter itself takes for meant
    for key, value in (pod.get("spec", {}).get("nodeSelector") or {}).items():
        others = [hints[key]] if key in hints else []
        for other in dict.fromkeys([*others, *words.keys_meant(key)]):
            for worth in words.fitting(other, value):
                same = worth == value
                wording = f"ask for {other}: {worth} in place of {key if same else f'{key}: {value}'} in the pod's nodeSelector"
                edit = renaming(at, key, other) if same else replacing(at, key, other, worth)
                yield Candidate(Rank.MEANT, wording, edit, meant=other if same else f"{other}: {worth}")
        for other in words.meant(key, value):
            wording = f"ask for {key}: {other} in place of {value} in the pod's nodeSelector"
            yield Candidate(Rank.MEANT, wording, setting(at, key, other), meant=other)


def _of_expression(
    path: tuple[str | int, ...], index: int, expression: Mapping[str, Any], words: Words, where: str
) -> Iterator[Candidate]:
    """Another key for a requirement, or another value where none of its own exists."""
    key, values = expression["key"], list(expression.get("values") or ())
    for other in words.keys_meant(key):
        if values and not any(words.fitting(other, value) == [value] for value in values):
            continue
        wording = f"write {other} in place of {key} in {where}"
        yield Candidate(Rank.MEANT, wording, setting((*path, index), "key", other), meant=other)
    values_known = words.values(key)
    if expression.get("operator") not in ("In", "Lt", "Lte") or any(value in values_known for value in values):
        return
    meant = [words.meant(key, value) for value in values]
    if len(values) > 1 and all(meant):  # one mistake, of the unit for instance, made in all of them
        every = [others[0] for others in meant]
        wording = f"write {' and '.join(every)} in place of {' and '.join(values)} for {key} in {where}"
        yield Candidate(Rank.MEANT, wording, setting((*path, index), "values", every), meant=" and ".join(every))
        return
    for number, (value, others) in enumerate(zip(values, meant, strict=True)):
        for other in others:
            wording = f"write {other} in place of {value} for {key} in {where}"
            yield Candidate(Rank.MEANT, wording, setting((*path, index, "values"), number, other), meant=other)


def _of_tolerations(pod: Mapping[str, Any], looked_at: Sequence[Looked]) -> Iterator[Candidate]:
    taints = [
        taint
        for entry in looked_at
        if isinstance(entry, PoolTried) and isinstance(entry.reason, TaintsNotTolerated)
        for taint in entry.reason.taints
    ]
    for index, toleration in enumerate(pod.get("spec", {}).get("tolerations") or ()):
        for field in ("key", "value", "effect"):
            word = toleration.get(field)
            for other in nearest(str(word), [str(taint.get(field) or "") for taint in taints]) if word else ():
                wording = f"write {other} in place of {word} as {field} of the pod's toleration"
                yield Candidate(Rank.MEANT, wording, setting(("spec", "tolerations", index), field, other), meant=other)


def _of_amounts(pod: Mapping[str, Any], looked_at: Sequence[Looked]) -> Iterator[Candidate]:
    """Smaller units in place of more than the largest size has: `2000m` for `2000` CPUs, `16384Mi` for `16384Gi` of memory."""
    largest: dict[str, int] = {}
    for entry in looked_at:
        for verdict in entry.types():
            for resource in _UNITS:
                largest[resource] = max(largest.get(resource, 0), verdict.instance_type.capacity[resource].nano)
    for number, container in enumerate(spec_of(pod).get("containers") or ()):
        for resource, smaller in _UNITS.items():
            written = ((container.get("resources") or {}).get("requests") or {}).get(resource)
            if written is None or Quantity.parse(written).nano <= largest.get(resource, 0) or not largest:
                continue
            meant = smaller(str(written))
            if meant is not None:
                wording = f"request {meant} {resource}, not {written}, in container {container.get('name')}"
                yield Candidate(Rank.MEANT, wording, requesting(number, resource, meant), meant=meant)


def _thousandths(written: str) -> str:
    cpus = Quantity.parse(written).nano // NANO
    return f"{cpus // _MEGA if cpus % _MEGA == 0 else cpus}m"


def _smaller_unit(written: str) -> str | None:
    """The same number in the next smaller unit of memory."""
    unit = next((suffix for suffix in _SMALLER if written.endswith(suffix)), None)
    return written.removesuffix(unit) + _SMALLER[unit] if unit is not None else None


_SMALLER: Mapping[str, str] = {"Ti": "Gi", "Gi": "Mi", "T": "G", "G": "M"}
_UNITS: Mapping[str, Callable[[str], str | None]] = {"cpu": _thousandths, "memory": _smaller_unit}


def _of_resources(pod: Mapping[str, Any], looked_at: Sequence[Looked]) -> Iterator[Candidate]:
    """Another name for a resource that no size has."""
    resources_known = {
        name for entry in looked_at for verdict in entry.types() for name in verdict.instance_type.capacity
    }
    for number, container in enumerate(spec_of(pod).get("containers") or ()):
        resources = container.get("resources") or {}
        requested = {name for kind in ("requests", "limits") for name in resources.get(kind) or ()}
        for name in sorted(requested - resources_known) if resources_known else ():
            for other in nearest(name, sorted(resources_known), _KEYS_ALIKE):
                wording = f"ask for {other} in place of {name} in container {container.get('name')}"
                yield Candidate(Rank.MEANT, wording, renaming_resource(number, name, other), meant=other)


def _of_nodepool(entry: PoolFiltered, words: Words) -> Iterator[Candidate]:
    """Values of a NodePool's own requirements that no size has."""
    for key, requirement in entry.requirements.items():
        of_sizes = words.of_sizes(key)
        if requirement.complement or not of_sizes or requirement.values & of_sizes:
            continue
        for value in sorted(requirement.values):
            for other in words.meant(key, value, of_sizes):

                def write(pool: dict[str, Any], key: str = key, value: str = value, other: str = other) -> None:
                    for item in pool["spec"]["template"]["spec"]["requirements"]:
                        if item["key"] == key:
                            item["values"] = [
                                other if value_before == value else value_before
                                for value_before in item.get("values") or ()
                            ]

                wording = f"write {other} in place of {value} for {key} in NodePool {entry.nodepool}"
                yield Candidate(Rank.MEANT, wording, write, entry.nodepool, meant=other)


def reference_candidates(
    pod: Mapping[str, Any],
    nodepools: Sequence[Mapping[str, Any]],
    nodeclasses: Iterable[str],
    claims: Mapping[tuple[str, str], Mapping[str, Any]],
    storageclasses: Iterable[str],
) -> Iterator[Candidate]:
    """Names of objects that do not exist: the AKSNodeClass of a NodePool, the pod's claims, and the StorageClass of one of them.

    `claims` are by namespace and name.
    """
    classes, stores = list(nodeclasses), list(storageclasses)
    for pool in nodepools:
        reference = spec_of(spec_of(pool).get("template") or {}).get("nodeClassRef") or {}
        name = str(reference.get("name") or "")
        of = ("spec", "template", "spec")
        if (reference.get("group"), reference.get("kind")) != (GROUP, "AKSNodeClass"):
            for other in classes[:1] if name not in classes else [name]:
                edit = setting(of, "nodeClassRef", {"group": GROUP, "kind": "AKSNodeClass", "name": other})
                before = f"{reference.get('kind')} {name} in NodePool {name_of(pool)}"
                wording = f"name AKSNodeClass {other} of group {GROUP} in place of {before}"
                yield Candidate(Rank.MEANT, wording, edit, name_of(pool), meant="AKSNodeClass", solver=False)
            continue
        for other in nearest(name, classes) if name not in classes else ():
            edit = setting((*of, "nodeClassRef"), "name", other)
            wording = f"name AKSNodeClass {other} in place of {name} in NodePool {name_of(pool)}"
            yield Candidate(Rank.MEANT, wording, edit, name_of(pool), meant=other, solver=False)
    namespace = namespace_of(pod) or "default"
    names_there = [name for place, name in claims if place == namespace]
    for index, volume in enumerate(pod.get("spec", {}).get("volumes") or ()):
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        for other in nearest(claim, names_there) if claim and claim not in names_there else ():
            edit = setting(("spec", "volumes", index, "persistentVolumeClaim"), "claimName", other)
            wording = f"name PersistentVolumeClaim {other} in place of {claim} in the pod's volume {volume.get('name')}"
            yield Candidate(Rank.MEANT, wording, edit, meant=other, solver=False)
        named = spec_of(claims.get((namespace, claim)) or {}).get("storageClassName") if claim else None
        for other in nearest(named, stores) if named and named not in stores else ():
            wording = f"name StorageClass {other} in place of {named} in PersistentVolumeClaim {claim}"
            target = ("PersistentVolumeClaim", namespace, str(claim))
            yield Candidate(
                Rank.MEANT,
                wording,
                setting(("spec",), "storageClassName", other),
                other=target,
                meant=other,
                solver=False,
            )
