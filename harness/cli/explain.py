"""`harness explain`: why the pods of some manifests are where they are, or nowhere."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli.manifests import add_inputs
from harness.cli.output import add_forms, bad_input, no_environment, print_found, print_json, show
from harness.cli.pictures import add_html

if TYPE_CHECKING:
    from harness.explain.scheduling import PodExplanation
    from harness.reading.manifests import Manifest
    from harness.reports.annotations import Annotation
    from harness.world import World

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness explain`."""
    add_inputs(parser)
    parser.add_argument(
        "--pod", metavar="NAME", help="only these pods: a name, namespace/name, Deployment/web or StatefulSet/shop/db"
    )
    parser.add_argument(
        "--node",
        metavar="NAME",
        help="why this Node of a dump is not removed: Nodes, NodeClaims and pods count as they are",
    )
    parser.add_argument("--size", metavar="S", help="also everything about this VM size and its offerings")
    parser.add_argument("-v", "--verbose", action="store_true", help="every cause against every size, and every pod")
    add_html(parser)
    add_forms(parser)


def run(arguments: argparse.Namespace) -> int:
    """For each pod × NodePool: how many sizes each rule removes, Karpenter's sentence, and what would help.

    Without pods the sizes of each NodePool; 1 when one allows none.
    """
    from harness.cli.explain_node import explain_node
    from harness.cli.live import Environment, read_given
    from harness.cli.manifests import apply_manifests, bad_files, fails, inputs_given, settle, world_of
    from harness.cli.traces import recording_of, write_recording
    from harness.cli.worlds import InputError, check_size
    from harness.explain.guesses import guess_lines, guesses_of, of_choice, of_nodes, of_size
    from harness.explain.nodepools import nodepool_sizes, sizes_text, sizes_value
    from harness.explain.render import as_value
    from harness.explain.scheduling import Explainer
    from harness.explain.unused import inert_lines, refused_lines, unused_lines
    from harness.explain.workloads import named_pods
    from harness.kube.api.objects import name_of, namespace_of
    from harness.reading.problems import ScenarioError, did_you_mean

    if mistake := _asked_wrongly(arguments):
        return bad_input(f"harness explain: {mistake}")
    try:
        given = read_given(arguments)
        inputs = inputs_given(arguments, given)
        world = world_of(arguments, inputs)
        check_size(world, arguments.size)
        recording = recording_of(world, arguments, given.manifests)
        if arguments.node is not None:
            code = explain_node(world, given, arguments)
            write_recording(recording, arguments)
            return code
        explainer = Explainer(world)
        added = apply_manifests(world, given.manifests)
    except InputError as error:
        return bad_input(f"harness explain: {error}")
    except Environment as error:
        return no_environment(f"harness explain: {error}")
    except ScenarioError as error:
        return bad_files("explain", arguments, error)
    motion = settle(world)
    failed = fails(arguments, world, given, motion)
    everything = arguments.verbose or arguments.size is not None or arguments.format == "json"
    explained = explainer.pods(bound=everything)
    write_recording(recording, arguments, explained)
    refused = [*refused_lines(world)]
    pools = nodepool_sizes(world, explainer) if not explained and not refused and arguments.pod is None else []
    if arguments.pod is not None:
        pods = world.cluster.view.list("Pod")
        wanted = {f"{namespace_of(pod)}/{name_of(pod)}" for pod in named_pods(arguments.pod, pods)}
        names = [*(one.workload for one in explained), *(one.pod for one in explained)]
        explained = [one for one in explained if one.pod in wanted]
        if not explained:
            word = arguments.pod if "/" in arguments.pod else f"default/{arguments.pod}"
            hint = did_you_mean(word, names)
            return bad_input(f"harness explain: there is no pod {arguments.pod}" + (f"; {hint}" if hint else ""))
    unused = [*(unused_lines(world) if not pools else ()), *inert_lines(world), *refused]
    named = [size for pool in pools for size, _ in pool.sizes[:1]]
    asked = [arguments.size] if arguments.size else []
    changes = (change.size for one in explained for change in one.changes if change.size and not change.region)
    turns = [*(of_size(world, size) for size in asked), *(of_choice(world, size) for size in (*named, *changes))]
    guesses = guesses_of(world, [*turns, *of_nodes(world, {one.node for one in explained if one.node})])
    if arguments.format == "json":
        value = {
            "read": inputs.value(),
            "added": added,
            **given.value(),
            "unused": unused,
            "motion": motion or None,
            "pods": as_value(explained),
        }
        print_json({**value, **({"nodepools": sizes_value(pools)} if pools else {}), "guessed": guesses})
        return int(failed or any(not pool.sizes for pool in pools))
    if arguments.format != "text":
        print_found(_annotations(explained, given.manifests), arguments.format)
        return int(failed or any(not pool.sizes for pool in pools))
    for line in inputs.head(world):
        show(line)
    if added:
        print(f"added, because no file has one: {', '.join(added)}")
    for line in given.notes():
        show(line)
    told = {line for one in explained for line in one.waiting}
    for line in unused:
        if line not in told:
            show(line)
    if motion:
        show(motion)
    if pools:
        show(sizes_text(pools, arguments.size))
    else:
        _print(world, explained, arguments)
    for line in guess_lines(guesses, world.region):
        show(line)
    return int(failed or any(not pool.sizes for pool in pools))


def _asked_wrongly(arguments: argparse.Namespace) -> str:
    """What is wrong with the names that are asked for, without looking at the files."""
    for option, value, kind in (("--pod", arguments.pod, "pod"), ("--node", arguments.node, "Node")):
        if value == "":
            return f"{option}: the name of a {kind} is expected"
    if arguments.pod is not None and arguments.node is not None:
        return "--pod asks about a pod, --node about a Node of a dump: one of them"
    return ""


def _annotations(explained: Sequence[PodExplanation], manifests: Sequence[Manifest]) -> list[Annotation]:
    """Pods that no Node takes, at the pod or at what makes it, once for all that wait for the same."""
    from harness.reports.annotations import Annotation

    found: dict[tuple[str, str], Annotation] = {}
    for one in explained:
        if one.state != "pending":
            continue
        named = next(
            (each for each in manifests if each.is_named(one.workload) or each.is_named(f"Pod/{one.pod}")), None
        )
        mark = named.document.position(("metadata", "name")) if named is not None else None
        said = one.sentence or "; ".join(one.waiting)
        text = f"{one.workload or one.pod}: pending: {said.partition(', requirements=')[0]}"
        found.setdefault((one.workload or one.pod, text), Annotation("error", mark, "pending", text))
    return list(found.values())


def _print(world: World, explained: Sequence[PodExplanation], arguments: argparse.Namespace) -> None:
    """How many pods are where, what keeps the others away, and where the bound ones are; of a pod that is asked for why, too."""
    from harness.explain.render import as_text
    from harness.explain.summary import bound_lines, node_notes, pods_line

    show(pods_line(explained) if explained else "no pods")
    everything = arguments.verbose or arguments.size is not None
    told = [one for one in explained if everything or one.state != "bound"]
    if told:
        show("\n" + as_text(told, size=arguments.size, verbose=arguments.verbose))
    bound = [one for one in explained if one.state == "bound"]
    if bound and not everything:
        print()
        for line in bound_lines(world, bound):
            show(line)
    for line in node_notes(world) if arguments.pod is None else ():
        show(line)
