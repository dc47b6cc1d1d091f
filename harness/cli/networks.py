"""Networks of a cluster whose AKSNodeClasses name subnets: they are there, and the cluster's, unless its controller says otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.reading.manifests import Manifest

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs

__all__ = ["with_networks"]

_SUBNET = re.compile(
    r"/subscriptions/(?P<subscription>[^/]+)/resourceGroups/(?P<group>[^/]+)/providers/Microsoft.Network/virtualNetworks/(?P<vnet>[^/]+)/subnets/[^/]+",
    re.IGNORECASE,
)
_MANAGED = re.compile(r"aks-vnet-\d{8}", re.IGNORECASE)
_OWN = "aks-subnet"


def with_networks(inputs: Inputs, manifests: Iterable[Manifest]) -> Inputs:
    """The inputs with the subnets that somebody names, so that they are to be had.

    Where nothing says which is the cluster's own (`vnet-subnet-id`), it is the first that an AKSNodeClass names, or AKS's own beside it;
    the provider refuses subnets of other networks (kaz pkg/controllers/nodeclass/status/subnet.go).
    """
    named = [
        (one, match)
        for one in manifests
        if one.kind == "AKSNodeClass" and (match := _SUBNET.fullmatch(_named(one.object))) is not None
    ]
    said = next((str(value) for name, value in inputs.options.items() if _is_subnet(name)), "")
    subnets = dict.fromkeys(match[0] for _, match in named)
    own = _SUBNET.fullmatch(said)
    if own is not None:
        options = {"subscription_id": own["subscription"], **inputs.options}
        return replace(inputs, options=options, subnets=tuple({said: None, **subnets}))
    if said or not named:
        return inputs
    nodeclass, first = named[0]
    options = {"subnet_id": first[0], "subscription_id": first["subscription"]}
    if _MANAGED.fullmatch(first["vnet"]):
        options |= {"subnet_id": f"{first[0].rpartition('/')[0]}/{_OWN}", "node_resource_group": first["group"]}
    told = f"the cluster's network is {first['vnet']}, as of AKSNodeClass {nodeclass.name}"
    return replace(
        inputs,
        options={**options, **inputs.options},
        subnets=tuple({options["subnet_id"]: None, **subnets}),
        network=told,
    )


def _named(nodeclass: Mapping[str, Any]) -> str:
    spec = nodeclass.get("spec")
    return str(spec.get("vnetSubnetID") or "") if isinstance(spec, Mapping) else ""


def _is_subnet(name: str) -> bool:
    from harness.karpenter.releases import find_option

    option = find_option(name)
    return name == "subnet_id" or (option is not None and option.field == "subnet_id")
