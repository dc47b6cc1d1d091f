"""The files of a migration: manifests, the table of settings, and what else a folder gets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from shlex import join

from harness.migrate.judging.judgement import Judged
from harness.migrate.proposing.proposal import Proposal
from harness.migrate.proposing.rows import Row, Verdict
from harness.scenario.language.writing import objects_text
from harness.wording import counted
from plainlines import printable

__all__ = [
    "DOUBLED",
    "FILES",
    "MANIFESTS",
    "PATCHES",
    "SETTINGS",
    "STORY",
    "files_of",
    "manifests_text",
    "patches_text",
    "settings_text",
]

MANIFESTS = "nodepools.yaml"
SETTINGS = "settings.md"
PATCHES = "patches.sh"
STORY = "move.yaml"
DOUBLED = "without-taints.yaml"
FILES = (MANIFESTS, SETTINGS, PATCHES, STORY, DOUBLED)
"""Every name that a file of a migration may have."""


def files_of(
    proposal: Proposal, release: str, judged: Sequence[Judged] = (), story: str = "", doubled: str = ""
) -> Mapping[str, str]:
    """Return name and text of each file that a migration comes to."""
    patches = patches_text(judged)
    return {
        MANIFESTS: manifests_text(proposal),
        SETTINGS: settings_text(proposal, release),
        **({PATCHES: patches} if patches else {}),
        **({STORY: story} if story else {}),
        **({DOUBLED: doubled} if doubled else {}),
    }


def patches_text(judged: Sequence[Judged]) -> str:
    """Return the commands that give workloads their new lines, for a shell; empty where none needs one."""
    lines = [line for verdict in judged if (line := patch_command(verdict))]
    return "\n".join(["set -e", *lines, ""]) if lines else ""


def patch_command(verdict: Judged) -> str:
    """Return the command that gives a workload its new lines; empty where it needs none, or nobody can change its pods."""
    patch, workload = verdict.patch, verdict.running.workload
    if patch is None:
        return ""
    words = ["kubectl", "patch", workload.kind.lower(), workload.name, "-n", workload.namespace]
    return join([*words, "--type", "merge", "-p", json.dumps(patch)])


def manifests_text(proposal: Proposal) -> str:
    """Return the NodePools and AKSNodeClasses as a file for `kubectl apply`."""
    return objects_text(proposal.manifests)


def settings_text(proposal: Proposal, release: str) -> str:
    """Return the table of all settings as Markdown, those that are lost first."""
    return "\n".join([f"# What became of each setting, with provider {release}", "", *_sections(proposal)])


def _sections(proposal: Proposal) -> Iterator[str]:
    for verdict in (Verdict.NO_EQUIVALENT, Verdict.UNKNOWN, Verdict.MAPPED, Verdict.NO_EFFECT):
        rows = [row for row in proposal.rows if row.verdict is verdict]
        if rows:
            yield f"## {str(verdict).capitalize()}: {counted(len(rows), 'setting')}"
            yield ""
            yield from _table(rows)
            yield ""
    if proposal.staying:
        yield "## Agent pools that stay"
        yield ""
        yield from (f"- `{_cell(staying.pool.name)}`: {_cell(staying.why)}" for staying in proposal.staying)
        yield ""


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| agent pool | setting | value | what becomes of it | source |"
    yield "|---|---|---|---|---|"
    for row in rows:
        cells = (row.pool, row.field, row.value, row.text, row.source)
        yield "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("<", "&lt;")
