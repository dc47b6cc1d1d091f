"""Networks of a cluster whose AKSNodeClasses name subnets: they are there, and the cluster's, unless its controller says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.karpenter.launch.subnets import OWN, Subnet
from harness.reading.manifests import Manifest

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs

__all__ = ["with_networks"]


def with_networks(inputs: Inputs, manifests: Iterable[Manifest]) -> Inputs:
    """The inputs with the subnets that somebody names, so that they are to be had.

    Where nothing says which is the cluster's own (`vnet-subnet-id`), it is the first that an AKSNodeClass names, or AKS's own beside it;
    the provider refuses subnets of other networks (kaz pkg/controllers/nodeclass/status/subnet.go).
    """
    named = [
        (manifest, text, subnet)
        for manifest in manifests
        if manifest.kind == "AKSNodeClass" and (subnet := Subnet.read(text := _named(manifest.object))) is not None
    ]
    of_options = next((str(value) for name, value in inputs.options.items() if _is_subnet(name)), "")
    subnets = dict.fromkeys(text for _, text, _ in named)
    own = Subnet.read(of_options)
    if own is not None:
        options = {"subscription_id": own.subscription, **inputs.options}
        return replace(inputs, options=options, subnets=tuple({of_options: None, **subnets}))
    if of_options or not named:
        return inputs
    nodeclass, text, first = named[0]
    options = {"subnet_id": text, "subscription_id": first.subscription}
    if first.in_managed_vnet:
        options |= {"subnet_id": f"{text.rpartition('/')[0]}/{OWN}", "node_resource_group": first.resource_group}
    network = f"the cluster's network is {first.vnet}, as of AKSNodeClass {nodeclass.name}"
    return replace(
        inputs,
        options={**options, **inputs.options},
        subnets=tuple({options["subnet_id"]: None, **subnets}),
        network=network,
    )


def _named(nodeclass: Mapping[str, Any]) -> str:
    spec = nodeclass.get("spec")
    return str(spec.get("vnetSubnetID") or "").removesuffix("/") if isinstance(spec, Mapping) else ""


def _is_subnet(name: str) -> bool:
    from harness.karpenter.releases import find_option

    option = find_option(name)
    return name == "subnet_id" or (option is not None and option.field == "subnet_id")
