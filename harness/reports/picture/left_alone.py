"""Offerings that Karpenter leaves alone after a refusal, in words: the keys of its cache (kaz ``pkg/cache/unavailableofferings.go``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.reports.picture.story import Line, Story
from harness.wording import duration_text

__all__ = ["after_boot", "after_call", "lane_name", "left_alone", "place_name"]

Words = dict[str, str]
"""`time`: for how long and until when; `what`: what is left alone."""


def left_alone(marks: Iterable[Line]) -> list[Words]:
    """Return the words of some marks of one refusal, those that end together in one: `for 1h, until 1h`, `D4s_v5: spot in eastus-1`."""
    by_time: dict[tuple[str, str], list[Line]] = {}
    for mark in marks:
        by_time.setdefault((duration_text(mark["until"] - mark["t"]), duration_text(mark["until"])), []).append(mark)
    return [
        {
            "time": f"for {lasting}" + (f", until {until}" if until != lasting else ""),
            "what": "; ".join(_texts(marks_of_time)),
        }
        for (lasting, until), marks_of_time in by_time.items()
    ]


def _texts(marks: Sequence[Line]) -> list[str]:
    """One for each set of offerings: a size and its family that are closed in the same places are told together."""
    places: dict[str, list[tuple[str, str]]] = {}
    for mark in marks:
        places.setdefault(_thing(mark), []).append((mark["capacity_type"], mark["zone"]))
    things: dict[str, list[str]] = {}
    for thing, offers in places.items():
        things.setdefault(_places(offers) if thing else _all_of(offers), []).append(thing)
    return [f"{' and '.join(filter(None, names))}: {where}" if any(names) else where for where, names in things.items()]


def _thing(mark: Line) -> str:
    """The size or family of a mark; nothing where all sizes are meant."""
    if mark.get("size"):
        return str(mark["size"]).removeprefix("Standard_")
    if not mark.get("family"):
        return ""
    vcpus = mark.get("vcpus", 0)
    return f"family {mark['family']} from {vcpus} vCPUs on" if vcpus > 0 else f"all of family {mark['family']}"


def _all_of(offers: Iterable[tuple[str, str]]) -> str:
    return " and ".join(
        f"all {capacity_type}, of every size in every zone" for capacity_type, _ in dict.fromkeys(offers)
    )


def _places(offers: Sequence[tuple[str, str]]) -> str:
    """`on-demand and spot in eastus-1 and without a zone`: capacity types with the same zones together."""
    zones: dict[str, dict[str, None]] = {}
    for capacity_type, zone in offers:
        zones.setdefault(capacity_type, {})[place_name(zone)] = None
    types: dict[str, list[str]] = {}
    for capacity_type, names in zones.items():
        types.setdefault(_listed(list(names)), []).append(capacity_type)
    return "; ".join(f"{' and '.join(names)} {where}" for where, names in types.items())


def _listed(names: Sequence[str]) -> str:
    *first, last = [
        name if name.startswith("without") or not place else name.removeprefix("in ")
        for place, name in enumerate(names)
    ]
    return f"{', '.join(first)} and {last}" if first else last


def place_name(zone: str) -> str:
    """`in eastus-1`; the zone `0`, and none in older releases, is a machine without a zone."""
    return "without a zone" if zone in ("", "0") else f"in {zone}"


def lane_name(mark: Line) -> str:
    """The lane of a mark: what it closes, without its zone."""
    thing = _thing(mark)
    return f"{thing}, {mark['capacity_type']}" if thing else f"all {mark['capacity_type']}, of every size in every zone"


def after_call(story: Story, call: Line) -> list[Line]:
    """The marks that a refused call led to; in a trace that does not say which call, those of its moment."""
    marks = story.facts("blocked")
    return [mark for mark in marks if (mark["call"] == call["number"] if mark.get("call") else mark["t"] == call["t"])]


def after_boot(story: Story, boot: Line) -> list[Line]:
    """The marks after a machine whose creation failed once it was accepted: the next ones about its size that no refused request led to."""
    refused = {key for call in story.facts("arm") if call["status"] >= 400 for key in (call["number"], call["t"])}
    marks = [
        mark
        for mark in story.facts("blocked")
        if mark["t"] >= boot["t"] and mark.get("call", mark["t"]) not in refused and _is_about(mark, boot["size"])
    ]
    return [mark for mark in marks if mark["t"] == marks[0]["t"] and mark.get("call") == marks[0].get("call")]


def _is_about(mark: Line, size: str) -> bool:
    return mark.get("size", "") in ("", size)
