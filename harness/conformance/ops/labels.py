"""Op ``labels``: the labels of one launch on every path, against the provider's own fakes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError
from harness.conformance.ops.schedule import overlays_answer, overlays_of
from harness.conformance.provider_inputs import location_of, nodeclass_of, options_of, shared_book
from harness.engine.names import VmId
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.instancetypes import NoInstanceTypes
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.launch import (
    Launch,
    LaunchEnvironment,
    LaunchError,
    LaunchTypes,
    VmPlan,
    claim_requirements,
    overlaid_types,
    plan,
    populated_labels,
)
from harness.karpenter.launch.images import gallery_image_id, image_family
from harness.karpenter.overlays.evaluation import Evaluation
from harness.karpenter.releases import GALLERY_SUBSCRIPTION, ProviderRelease
from harness.kube.api.labels import ZONE
from harness.kube.api.resources import render

# The images of the provider's tests (kaz pkg/test/nodeclass.go), which have these families only until Trusted Launch came.
_IMAGE_VERSION = "202410.09.0"
_FAMILIES_WITH_IMAGES = ("Ubuntu2204", "AzureLinux")
_DEFAULT_KUBERNETES = "1.34.0"


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """Labels, annotations, resources and bodies of the launch, or ``{"error": text}``. Raises RequestError for malformed requests."""
    try:
        return _answer(request, context)
    except LaunchError as error:
        return {"error": error.text}
    except NoInstanceTypes as error:
        return {"error": f"creating nodeclaim, resolving instance types, getting instance types, {error}"}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RequestError(f"malformed request: {error}") from error


def _answer(request: Mapping[str, Any], context: AnswerContext) -> dict[str, Any]:
    release = context.release
    location = location_of(request, context)
    options = options_of(request, context)
    # Where the provider's fakes say that they run.
    options = replace(options, subscription_id="subscriptionID", resource_group=options.node_resource_group)
    nodeclass = _with_status(nodeclass_of(request), request.get("kubernetes_version") or _DEFAULT_KUBERNETES, release)
    nodeclaim = _nodeclaim(request)
    region = shared_book(context).region(location.skus, release, location.name, use_sig=options.use_sig)
    listed = region.build(options=options, nodeclass=nodeclass, prices=location.prices).types
    types, overlays = _for_launch(request, nodeclaim, listed, release)
    launched = plan(
        Launch(
            nodeclaim=nodeclaim,
            nodeclass=nodeclass,
            types=types.allowed(nodeclaim, claim_requirements(nodeclaim, release), release),
            skus=region.skus,
            options=options,
            release=release,
            environment=LaunchEnvironment(region=location.name),
        )
    )
    result: dict[str, Any]
    if isinstance(launched, VmPlan):
        created = launched.created()
        body = launched.vm
        result = {
            "vm": {
                "size": body["properties"]["hardwareProfile"]["vmSize"],
                "priority": body["properties"]["priority"],
                "tags": body["tags"],
                "zones": body["zones"],
            },
            "kubelet_labels": launched.labels.values(),
        }
    else:
        created = launched.created(vm_id=VmId(""))
        result = {"machine": _machine(launched.body)}
    populated = populated_labels(nodeclaim, created, release).values()
    labels = created.labels.values()
    return {
        **result,
        "cloudprovider_labels": labels,
        "nodeclaim_labels": populated,
        "node_synced_labels": populated,
        "annotations": created.annotations,
        "capacity": render(created.capacity),
        "allocatable": render(created.allocatable),
        "zone": labels.get(ZONE, ""),
        **overlays_answer(overlays),
    }


def _for_launch(
    request: Mapping[str, Any], nodeclaim: Mapping[str, Any], listed: Sequence[InstanceType], release: ProviderRelease
) -> tuple[LaunchTypes, Evaluation | None]:
    """The instance types of the launch, and what the request's NodeOverlays came to."""
    name = ((nodeclaim["metadata"]).get("labels") or {}).get(NODEPOOL)
    pool = request.get("nodepool") or {"metadata": {}, "spec": {}}
    pools = [{**pool, "metadata": {**(pool.get("metadata") or {}), "name": name}}] if name else []
    overlays = overlays_of(request, pools, {name: listed} if name else {}, release)
    if overlays is None:
        return LaunchTypes(listed, listed), None
    return overlaid_types(nodeclaim, listed, overlays.apply, release), overlays


def _machine(body: Mapping[str, Any]) -> dict[str, Any]:
    properties = body["properties"]
    return {
        "node_labels": properties["kubernetes"]["nodeLabels"],
        "mode": properties["mode"],
        "taints": properties["kubernetes"]["nodeInitializationTaints"],
        "priority": properties["priority"],
        "zones": body["zones"],
        "tags": properties["tags"],
    }


def _nodeclaim(request: Mapping[str, Any]) -> dict[str, Any]:
    raw = request.get("nodeclaim") or {}
    metadata = dict(raw.get("metadata") or {})
    metadata["name"] = metadata.get("name") or "default-abcde"
    return {**raw, "metadata": metadata}


def _with_status(nodeclass: dict[str, Any], kubernetes: str, release: ProviderRelease) -> dict[str, Any]:
    spec = nodeclass["spec"]
    images = []
    if spec["imageFamily"] in _FAMILIES_WITH_IMAGES or release.trusted_launch:
        family = image_family(spec, kubernetes=kubernetes, release=release)
        images = [
            {
                "id": gallery_image_id(family, image, _IMAGE_VERSION, subscription=GALLERY_SUBSCRIPTION),
                "requirements": image.requirements(),
            }
            for image in family.default_images(spec, release, use_sig=True)
        ]
    return {
        **nodeclass,
        "status": {**(nodeclass.get("status") or {}), "kubernetesVersion": kubernetes, "images": images},
    }
