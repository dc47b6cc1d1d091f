"""The files that `harness migrate` is given: descriptions of agent pools apart from objects of the cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.given import STDIN
from harness.cli.output import display_name
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.cli.mistakes import Mistakes
    from harness.migrate.agent_pools import ManagedCluster
    from harness.reading.documents import Document
    from harness.scenario.language.dumps import Dump

__all__ = ["Files", "read_pool_files"]

_NO_POOL = (
    "no file describes an agent pool, and no Node is of one; `az aks show -g GROUP -n NAME -o json` prints a cluster's"
)
EXPECTED_POOLS = "standard input may describe agent pools; objects of the cluster come in files"


@dataclass(frozen=True, slots=True)
class Files:
    """`cluster` has the agent pools; `dump` the objects, none where no file has any; `from_nodes`: the pools are those of Nodes."""

    cluster: ManagedCluster
    dump: Dump
    from_nodes: bool


def read_pool_files(arguments: argparse.Namespace, mistakes: Mistakes) -> Files | None:
    """Return what the files, standard input and the live cluster hold; None where they have mistakes, which are collected.

    Raises Environment.
    """
    from harness.cli.live import read_given
    from harness.migrate.reading.nodes import cluster_of_nodes
    from harness.scenario.language.dumps import Dump

    before = len(mistakes)
    described, others, problems = _sorted_files(arguments)
    mistakes.add(*problems)
    dump, cluster = Dump(()), None
    if others or arguments.context is not None or arguments.kubeconfig is not None:
        with mistakes.collected():
            dump = read_given(argparse.Namespace(**{**vars(arguments), "files": others}), [])
    if described:
        cluster = _described(described, mistakes)
    if len(mistakes) > before:
        return None
    if cluster is not None:
        return Files(cluster, dump, from_nodes=False)
    cluster = cluster_of_nodes((*dump.manifests, *dump.derived))
    if not cluster.pools:
        mistakes.add(_NO_POOL)
        return None
    return Files(cluster, dump, from_nodes=True)


def _described(documents: Sequence[Document], mistakes: Mistakes) -> ManagedCluster | None:
    """Return the cluster that documents describe, among which may be files of parameters; None where there are none but these."""
    from harness.migrate.reading.clusters import described_cluster
    from harness.migrate.reading.shapes import is_parameter_file
    from harness.reading.problems import Problem

    parameters: dict[str, Any] = {}
    for document in documents:
        if is_parameter_file(document.value):
            values = document.value.get("parameters") or {}
            if isinstance(values, Mapping):
                parameters |= values
            else:
                mistakes.add(Problem(document.position(("parameters",)), "parameters", "a map is expected"))
    pools = [document for document in documents if not is_parameter_file(document.value)]
    with mistakes.collected():
        return described_cluster(pools, _evaluator(parameters)) if pools else None
    return None


def _sorted_files(arguments: argparse.Namespace) -> tuple[list[Document], list[Path], list[Any]]:
    """The documents that describe pools, the paths of all other files, and what is wrong with the first."""
    from harness.migrate.reading.shapes import looks_described
    from harness.reading.documents import documents, read_stream, read_text
    from harness.reading.problems import Mark, Problem, ScenarioError

    described: list[Document] = []
    others: list[Path] = []
    problems: list[Problem] = []
    for path in arguments.files:
        if path.is_dir():
            others.append(path)
            continue
        try:
            name = "stdin" if path == STDIN else display_name(path)
            text = read_stream(sys.stdin.buffer, name) if path == STDIN else read_text(path, name)
        except ScenarioError as error:
            problems += error.problems
            continue
        if not looks_described(text):
            if path == STDIN:
                problems.append(Problem(Mark(name, 1, 1), "", "there is no agent pool in it", EXPECTED_POOLS))
            else:
                others.append(path)
            continue
        parsed, issues = documents(text, name)
        problems += issues
        described += parsed
    return described, others, problems


def _evaluator(parameters: Mapping[str, Any]) -> Any:
    """Evaluates ARM templates with the values of parameter files. What Azure would refuse is InputError."""

    def resources(template: Mapping[str, Any]) -> Sequence[tuple[str, str, Mapping[str, Any]]]:
        from harness.cli.arm_templates import TemplateError, template_resources
        from harness.cli.worlds import InputError

        try:
            return template_resources(template, parameters)
        except TemplateError as error:
            hint = "a file of parameters may be given beside the template"
            raise InputError(
                f"the template: {error}" + (f"; {hint}" if "is not provided" in str(error) else "")
            ) from None

    return resources
