"""`harness explain`: why the pods of some manifests are where they are, or nowhere."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from harness.cli.manifests import add_inputs
from harness.cli.output import add_format, bad_input, print_json, show
from harness.kube.api.labels import INSTANCE_TYPE

if TYPE_CHECKING:
    from harness.explain.scheduling import PodExplanation
    from harness.world import World

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness explain`."""
    add_inputs(parser)
    parser.add_argument("--pod", metavar="NAME", help="only this pod: name or namespace/name")
    parser.add_argument("--size", metavar="S", help="also everything about this VM size and its offerings")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """For each pod × NodePool: how many sizes each rule removes, Karpenter's sentence, and what would help.

    Without pods the sizes of each NodePool; 1 when one allows none.
    """
    from harness.cli.given import read_files
    from harness.cli.manifests import apply_manifests, settle, world_of
    from harness.cli.worlds import InputError, check_size
    from harness.explain.guesses import guess_lines, guesses_of
    from harness.explain.nodepools import nodepool_sizes, sizes_text, sizes_value
    from harness.explain.render import as_text, as_value
    from harness.explain.scheduling import Explainer
    from harness.scenario.reading.problems import ScenarioError, did_you_mean

    try:
        given = read_files(arguments.files)
        world = world_of(arguments)
        check_size(world, arguments.size)
        explainer = Explainer(world)
        added = apply_manifests(world, given.manifests)
    except InputError as error:
        return bad_input(f"harness explain: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    motion = settle(world)
    explained = explainer.pods()
    pools = nodepool_sizes(world, explainer) if not explained and arguments.pod is None else []
    if arguments.pod is not None:
        names = {one.pod for one in explained}
        wanted = arguments.pod if "/" in arguments.pod else f"default/{arguments.pod}"
        explained = [one for one in explained if one.pod == wanted]
        if not explained:
            hint = did_you_mean(wanted, names)
            return bad_input(f"harness explain: there is no pod {arguments.pod}" + (f"; {hint}" if hint else ""))
    named = [size for pool in pools for size, _ in pool.sizes[:1]]
    guesses = guesses_of(world, [*named, *_sizes(world, explained, arguments.size)])
    if arguments.format == "json":
        value = {"added": added, **given.value(), "motion": motion or None, "pods": as_value(explained)}
        print_json({**value, **({"nodepools": sizes_value(pools)} if pools else {}), "guessed": guesses})
        return int(any(not pool.sizes for pool in pools))
    if added:
        print(f"added, because no file has one: {', '.join(added)}")
    for line in given.notes():
        show(line)
    if motion:
        show(motion)
    if pools:
        show(sizes_text(pools, arguments.size))
    else:
        show(as_text(explained, size=arguments.size) if explained else "no pods")
    for line in guess_lines(guesses):
        show(line)
    return int(any(not pool.sizes for pool in pools))


def _sizes(world: World, explained: Sequence[PodExplanation], size: str | None) -> Iterator[str]:
    """The sizes that the explanation names: those of the pods' Nodes, of the changes, and the one that was asked about."""
    key = INSTANCE_TYPE
    yield from ([size] if size else ())
    for one in explained:
        yield from (change.size for change in one.changes)
        node = world.get("Node", one.node) if one.node else None
        yield from ([node["metadata"]["labels"][key]] if node and key in node["metadata"].get("labels", {}) else ())
