"""One launch with everything in it, changed by each test."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.karpenter.instancetypes import Prices, Region
from harness.karpenter.launch import (
    Launch,
    LaunchEnvironment,
    MachinePlan,
    VmPlan,
    claim_requirements,
    plan,
    resolve_instance_types,
)
from harness.karpenter.launch.images import community_image_id, gallery_image_id, image_family
from harness.karpenter.releases import Defaults, ProviderOptions, ProviderRelease, provider

_DATA = Path(__file__).parents[1] / "data" / "provider"
SUBSCRIPTION = "00000000-1111-2222-3333-444444444444"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/MC_rg_c_southcentralus"
IDENTITY = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/agentpool"
OPTIONS = ProviderOptions.of(
    Defaults(),
    region="southcentralus",
    cluster_name="c",
    cluster_endpoint="https://127.0.0.1:6443",
    network_policy="",
    vnet_guid="11111111-2222-3333-4444-555555555555",
    node_identities=(IDENTITY,),
    machines_pool="kpool",
)


@cache
def recorded_region(release: ProviderRelease) -> tuple[Region, Prices]:
    content = json.loads(gzip.decompress((_DATA / "skus.json.gz").read_bytes()))["southcentralus"]
    return Region(content["skus"], release, "southcentralus"), Prices(content["prices"], content["prices"])


@cache
def recorded_bodies() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((_DATA / "recorded_bodies.json").read_text())
    return content


def nodeclaim(
    name: str = "default-abcde", labels: dict[str, str] | None = None, **requirements: list[str]
) -> dict[str, Any]:
    """A NodeClaim of the pool ``default``; requirements In by short name."""
    keys = {
        "size": "node.kubernetes.io/instance-type",
        "zone": "topology.kubernetes.io/zone",
        "capacity_type": "karpenter.sh/capacity-type",
        "mode": "kubernetes.azure.com/mode",
        "ultra": "karpenter.azure.com/sku-storage-ultra-ssd",
    }
    return {
        "metadata": {
            "name": name,
            "labels": {
                "karpenter.sh/nodepool": "default",
                "karpenter.azure.com/aksnodeclass": "default",
                **(labels or {}),
            },
        },
        "spec": {
            "requirements": [
                {"key": keys.get(key, key), "operator": "In", "values": values} for key, values in requirements.items()
            ]
        },
    }


@pytest.fixture
def launch() -> Callable[..., VmPlan | MachinePlan]:
    """Plans a launch: ``claim``, then ``release``, ``spec`` of the NodeClass, ``kubernetes`` and options by name."""

    def make(
        claim: dict[str, Any],
        *,
        release: str = "1.14.0",
        spec: dict[str, Any] | None = None,
        status: dict[str, Any] | None = None,
        kubernetes: str = "1.36.3",
        prefer_zone: str = "",
        **options: Any,
    ) -> VmPlan | MachinePlan:
        known = provider(release)
        region, prices = recorded_region(known)
        opts = replace(OPTIONS, **options)
        opts = replace(opts, use_sig=opts.use_sig or opts.machine_api)
        nodeclass_spec = {"imageFamily": "Ubuntu", "osDiskSizeGB": 128, **(spec or {})}
        family = image_family(nodeclass_spec, kubernetes=kubernetes, release=known)
        images = [
            {
                "id": gallery_image_id(family, image, "202611.02.0", subscription=SUBSCRIPTION)
                if opts.use_sig
                else community_image_id(family, image, "202611.02.0"),
                "requirements": image.requirements(),
            }
            for image in family.default_images(nodeclass_spec, known, use_sig=opts.use_sig)
        ]
        nodeclass = {
            "metadata": {"name": "default"},
            "spec": nodeclass_spec,
            "status": {"kubernetesVersion": kubernetes, "images": images, **(status or {})},
        }
        types = region.build(options=opts, nodeclass=nodeclass, prices=prices).types
        return plan(
            Launch(
                nodeclaim=claim,
                nodeclass=nodeclass,
                types=resolve_instance_types(claim, claim_requirements(claim, known), types, known),
                skus=region.skus,
                options=opts,
                release=known,
                environment=LaunchEnvironment(region="southcentralus"),
                shuffle=lambda offerings: offerings.sort(key=lambda offering: offering.zone != prefer_zone),
            )
        )

    return make
