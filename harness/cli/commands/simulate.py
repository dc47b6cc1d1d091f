"""`harness simulate`: manifests in; the plan, its price and the reasons out."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.manifests import add_inputs
from harness.cli.output import add_format, bad_input, no_environment, print_json, show, show_text, virtual
from harness.cli.pictures import add_html
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.wording import counted, first_few
from plainlines import print_line, printable

if TYPE_CHECKING:
    from fakeazure.journal import Call
    from harness.cli.assumptions import Inputs
    from harness.cli.moves import Moves
    from harness.explain.pods.scheduling import Explainer, PodExplanation
    from harness.scenario.language.dumps import Dump
    from harness.trace.recorder import Recording
    from harness.world import World

__all__ = ["add_arguments", "run"]

FEW = 5  # refusals that are listed one by one
MANY = 20  # nodes from which on they are counted by kind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness simulate`."""
    add_inputs(parser)
    parser.add_argument(
        "--until",
        metavar="TIME",
        help="then virtual time passes, for example 72h, or `settled`: until an hour passes in which nothing changes",
    )
    parser.add_argument(
        "--trace", type=Path, metavar="FILE", help="write what happened: JSON lines, compressed if the name ends in .gz"
    )
    add_html(parser)
    parser.add_argument(
        "--live", action="store_true", help="first a film of what happens, on a terminal; elsewhere the story in text"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="every node, and every cause against every size")
    add_format(parser)


@dataclass(frozen=True, slots=True)
class _Simulated:
    """A world at the end of a simulation, and what was done on the way there."""

    world: World
    given: Dump
    inputs: Inputs
    recording: Recording | None
    explainer: Explainer
    added: list[str]
    """Objects that no file has, and that were added."""
    motion: str
    """The reason why it does not come to rest; empty when it does."""
    started: list[str]
    """Startup taints that were removed."""
    differences: list[str]
    """The pods that are bound here and not in the dump, or the other way round."""
    moves: Moves | None
    missing: list[str]
    """Nodes of the files for which there is no machine."""

    def pending(self) -> list[PodExplanation]:
        """Return the explanations of the pods without a Node."""
        pods = self.world.view.list("Pod")
        return [self.explainer.pod(pod) for pod in pods if not pod.get("spec", {}).get("nodeName")]


def run(arguments: argparse.Namespace) -> int:
    """Print the Nodes that Karpenter makes, their cost, and why pods stay pending."""
    from harness.cli.costs import cost_lines
    from harness.cli.durations import duration_of
    from harness.cli.live import Environment
    from harness.cli.manifests import bad_files, fails
    from harness.cli.traces import write_recording
    from harness.cli.worlds import InputError
    from harness.explain.pods.render import as_value
    from harness.explain.pods.summary import node_notes
    from harness.explain.sizes.guesses import guess_lines
    from harness.garbage import NothingToFind
    from harness.reading.problems import ScenarioError
    from harness.scenario.language.dumps import not_simulated_lines

    try:
        seconds = duration_of(arguments.until) if arguments.until is not None else None
    except ValueError as error:
        return bad_input(printable(f"harness simulate: --until: {error}"))
    try:
        with NothingToFind():
            done = _simulated(arguments, seconds)
    except InputError as error:
        return bad_input(f"harness simulate: {error}")
    except Environment as error:
        return no_environment(f"harness simulate: {error}")
    except ScenarioError as error:
        return bad_files("simulate", arguments, error)
    code = int(fails(arguments, done.world, done.given, done.motion))
    pending = done.pending()
    value = _value(done, pending)
    costs = [*cost_lines(value["cost"])]
    guesses = guess_lines(value["guessed"], value["region"])
    left_out = not_simulated_lines(done.given.not_simulated)
    notes = [*done.inputs.notes(done.world), *left_out, *costs[1:], *_price_notes(value)]
    notes = [*costs[:1], *notes, *guesses, *node_notes(done.world)]  # what it costs is no assumption
    write_recording(done.recording, arguments, pending, notes)
    if arguments.format == "json":
        print_json({**value, "pending": as_value(pending)})
    else:
        _show(done, value, pending, verbose=arguments.verbose)
    return code


def _simulated(arguments: argparse.Namespace, seconds: float | None) -> _Simulated:
    """The files applied, and `seconds` passed if `--until` is given. Raises InputError, Environment, ScenarioError."""
    from harness.cli.adoption import Adoption, managed_nodes
    from harness.cli.dump_differences import binding_differences
    from harness.cli.live import read_given
    from harness.cli.manifests import apply_manifests, inputs_given, settle, world_of
    from harness.cli.moves import moves_until
    from harness.cli.traces import recording_of
    from harness.explain.pods.scheduling import Explainer
    from harness.world.startup import end_startup

    dump = read_given(arguments)
    inputs = inputs_given(arguments, dump)
    world = world_of(arguments, inputs)
    explainer = Explainer(world)
    recording = recording_of(world, arguments, dump.manifests)
    adoption = Adoption(world, dump) if arguments.until is not None and managed_nodes(dump) else None
    if adoption is not None:
        added, motion = adoption.apply(dump.manifests)
    else:
        added, motion = apply_manifests(world, dump.manifests), settle(world)
    return _Simulated(
        world=world,
        given=dump,
        inputs=inputs,
        recording=recording,
        explainer=explainer,
        added=added,
        motion=motion,
        started=[] if motion else end_startup(world),
        differences=binding_differences(dump, world),
        moves=moves_until(world, seconds, known_runaway=bool(motion)) if arguments.until is not None else None,
        missing=adoption.missing if adoption is not None else [],
    )


def _value(done: _Simulated, pending: Sequence[PodExplanation]) -> dict[str, Any]:
    """Return the result as JSON has it, but for the reasons of the pending pods."""
    from harness.cli.costs import cost_value
    from harness.explain.pods.unused import inert_lines, refused_lines, unused_lines
    from harness.explain.sizes.guesses import guesses_of, of_choice, of_nodes
    from harness.world.costs.prices import totals

    world, pods = done.world, done.world.view.list("Pod")
    nodes, prices = _nodes(world, pods), totals(world)
    changes = (change for pod in pending for change in pod.changes if change.size and not change.region)
    turns = [*of_nodes(world, {node["name"] for node in nodes}), *(of_choice(world, change.size) for change in changes)]
    return {
        "region": world.region,
        "release": world.release.version,
        "kubernetes": world.kubernetes,
        "provision_mode": str(world.options.provision_mode),
        **({"spot_discount": world.spot_discount} if world.spot_discount else {}),
        "read": done.inputs.value(),
        "added": done.added,
        "startup_taints_removed": done.started,
        **done.given.value(),
        "differences": done.differences,
        "unused": [*unused_lines(world), *inert_lines(world), *refused_lines(world)],
        "nodes": nodes,
        "nodeclaims": [_nodeclaim(claim) for claim in world.list("NodeClaim")],
        "guessed": guesses_of(world, turns),
        "pods": {"bound": len(pods) - len(pending), "pending": len(pending)},
        "price_per_hour": round(prices.existing + prices.new, 6),
        "cost": cost_value(world),
        "prices": {name: round(fact, 6) if isinstance(fact, float) else fact for name, fact in asdict(prices).items()},
        "seconds": world.clock.seconds,
        "refused_by_azure": [_refusal(call) for call in world.refused_calls()],
        "motion": done.motion or None,
        **({"until": {**done.moves.value(), "without_machine": done.missing}} if done.moves is not None else {}),
    }


def _show(done: _Simulated, value: Mapping[str, Any], pending: Sequence[PodExplanation], *, verbose: bool) -> None:
    """The same in words."""
    from harness.cli.manifests import show_head
    from harness.explain.pods.render import as_text
    from harness.explain.pods.summary import node_notes

    world = done.world
    lines = {line for pod in pending for line in pod.waiting}
    show_head(
        done.differences,
        done.inputs.head(world),
        done.added,
        done.given,
        [line for line in value["unused"] if line not in lines],
    )
    if done.started:
        show(f"startup taints removed, as by those for whom they are: {', '.join(done.started)}")
    _print(value, world.refused_calls(), verbose=verbose)
    moves = done.moves.lines() if done.moves is not None else ()
    for line in (*(f"left out, {line}" for line in done.missing), *moves, *node_notes(world)):
        show(line)
    if pending:
        print_line()
        show_text(as_text(pending, verbose=verbose))


def _nodes(world: World, pods: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    from harness.kube.api.objects import name_of, namespace_of

    bound: dict[str, list[str]] = {}
    for pod in pods:
        bound.setdefault(pod.get("spec", {}).get("nodeName") or "", []).append(f"{namespace_of(pod)}/{name_of(pod)}")
    rows = []
    for node in world.list("Node"):
        labels = node["metadata"].get("labels") or {}
        name = node["metadata"]["name"]
        rows.append(
            {
                "name": name,
                "nodepool": labels.get(NODEPOOL),
                "size": labels.get(INSTANCE_TYPE),
                "zone": labels.get(ZONE),
                "capacityType": labels.get(CAPACITY_TYPE),
                "pods": len(bound.get(name, ())),
                "bound": bound.get(name, []),
                "labels": labels,
                "taints": node.get("spec", {}).get("taints") or [],
            }
        )
    return rows


def _nodeclaim(claim: Mapping[str, Any]) -> dict[str, Any]:
    status = claim.get("status") or {}
    return {
        "name": claim["metadata"]["name"],
        "node": status.get("nodeName"),
        "requirements": claim["spec"].get("requirements") or [],
        "conditions": {state["type"]: state["status"] for state in status.get("conditions") or ()},
    }


def _refusal(call: Call) -> dict[str, Any]:
    subject = f"{call.resource}/{call.name}"
    return {"what": subject, "status": call.status, "code": call.code, "fault": call.fault, **call.summary}


def _print(value: Mapping[str, Any], refused: Sequence[Call], *, verbose: bool) -> None:
    from harness.cli.costs import cost_lines
    from harness.explain.sizes.guesses import guess_lines

    nodes = value["nodes"]
    rows = [[*_facts(node), counted(node["pods"], "pod")] for node in nodes]
    if len(nodes) > MANY and not verbose:
        rows = _counted_rows(nodes)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print_line("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    if len(nodes) > len(rows):
        print_line("  (-v has every node)")
    pods = value["pods"]
    state = "not settled" if value["motion"] else "settled"
    print_line(
        f"{counted(len(nodes), 'node')}, {counted(pods['bound'], 'pod')} bound, {pods['pending']} pending, "
        f"{value['price_per_hour']:.4f} USD per hour{_parts(value)}, {state} after {virtual(value['seconds'])}"
    )
    for line in (*cost_lines(value["cost"]), *_price_notes(value)):
        show(line)
    for line in (*guess_lines(value["guessed"], value["region"]), *_refusal_lines(refused)):
        show(line)
    if value["motion"]:
        show_text(value["motion"])


def _facts(node: Mapping[str, Any]) -> list[str]:
    return [node["name"], node["size"] or "", node["zone"] or "", node["capacityType"] or "", _pool(node)]


def _counted_rows(nodes: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Nodes of one NodePool, size and capacity type in one row, with their zones; the most frequent first."""
    kinds: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for node in nodes:
        kinds.setdefault((_pool(node), node["size"] or "", node["capacityType"] or ""), []).append(node)
    rows = []
    for (pool, size, capacity), same in sorted(
        kinds.items(), key=lambda entry: (entry[0][0], -len(entry[1]), entry[0])
    ):
        zones = ", ".join(sorted({node["zone"] or "" for node in same}))
        pods = sum(node["pods"] for node in same)
        rows.append([f"{len(same)} ×", size, zones, capacity, pool, counted(pods, "pod")])
    return rows


def _parts(value: Mapping[str, Any]) -> str:
    """The price by what was there before, what is new and what is gone, where not all is new."""
    prices = value["prices"]
    if not prices["existing_nodes"] and not prices["removed_nodes"]:
        return ""
    gone = f", {prices['removed']:.4f} less for {prices['removed_nodes']} removed" if prices["removed_nodes"] else ""
    return f" ({prices['existing']:.4f} for {prices['existing_nodes']} existing, {prices['new']:.4f} new{gone})"


def _price_notes(value: Mapping[str, Any]) -> Iterator[str]:
    from harness.trace.prices import guessed_text, unpriced_sizes_text

    prices = value["prices"]
    if prices["as_on_demand"]:
        yield f"spot counts as on demand, because no spot price is known: {', '.join(prices['as_on_demand'])}"
    if prices["guessed"]:
        yield guessed_text(prices["guessed"], prices["guess"])
    if prices["unpriced"]:
        yield unpriced_sizes_text(prices["unpriced"])


def _pool(node: Mapping[str, Any]) -> str:
    return f"NodePool {node['nodepool']}" if node["nodepool"] else "not Karpenter's"


def _refusal_lines(refused: Sequence[Call]) -> Iterator[str]:
    """Each refusal while they are few; else a line for each error code with how often and about which sizes."""
    if len(refused) <= FEW:
        yield from (f"Azure refused: {call}" for call in refused)
        return
    for code in dict.fromkeys(call.code for call in refused):
        calls = [call for call in refused if call.code == code]
        sizes = list(dict.fromkeys(call.summary["size"] for call in calls if "size" in call.summary))
        about = f" for {counted(len(sizes), 'size')}: {first_few(sizes, FEW)}" if sizes else ""
        yield f"Azure refused {counted(len(calls), 'request')} with {code}{about} (--format json has each)"
