"""The page of `harness upgrade-check`: what changes, what becomes of nodes that run, and what comes of the manifests on either side."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from harness.outputs import write_text

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs
    from harness.cli.moves import Moves
    from harness.explain.upgrade import Finding
    from harness.reading.manifests import Manifest
    from harness.reading.problems import Mark
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = ["TITLES", "mark_of_finding", "place_of_finding", "running_nodes", "write_page"]

TITLES = {"worse": "for the worse", "changed": "changed", "better": "for the better", "same": "as before"}
"""The title of each effect, the gravest first."""


def write_page(
    arguments: argparse.Namespace,
    worlds: Sequence[World],
    dump: Dump,
    findings: Sequence[Finding],
    inputs: Inputs,
    running: Sequence[str],
) -> None:
    """The findings first, with what becomes of running nodes, then what comes of the manifests in the worlds of both releases."""
    from harness.cli.manifests import apply_manifests, settle
    from harness.cli.traces import recording_of
    from harness.explain.pods.summary import world_notes
    from harness.reading.problems import ScenarioError
    from harness.reports.picture.compare import Differing, Pair, compare_page
    from harness.scenario.language.dumps import not_simulated_lines

    manifests = dump.manifests
    stories = []
    notes: dict[str, None] = {}
    for world in worlds:
        recording = recording_of(world, arguments, manifests)
        with suppress(ScenarioError):  # what one release refuses is among the findings, and in its story
            apply_manifests(world, manifests)
        settle(world)
        assert recording is not None
        notes |= dict.fromkeys([*inputs.lines(), *not_simulated_lines(dump.not_simulated), *world_notes(world)])
        stories.append(list(recording.trace().to_json()))
    order = list(TITLES)
    differing = [
        Differing(
            TITLES[str(finding.effect)],
            f"{finding.object} {place_of_finding(finding, manifests)}".removesuffix(f" {finding.object}"),
            *_sides(finding),
            finding.text,
            (*(f"instead: {text}" for text in finding.instead), *finding.notes),
            grave=str(finding.effect) == "worse",
        )
        for finding in sorted(findings, key=lambda finding: order.index(str(finding.effect)))
        if str(finding.effect) != "same"
    ]
    title = "Upgrade from {} to {}".format(*(world.release.version for world in worlds))
    ran = any(line.get("fact") in ("pod", "claim", "node") for story in stories for line in story)
    nothing = "" if ran else "No pods were given: nothing ran, no cost is known."
    before, after = (f"{story[0]['release']}, Kubernetes {story[0]['kubernetes']}" for story in stories)
    text = compare_page(
        title, (before, after), [Pair("", stories[0], stories[1], differing, list(notes), running, nothing)]
    )
    write_text(arguments.html, text)


def _sides(finding: Finding) -> tuple[str, str]:
    """Return a finding's words about before and after."""
    if finding.kind == "label" and finding.before is None and finding.after is not None:
        return "no label", f"new label: {finding.after}"
    if finding.kind == "label" and finding.after is None and finding.before is not None:
        return finding.before, "no label"
    if finding.kind == "sizes":
        return finding.before or "does not allow them", finding.after or "does not allow them"
    return finding.before or "", finding.after or ""


def running_nodes(
    findings: Sequence[Finding], moves: Moves | None, missing: Sequence[str], kubernetes: str
) -> list[str]:
    """Return the sentences about the running nodes: whose hash makes them drift, and, where it was asked, what a new
    `kubernetes` moves.
    """
    drifted = [finding.object for finding in findings if finding.kind == "hash" and finding.effect == "worse"]
    anew = [finding for finding in findings if finding.kind == "hash" and finding.effect != "worse"]
    if drifted:
        sentence = f"Nodes that run drift and are replaced: those of {', '.join(drifted)}, whose hash changes."
    else:
        why = "Karpenter writes the hashes anew, with another version" if anew else "no hash of these objects changes"
        sentence = f"No node that runs drifts for its hash: {why}."
    if moves is None:
        return [sentence]
    left_out = (f"left out, {line}" for line in missing)
    return [sentence, f"Then the control plane is upgraded to Kubernetes {kubernetes}.", *left_out, *moves.sentences()]


def mark_of_finding(finding: Finding, manifests: Sequence[Manifest]) -> Mark | None:
    """Return the place of a finding's subject."""
    manifest = next((manifest for manifest in manifests if f"{manifest.kind}/{manifest.name}" == finding.object), None)
    return manifest.document.position(finding.pointer) if manifest is not None else None


def place_of_finding(finding: Finding, manifests: Sequence[Manifest]) -> str:
    """``file:line:col`` of what a finding is about."""
    mark = mark_of_finding(finding, manifests)
    return str(mark) if mark is not None else finding.object
