"""A live cluster in place of files: `--context` and `--kubeconfig`."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from harness.cli.given import read_files
from harness.cli.outside import checkout_given
from harness.cli.worlds import InputError
from harness.reading.documents import Document
from harness.reading.manifests import Manifest, manifests_of
from harness.reading.one_pass import Excerpt
from harness.reading.problems import Problem, ScenarioError
from harness.scenario.language.dumps import Dump
from harness.wording import counted

__all__ = ["Environment", "read_given"]


class Environment(Exception):
    """A need of the command that this machine does not meet, in one line: exit code 3."""


def read_given(arguments: argparse.Namespace, unknown: list[Problem] | None = None) -> Dump:
    """The objects of `FILE…` and of the live cluster; `unknown` as in `read_files`. Raises InputError, Environment, ScenarioError."""
    if not arguments.files and arguments.context is None and arguments.kubeconfig is None:
        raise InputError("FILE is expected, or --context NAME for a live cluster")
    manifests, notes, moment = _live(arguments)
    return read_files(arguments.files, manifests, notes, moment, unknown, checkout_given(arguments))


def _live(arguments: argparse.Namespace) -> tuple[tuple[Manifest, ...], tuple[str, ...], str]:
    """The objects of the cluster that the options name, a line for what could not be read, and when; nothing where they name none.

    A mistake stands in `CONTEXT/KIND/NAME` at the line and column of `kubectl get KIND NAME -o json`. Raises InputError, Environment,
    ScenarioError.
    """
    from harness.clusters.kubeconfig import ClientMissing, KubeconfigError, LiveCluster

    if arguments.context is None and arguments.kubeconfig is None:
        return (), (), ""
    option = "--kubeconfig" if arguments.kubeconfig is not None else "--context"
    manifests: list[Manifest] = []
    problems: list[Problem] = []
    try:
        cluster = LiveCluster(arguments.kubeconfig, arguments.context)
        try:
            for obj in cluster.objects():
                read, mistakes = manifests_of(_document(cluster.name, obj), in_scenario=False)
                manifests += read
                problems += mistakes
        finally:
            cluster.close()
    except (ClientMissing, KubeconfigError) as error:
        if isinstance(error, KubeconfigError) and not error.reached:
            raise InputError(f"{option}: {error}") from None
        raise Environment(f"{option}: {error}") from None
    if problems:
        raise ScenarioError(problems)
    counts = Counter(manifest.kind for manifest in manifests)
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
    lines = [
        f"read from context {cluster.name}: {counted(len(manifests), 'object')}" + (f" ({kinds})" if kinds else "")
    ]
    if cluster.forbidden:
        lines.append(f"not read, because context {cluster.name} may not: {', '.join(cluster.forbidden)}")
    return tuple(manifests), tuple(lines), cluster.moment


def _document(context: str, obj: Mapping[str, Any]) -> Document:
    metadata = obj["metadata"]
    name = f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else metadata["name"]
    text = json.dumps(obj, indent=4, sort_keys=True, ensure_ascii=False)
    return Document(f"{context}/{obj['kind']}/{name}", Excerpt(text, 0, len(text)), obj)
