"""The page of one world: its trace as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from harness.explain.sizes.filters import FILTER_WORDS
from harness.karpenter.scheduling.reasons.funnel import FILTERS
from harness.reports.picture.answers import (
    cost_steps,
    departures,
    gist,
    pending,
    refusals,
    rejections,
    runaways,
    spent,
    taken,
    unpriced,
    without_power,
)
from harness.reports.picture.asked import asked, claims_of, opens
from harness.reports.picture.corridor import blocked_lanes, claim_lanes, node_lanes, pod_lanes
from harness.reports.picture.labels import label_tables, source_words
from harness.reports.picture.machines import machines, moments
from harness.reports.picture.page import page
from harness.reports.picture.sizes import funnels, size_lists
from harness.reports.picture.story import Line, Story

__all__ = ["world_page", "world_value"]

_TOLD = 2000  # events and lines of the log that a page holds


def world_page(
    lines: Iterable[Line], title: str = "", notes: Sequence[str] = (), summary: Mapping[str, Any] | None = None
) -> str:
    """Return the document of one trace, given as its lines; `notes` say what is assumed and guessed in it.

    `summary` stands before all else: `lines` of text, and `fleets`, each with `when`, `nodes`, `usd` per hour and `sizes` in words.
    """
    value = {**world_value(lines), "notes": list(notes), **({"summary": dict(summary)} if summary else {})}
    return page(title or _title(value["header"]), {"page": "world", "world": value, "sources": source_words()})


def world_value(lines: Iterable[Line]) -> dict[str, Any]:
    """Return the data that the page draws, as JSON; only from the trace's lines."""
    story = Story.of(lines)
    end = story.facts("end")
    refused = refusals(story)
    events, tables, waiting, groups = _told(story), label_tables(story), pending(story, refused), asked(story)
    tried = [attempt["funnel"] for group in groups for attempt in group["tries"] if attempt["funnel"] is not None]
    world = {
        "header": dict(story.header),
        "outcome": end[-1]["outcome"] if end else "",
        "end": story.end,
        "expectations": [
            {key: value for key, value in fact.items() if key not in ("fact", "t")}
            for fact in story.facts("expectation")
        ],
        "pending": waiting,
        "refusals": refused,
        "rejections": rejections(story),
        "taken": taken(story),
        "runaways": runaways(story),
        "cost": cost_steps(story),
        "spent": spent(story),
        "unpriced": unpriced(story),
        "without_power": without_power(story),
        "lanes": [*claim_lanes(story), *node_lanes(story), *pod_lanes(story), *blocked_lanes(story)],
        "machines": machines(story),
        "requests": {fact["pod"]: fact["requests"] for fact in story.facts("pod") if fact.get("requests")},
        "moments": moments(story),
        "disruptions": [
            {key: value for key, value in fact.items() if key != "fact"} for fact in story.facts("disruption")
        ],
        "departures": departures(story),
        "filters": _filters(story),
        "sizes": size_lists(story),
        "funnels": funnels(story, tried),
        "asked": groups,
        "opens": opens(story, groups, waiting[0]["pods"][0] if waiting else ""),
        "claims": claims_of(story, groups),
        "labels": tables,
        "unlabelled": len({fact["node"] for fact in story.facts("label")}) - len(tables),
        "objects": _objects(story),
        "told": events[:_TOLD],
        "untold": max(0, len(events) - _TOLD),
    }
    return world | {"gist": gist(world)}


def _filters(story: Story) -> dict[str, str]:
    """Return the subject of each filter of a funnel; DaemonSets take room where there are any."""
    shared = any(fact["object"].startswith("DaemonSet/") for fact in story.facts("object"))
    room = {"resources": f"{FILTERS['resources']} beside DaemonSets"} if shared else {}
    return {**FILTER_WORDS, **FILTERS, **room}


def _title(header: Line) -> str:
    name = header.get("scenario", {}).get("name", "")
    return name or f"Karpenter {header['release']} in {header['region']}"


def _objects(story: Story) -> list[dict[str, Any]]:
    """The manifests as they were applied, as YAML."""
    return [
        {
            "t": fact["t"],
            "object": fact["object"],
            "verb": fact["verb"],
            "place": {"file": fact["file"], "line": fact["line"]} if fact.get("file") else None,
            "refused": list(fact.get("refused", ())),
            "text": yaml.safe_dump(fact["manifest"], sort_keys=False, width=110) if fact.get("manifest") else "",
        }
        for fact in story.facts("object")
    ]


def _told(story: Story) -> list[list[Any]]:
    """Events and the controllers' log in order of time: [t, source, level, about, text]."""
    events = [
        [fact["t"], "event", fact["type"], fact["object"], f"{fact['reason']}: {fact['message']}"]
        for fact in story.facts("event")
    ]
    logs = [
        [
            fact["t"],
            fact["controller"],
            fact["level"],
            "",
            " ".join([fact["message"], *(f"{key}={value}" for key, value in fact.get("values", {}).items())]),
        ]
        for fact in story.facts("log")
    ]
    return sorted([*events, *logs], key=lambda line: float(line[0]))
