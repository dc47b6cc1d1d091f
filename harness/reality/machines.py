"""One machine in a world of its own: brought to rest, and made of an entry of shared facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.explain.pods.causes import pending_cause
from harness.karpenter.labels import azure, core
from harness.karpenter.validation import Rejection
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import Object
from harness.limits import with_remedy
from harness.world import World
from harness.world.startup import end_startup

__all__ = ["DECIDING", "KINDS", "Machine", "at_rest", "machine_of", "not_launched", "twin_pod"]

Machine = Mapping[str, Object]
"""The Node and the NodeClaim of a machine, by kind."""
DECIDING: Mapping[str, str] = {"size": INSTANCE_TYPE, "zone": ZONE, "priority": core.CAPACITY_TYPE}
"""Labels that decide with the AKSNodeClass which machine it is, by their word in an entry."""
_OPTIONS = {"plugin": "network_plugin", "pluginMode": "network_plugin_mode", "dataplane": "network_dataplane"}
_NO_TWIN = "the simulation launches no machine of it"
KINDS = ("Node", "NodeClaim")
_NAME = "default"


def machine_of(entry: Mapping[str, Any]) -> Machine | str:
    """Return the machine that is launched for an entry of shared facts without mistakes, or one line about why there is none."""
    try:
        world = World(
            karpenter=entry["release"],
            region=entry["region"],
            kubernetes=entry["kubernetes"],
            provision_mode=entry.get("mode"),
            options={option: entry[word] for word, option in _OPTIONS.items() if word in entry},
        )
    except (ValueError, LookupError) as error:
        return f"{_NO_TWIN}: {str(error).partition(chr(10))[0]}"
    group, labels = azure.GROUP, {key: entry[word] for word, key in DECIDING.items() if word in entry}
    reference = {"group": group, "kind": "AKSNodeClass", "name": _NAME}
    requirements = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    template = {"spec": {"nodeClassRef": reference, "requirements": requirements}}
    refused = world.apply(
        _object(f"{group}/v1beta1", "AKSNodeClass", dict(entry.get("nodeclass", {}))),
        _object(f"{core.GROUP}/v1", "NodePool", {"template": template}),
    )
    if refused:
        return not_launched(refused[0])
    world.apply(twin_pod(_NAME, labels))
    return at_rest(world)


def at_rest(world: World) -> Machine | str:
    """Let the world come to rest, with its startup taints removed; return its one machine, or why there is none."""
    if why := _restless(world):
        return f"{_NO_TWIN}: {why}"
    if end_startup(world) and (why := _restless(world)):
        return f"{_NO_TWIN}: {why}"
    node, claim = (next(iter(world.list(kind)), None) for kind in KINDS)
    if node is None or claim is None:
        return f"{_NO_TWIN}: {pending_cause(world, 'twin').partition(', requirements=')[0]}"
    return {"Node": node, "NodeClaim": claim}


def not_launched(rejection: Rejection) -> str:
    """Return the line about a machine whose objects were refused."""
    return f"{_NO_TWIN}: {rejection.object}: {rejection.text}"


def twin_pod(pool: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a pod that only a machine of the NodePool with these labels takes."""
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1m"}}}
    spec = {
        "nodeSelector": {**labels, core.NODEPOOL: pool},
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "twin"}, "spec": spec}


def _object(version: str, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": _NAME}, "spec": spec}


def _restless(world: World) -> str:
    """Let the world come to rest; return one line about why it does not, empty where it does."""
    settled = world.settle(allow_rejections=True)
    if settled.runaway is not None:
        return str(settled.runaway).partition("\n")[0]
    return with_remedy(settled.exhausted, settled.limit)
