"""`harness explain`: why the pods of some manifests are where they are, or nowhere."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.cli.explain_options import mistake_of
from harness.cli.lint import add_allow, allowed_codes, show_warnings, warnings_of, warnings_value
from harness.cli.manifests import add_inputs
from harness.cli.output import (
    add_forms,
    bad_input,
    no_environment,
    print_found,
    print_json,
    show,
    show_text,
    write_found,
)
from harness.cli.pictures import add_html
from harness.cli.repeating import add_watch, answered
from plainlines import print_line, printable

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs
    from harness.explain.pods.nodepools import NodePoolSizes
    from harness.explain.pods.scheduling import PodExplanation
    from harness.reading.manifests import Manifest
    from harness.reports.annotations import Annotation
    from harness.scenario.language.dumps import Dump
    from harness.trace.recorder import Recording
    from harness.world import World

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness explain`."""
    add_inputs(parser)
    parser.add_argument(
        "--pod", metavar="NAME", help="only these pods: a name, namespace/name, Deployment/web or StatefulSet/shop/db"
    )
    parser.add_argument(
        "--node",
        metavar="NAME",
        help="why this Node of a dump is not removed: Nodes, NodeClaims and pods count as they are",
    )
    parser.add_argument("--about", help=argparse.SUPPRESS)  # of kubectl's plugin: a pod, or else a Node
    parser.add_argument("--size", metavar="S", help="also everything about this VM size and its offerings")
    parser.add_argument(
        "--prices",
        action="store_true",
        help="only the sizes of the region for which Karpenter may believe another price than Azure bills; no files are read",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="every cause against every size, and every pod")
    add_watch(parser)
    add_html(parser)
    add_allow(parser)
    add_forms(parser)


def run(arguments: argparse.Namespace) -> int:
    """For each pod × NodePool: how many sizes each rule removes, Karpenter's sentence, and what would help.

    Without pods the sizes of each NodePool; 1 when one allows none.
    """
    return answered("explain", arguments, _answer)


def _answer(arguments: argparse.Namespace) -> int:
    from harness.cli.live import Environment, read_given
    from harness.cli.manifests import bad_files
    from harness.cli.worlds import InputError
    from harness.reading.problems import ScenarioError

    if mistake := mistake_of(arguments):
        return bad_input(printable(f"harness explain: {mistake}"))
    try:
        if arguments.prices:
            from harness.cli.price_risks import show_price_risks

            return show_price_risks(arguments)
        dump = read_given(arguments)
        arguments, anew = _asked(arguments, dump)
        answer = _of_node(arguments, dump) if arguments.node is not None else _of_pods(arguments, dump, anew)
    except InputError as error:
        return bad_input(f"harness explain: {error}")
    except Environment as error:
        return no_environment(f"harness explain: {error}")
    except ScenarioError as error:
        return bad_files("explain", arguments, error)
    if isinstance(answer, int):
        return answer
    write_found(answer.annotations, arguments.markdown)
    if arguments.format == "json":
        print_json(answer.value())
    elif arguments.format != "text":
        print_found(answer.annotations(), arguments.format)
    else:
        _show(answer, arguments)
    return int(answer.failed or any(not pool.sizes for pool in answer.pools))


@dataclass(frozen=True, slots=True)
class _Found:
    """The facts about the pods of some files, or, where there are none, about the NodePools."""

    world: World
    given: Dump
    anew: str
    inputs: Inputs
    added: list[str]
    motion: str
    failed: bool
    explained: Sequence[PodExplanation]
    pools: Sequence[NodePoolSizes]
    unused: list[str]
    guesses: dict[str, dict[str, str]]
    differences: list[str]
    """The pods that are bound here and not in the dump, or the other way round."""
    warned: list[Annotation]

    def annotations(self) -> list[Annotation]:
        """Return the reasons of pending pods and the warnings, at their places, and what is not simulated."""
        from harness.reports.annotations import annotations_of_notes
        from harness.scenario.language.dumps import not_simulated_lines

        left_out = annotations_of_notes(not_simulated_lines(self.given.not_simulated))
        return [*_annotations(self.explained, self.given.manifests), *self.warned, *left_out]

    def value(self) -> dict[str, Any]:
        """For JSON."""
        from harness.explain.pods.nodepools import sizes_value
        from harness.explain.pods.render import as_value

        return {
            "read": self.inputs.value(),
            "added": self.added,
            **self.given.value(),
            "differences": self.differences,
            "unused": self.unused,
            "motion": self.motion or None,
            "pods": as_value(self.explained),
            **({"nodepools": sizes_value(self.pools)} if self.pools else {}),
            "guessed": self.guesses,
            "warnings": warnings_value(self.warned),
        }


def _of_node(arguments: argparse.Namespace, dump: Dump) -> int:
    """Print why a Node stays; return the exit code. Raises InputError, ScenarioError."""
    from harness.cli.explain_node import explain_node
    from harness.cli.traces import write_recording

    inputs, world, recording = _world(arguments, dump)
    code = explain_node(world, dump, inputs, arguments)
    write_recording(recording, arguments)
    return code


def _world(arguments: argparse.Namespace, dump: Dump) -> tuple[Inputs, World, Recording | None]:
    """Return the inputs of the files, and an empty world for them. Raises InputError, ScenarioError."""
    from harness.cli.manifests import inputs_given, world_of
    from harness.cli.traces import recording_of
    from harness.cli.worlds import check_size

    inputs = inputs_given(arguments, dump)
    world = world_of(arguments, inputs)
    check_size(world, arguments.size)
    return inputs, world, recording_of(world, arguments, dump.manifests)


def _of_pods(arguments: argparse.Namespace, dump: Dump, anew: str) -> _Found:
    """Return the answer about the pods of the files; `anew` is `_asked`'s line. Raises InputError, ScenarioError."""
    from harness.cli.dump_differences import binding_differences
    from harness.cli.manifests import apply_manifests, fails, settle
    from harness.cli.traces import write_recording
    from harness.explain.pods.nodepools import nodepool_sizes
    from harness.explain.pods.scheduling import Explainer
    from harness.explain.pods.summary import node_notes
    from harness.explain.pods.unused import inert_lines, refused_lines, unused_lines
    from harness.explain.sizes.guesses import guess_lines
    from harness.scenario.language.dumps import not_simulated_lines

    allowed = allowed_codes(arguments)
    inputs, world, recording = _world(arguments, dump)
    explainer = Explainer(world)
    added = apply_manifests(world, dump.manifests)
    motion = settle(world)
    failed = fails(arguments, world, dump, motion)
    everything = arguments.verbose or arguments.size is not None or arguments.format == "json"
    explained = everyone = explainer.pods(bound=everything)
    refused = [*refused_lines(world)]
    pools = nodepool_sizes(world, explainer) if not explained and not refused and arguments.pod is None else []
    if arguments.pod is not None:
        explained = _named(world, explained, arguments.pod)
    guesses = _guesses(world, explained, pools, arguments.size)
    left_out = not_simulated_lines(dump.not_simulated)
    notes = [*inputs.notes(world), *left_out, *guess_lines(guesses, world.region), *node_notes(world)]
    write_recording(recording, arguments, everyone, notes)
    return _Found(
        world=world,
        given=dump,
        anew=anew,
        inputs=inputs,
        added=added,
        motion=motion,
        failed=failed,
        explained=explained,
        pools=pools,
        unused=[*(unused_lines(world) if not pools else ()), *inert_lines(world), *refused],
        guesses=guesses,
        differences=binding_differences(dump, world),
        warned=warnings_of(dump.manifests, lambda: world, allowed) if arguments.pod is None else [],
    )


def _named(world: World, explained: Sequence[PodExplanation], name: str) -> list[PodExplanation]:
    """The pods that `--pod` asks for. Raises InputError where there are none."""
    from harness.cli.worlds import InputError
    from harness.explain.pods.workloads import named_pods
    from harness.kube.api.objects import name_of, namespace_of
    from harness.reading.problems import did_you_mean

    wanted = {f"{namespace_of(pod)}/{name_of(pod)}" for pod in named_pods(name, world.view.list("Pod"))}
    if matching := [pod for pod in explained if pod.pod in wanted]:
        return matching
    word = name if "/" in name else f"default/{name}"
    hint = did_you_mean(word, [*(pod.workload for pod in explained), *(pod.pod for pod in explained)])
    raise InputError(f"there is no pod {name}" + (f"; {hint}" if hint else ""))


def _guesses(
    world: World, explained: Sequence[PodExplanation], pools: Sequence[NodePoolSizes], size_asked: str | None
) -> dict[str, dict[str, str]]:
    """The facts about the mentioned sizes that are guesses."""
    from harness.explain.sizes.guesses import guesses_of, of_choice, of_nodes, of_size

    named = [size for pool in pools for size, _ in pool.sizes[:1]]
    changes = (change.size for pod in explained for change in pod.changes if change.size and not change.region)
    chosen = (of_choice(world, size) for size in (*named, *changes))
    turns = [*([of_size(world, size_asked)] if size_asked else ()), *chosen]
    return guesses_of(world, [*turns, *of_nodes(world, {pod.node for pod in explained if pod.node})])


def _show(answer: _Found, arguments: argparse.Namespace) -> None:
    """In words."""
    from harness.cli.manifests import show_head
    from harness.explain.pods.nodepools import sizes_text
    from harness.explain.sizes.guesses import guess_lines

    lines = {line for pod in answer.explained for line in pod.waiting}
    unused = [*([answer.anew] if answer.anew else []), *(line for line in answer.unused if line not in lines)]
    show_head(answer.differences, answer.inputs.head(answer.world), answer.added, answer.given, unused)
    if answer.motion:
        show_text(answer.motion)
    if answer.pools:
        show_text(sizes_text(answer.pools, arguments.size))
    else:
        _print(answer.world, answer.explained, arguments)
    for line in guess_lines(answer.guesses, answer.world.region):
        show(line)
    show_warnings(answer.warned)


def _asked(arguments: argparse.Namespace, dump: Dump) -> tuple[argparse.Namespace, str]:
    """The arguments with `pod` or `node` as the world will know what is asked about, and a line where that is not as it was asked.

    `--about` is the Node of the name if there is one and no such pod, else a pod. A pod whose controller is given is made anew under
    another name, so that the question is about all pods of its workload.
    """
    from harness.explain.pods.workloads import named_pods
    from harness.kube.api.objects import name_of
    from harness.scenario.language.dumps import origin_of

    def about(**answer: str) -> argparse.Namespace:
        return argparse.Namespace(**{**vars(arguments), **answer})

    word = arguments.about or arguments.pod
    if word is None:
        return arguments, ""
    everything = [*dump.manifests, *dump.derived, *dump.finished]
    pods = named_pods(word, [manifest.object for manifest in everything if manifest.kind == "Pod"])
    name = word.rpartition("/")[2]
    nodes = [manifest for manifest in everything if manifest.kind == "Node" and manifest.name == name]
    if arguments.about and not pods and nodes:
        return about(node=name), ""
    same_name = (manifest for manifest in dump.derived if manifest.name == name)
    derived = next((manifest for manifest in same_name if any(manifest.object is pod for pod in pods)), None)
    origin = origin_of(derived, dump) if derived is not None else None
    if derived is None or origin is None:
        return about(pod=word), ""
    line = f"Pod {name_of(derived.object)} is made anew by {origin.kind} {origin.name}, as all its pods are"
    return about(pod=f"{origin.kind}/{origin.namespace or 'default'}/{origin.name}"), line


def _annotations(explained: Sequence[PodExplanation], manifests: Sequence[Manifest]) -> list[Annotation]:
    """Pods that no Node takes, at the pod or at what makes it, once for all that wait for the same."""
    from harness.reports.annotations import Annotation

    listed: dict[tuple[str, str], Annotation] = {}
    for pod in explained:
        if pod.state != "pending":
            continue
        names = (pod.workload, f"Pod/{pod.pod}")
        named = next((manifest for manifest in manifests if any(map(manifest.is_named, names))), None)
        mark = named.document.position(("metadata", "name")) if named is not None else None
        sentence = pod.sentence or "; ".join(pod.waiting)
        text = f"{pod.workload or pod.pod}: pending: {sentence.partition(', requirements=')[0]}"
        listed.setdefault((pod.workload or pod.pod, text), Annotation("error", mark, "pending", text))
    return list(listed.values())


def _print(world: World, explained: Sequence[PodExplanation], arguments: argparse.Namespace) -> None:
    """Print how many pods are where, the causes against the others, and where the bound ones are; of a pod that is asked for why, too."""
    from harness.explain.pods.render import as_text
    from harness.explain.pods.summary import bound_lines, node_notes, pods_line

    show(pods_line(explained) if explained else "no pods")
    everything = arguments.verbose or arguments.size is not None
    shown = [pod for pod in explained if everything or pod.state != "bound"]
    if shown:
        print_line()
        show_text(as_text(shown, size=arguments.size, verbose=arguments.verbose))
    bound = [pod for pod in explained if pod.state == "bound"]
    if bound and not everything:
        print_line()
        for line in bound_lines(world, bound):
            show(line)
    for line in node_notes(world) if arguments.pod is None else ():
        show(line)
