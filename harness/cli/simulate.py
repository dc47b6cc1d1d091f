"""`harness simulate`: manifests in; the plan, its price and the reasons out."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.cli.manifests import add_inputs
from harness.cli.output import add_format, bad_input, print_json

if TYPE_CHECKING:
    from harness.world import World

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness simulate`."""
    add_inputs(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the Nodes that Karpenter makes, what they cost, and why pods stay pending."""
    from harness.cli.manifests import apply_manifests, read_files, settle, world_of
    from harness.cli.worlds import InputError
    from harness.explain.price import price_per_hour
    from harness.explain.render import as_text, as_value
    from harness.explain.scheduling import Explainer
    from harness.scenario.problems import ScenarioError

    try:
        manifests = read_files(arguments.files)
        world = world_of(arguments)
        explainer = Explainer(world)
        added = apply_manifests(world, manifests)
    except InputError as error:
        return bad_input(f"harness simulate: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    motion = settle(world)
    pods = world.list("Pod")
    pending = [explainer.pod(pod) for pod in pods if not pod.get("spec", {}).get("nodeName")]
    nodes = _nodes(world, pods)
    value: dict[str, Any] = {
        "region": world.region,
        "release": world.release.version,
        "added": added,
        "nodes": nodes,
        "guessed": _guesses(world, nodes),
        "pods": {"bound": len(pods) - len(pending), "pending": len(pending)},
        "price_per_hour": round(price_per_hour(world), 6),
        "seconds": world.clock.seconds,
        "refused_by_azure": _refusals(world),
        "motion": motion or None,
        "pending": as_value(pending),
    }
    if arguments.format == "json":
        print_json(value)
        return 0
    if added:
        print(f"added, because no file has one: {', '.join(added)}")
    _print(value)
    if pending:
        print("\n" + as_text(pending))
    return 0


def _nodes(world: World, pods: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for node in world.list("Node"):
        labels = node["metadata"].get("labels") or {}
        name = node["metadata"]["name"]
        rows.append(
            {
                "name": name,
                "nodepool": labels.get("karpenter.sh/nodepool"),
                "size": labels.get("node.kubernetes.io/instance-type"),
                "zone": labels.get("topology.kubernetes.io/zone"),
                "capacityType": labels.get("karpenter.sh/capacity-type"),
                "pods": sum(pod.get("spec", {}).get("nodeName") == name for pod in pods),
            }
        )
    return rows


def _guesses(world: World, nodes: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What of the sizes in use nobody recorded: names of capabilities, and `zones`."""
    region = world.caches.catalogue.region(world.region)
    sizes = sorted({node["size"] for node in nodes if node["size"] in region.by_name})
    return {size: found for size in sizes if (found := sorted(region.guessed(size)))}


def _refusals(world: World) -> list[str]:
    return [str(call) for call in world.cloud.journal if call.method == "PUT" and call.status >= 400]


def _print(value: Mapping[str, Any]) -> None:
    print(f"{value['region']}, provider {value['release']}")
    for node in value["nodes"]:
        print(
            f"  {node['name']}  {node['size']}  {node['zone']}  {node['capacityType']}  "
            f"NodePool {node['nodepool']}  {node['pods']} pods"
        )
    counted = value["pods"]
    print(
        f"{len(value['nodes'])} nodes, {counted['bound']} pods bound, {counted['pending']} pending, "
        f"{value['price_per_hour']:.4f} USD per hour, settled after {value['seconds']:.0f} s"
    )
    for size, names in value["guessed"].items():
        others = len(names) - ("zones" in names)
        parts = [*(["zones"] if "zones" in names else []), *([f"{others} capabilities"] if others else [])]
        print(f"guessed, not recorded from Azure: {' and '.join(parts)} of {size} (harness requirements names them)")
    for refusal in value["refused_by_azure"]:
        print(f"Azure refused: {refusal}")
    if value["motion"]:
        print(value["motion"])
