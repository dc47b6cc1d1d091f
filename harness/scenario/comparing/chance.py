"""Chance in a comparison, recognised by its structure: an exchange of equal objects makes no difference.

* Pods that are equal but for their names are the same to Karpenter as long as neither a step nor an expectation names one: their
  creation times and uids decide which it takes first, and which stays pending.
* Zones that the case does not name are the same to a topology spread, which takes any of those with the fewest pods (Go's map order).
* Of Nodes that come at the same instant kube-scheduler fills the one that it sees first.
* Disruption looks every ten seconds: the number of its looks decides the number of its Events, and never their texts; it reports the
  states of a Node into which a look fell. A Node that has not become ready in both runs is none of these.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.kube.api.labels import ZONE
from harness.kube.api.objects import Object, metadata_of, name_of, namespace_of
from harness.scenario.comparing.pairing import POLLED, nearest, paired
from harness.scenario.comparing.races import without_races
from harness.scenario.language.models.base import Model

if TYPE_CHECKING:
    from harness.scenario.language.cases import Case
    from harness.world.facts import Facts

__all__ = ["without_chance"]

Found = Mapping[str, Any]

_PASSING = re.compile(
    r"Normal DisruptionBlocked: Node (isn't initialized|is deleting or marked for deletion|is nominated)\b"
)
"""Events of a look about a Node that comes or goes (core ``pkg/controllers/state/statenode.go`` ValidateNodeDisruptable).

Each Node passes through these states, and a look falls into one of them or into none.
"""
_GOING = "is deleting"
_OF_A_NODE = ("Events", "Events of the Node")
_PINNED = re.compile(rf"{re.escape(ZONE)} In ([^,\s]+-\d+)")
_ASKED = re.compile(r'zones=\["\d+"\]')
_SHARED = "NodeClaims that share a zone"


def without_chance(case: Case, expected: Facts, real: Facts) -> tuple[Found, Found]:
    """Return the facts of both runs, those of the second one as if chance had gone as in the first one."""
    ours, theirs = without_races(expected, real)
    named_texts = list(_texts([*case.header.when, case.given, *(entry.expectation for entry in case.then)]))
    manifests = [manifest.object for manifest in case.manifests]
    zones = [*named_texts, *_texts(manifests)]
    left, right = _without_zones(ours, zones), _without_zones(theirs, zones)
    right = _exchanged(left, paired(left, right), _equal_pods(manifests, named_texts))
    if any(count > 1 for count in expected.waves):
        left, right = _together(left), _together(right)
    return _as_often(*_without_passing(left, right))


def _without_passing(left: Found, right: Found) -> tuple[Found, Found]:
    """Both without what was told of Nodes on their way, where in both runs the Node has come through."""
    return _passed(left, right), _passed(right, left)


def _passed(facts: Found, other: Found) -> Found:
    claims, others = facts.get("NodeClaims") or {}, other.get("NodeClaims") or {}
    claims_passed = {name: _claim_passed(claim, others.get(name, claim)) for name, claim in claims.items()}
    staying = facts.get("Nodes of others") or {}
    events = {
        name: texts if name.partition(" ")[2] in staying else _without(texts, lambda text: True)
        for name, texts in (facts.get("Events") or {}).items()
    }
    return {**facts, **({"NodeClaims": claims_passed} if claims else {}), **({"Events": events} if events else {})}


def _claim_passed(claim: Found, other: Found) -> Found:
    def is_over(text: str) -> bool:
        return all(
            _is_gone(claim_facts) or (_GOING not in text and _is_initialized(claim_facts))
            for claim_facts in (claim, other)
        )

    return {key: _without(value, is_over) if key in _OF_A_NODE else value for key, value in claim.items()}


def _without(texts: Found, is_over: Callable[[str], bool]) -> Found:
    return {text: seen for text, seen in texts.items() if not (_PASSING.match(text) and is_over(text))}


def _is_gone(claim: Found) -> bool:
    return claim["NodeClaim"].get("there") is False


def _is_initialized(claim: Found) -> bool:
    course = (claim["NodeClaim"].get("conditions") or {}).get("Initialized") or [""]
    return str(course[-1]).startswith("True")


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, keys too."""
    if isinstance(value, Model):
        value = value.model_dump(exclude_none=True, warnings=False)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _equal_pods(manifests: Sequence[Object], named_texts: Sequence[str]) -> list[list[str]]:
    """Return groups of pods (``namespace/name``) that are equal but for their names, without those that the case names."""
    named = {part for text in named_texts for part in text.split("/")}
    groups: dict[str, list[str]] = {}
    for pod in manifests:
        if pod.get("kind") == "Pod" and name_of(pod) not in named:
            metadata = {key: value for key, value in metadata_of(pod).items() if key != "name"}
            text = json.dumps({**pod, "metadata": metadata}, sort_keys=True, default=str)
            groups.setdefault(text, []).append(f"{namespace_of(pod) or 'default'}/{name_of(pod)}")
    return [names for names in groups.values() if len(names) > 1]


def _exchanged(left: Found, right: Found, groups: Sequence[Sequence[str]]) -> Found:
    """Return the facts ``right`` in which each of several equal pods has the name of the one in ``left`` that it is most like."""
    for group in groups:
        ours, theirs = ({name: _of_pod(facts, name) for name in group} for facts in (left, right))
        if ours != theirs:
            right = _renamed(right, nearest(ours, theirs))
    return right


def _of_pod(facts: Found, name: str) -> dict[str, Any]:
    pods, events = facts.get("Pods") or {}, facts.get("Events") or {}
    return {"bound": (pods.get("bound") or {}).get(name), "Events": events.get(_event_key(name)) or {}}


def _renamed(facts: Found, names: Mapping[str, str]) -> Found:
    pods, events = facts.get("Pods") or {}, facts.get("Events") or {}
    bound = {names.get(name, name): bound_pods for name, bound_pods in (pods.get("bound") or {}).items()}
    keys = {_event_key(name): _event_key(new) for name, new in names.items()}
    events_renamed = {keys.get(key, key): texts for key, texts in events.items()}
    return {**facts, "Pods": {**pods, "bound": bound}, "Events": events_renamed}


def _event_key(name: str) -> str:
    return f"Pod {name.rpartition('/')[2]}"


def _without_zones(facts: Found, named_texts: Sequence[str]) -> Found:
    """Return the facts without the zones that the scheduler chose; the number of a NodePool's NodeClaims that share one stays."""
    claims: dict[str, Any] = {}
    shared: dict[str, Counter[str]] = {}
    for name, claim_facts in (facts.get("NodeClaims") or {}).items():
        claims[name] = claim_facts
        pinned = [match_[1] for text in claim_facts["NodeClaim"]["requirements"] if (match_ := _PINNED.fullmatch(text))]
        if len(pinned) == 1 and not any(pinned[0] in text for text in named_texts):
            claims[name] = _masked(claim_facts, re.compile(rf"\b{re.escape(pinned[0])}\b"))
            shared.setdefault(name.rpartition(" ")[0], Counter())[pinned[0]] += 1
    if not shared:
        return facts
    return {**facts, "NodeClaims": claims, _SHARED: {pool: sorted(counts.values()) for pool, counts in shared.items()}}


def _masked(value: Any, zone: re.Pattern[str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _masked(item, zone) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, zone) for item in value]
    return _ASKED.sub("zones=ZONE", zone.sub("ZONE", value)) if isinstance(value, str) else value


def _together(facts: Found) -> Found:
    """Return the facts with the pods of all Nodes counted together."""
    pods = facts.get("Pods") or {}
    return {**facts, "Pods": {**pods, "per Node": sum(pods.get("per Node") or ())}}


def _as_often(left: Any, right: Any) -> tuple[Any, Any]:
    """Return both without the Events of turns of disruption that only one of them has.

    They are dropped where all Events of the other with the same reason are among its own.
    """
    if not (isinstance(left, Mapping) and isinstance(right, Mapping)):
        return left, right
    surplus = _surplus(left, right)
    first: dict[str, Any] = {}
    second: dict[str, Any] = {}
    for key in (*left, *(key for key in right if key not in left)):
        if key in surplus:
            continue
        mine, theirs = _as_often(left.get(key, {}), right.get(key, {}))
        polled = key not in left or key not in right
        if polled and not mine and not theirs and _is_polled(left.get(key)) and _is_polled(right.get(key)):
            continue
        if key in left:
            first[key] = mine
        if key in right:
            second[key] = theirs
    return first, second


def _surplus(left: Found, right: Found) -> set[str]:
    """Return the Events of turns of disruption that only one has, by their reason, where the other has no other text."""
    by_reason: dict[str, tuple[set[str], set[str]]] = {}
    for place, facts in enumerate((left, right)):
        for key in facts:
            if match := POLLED.match(key):
                by_reason.setdefault(match[1], (set(), set()))[place].add(key)
    nested = (ours ^ theirs for ours, theirs in by_reason.values() if ours <= theirs or theirs <= ours)
    return set().union(*nested)


def _is_polled(value: Any) -> bool:
    """Return whether these are Events of turns of disruption alone, or nothing."""
    return value is None or (isinstance(value, Mapping) and all(POLLED.match(key) for key in value))
