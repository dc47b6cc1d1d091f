"""All warnings about some objects that are on one cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from harness.explain.lint.budgets import budget_findings
from harness.explain.lint.findings import Finding, allowed_by
from harness.explain.lint.nodepools import architecture_findings, limit_findings, nodeclass_findings, taint_findings
from harness.explain.lint.pods import memory_findings, pod_templates
from harness.explain.sizes.fit import asked_by
from harness.karpenter.cloudprovider import InstanceType
from harness.kube.api.objects import Object, name_of, spec_of
from harness.world import World

__all__ = ["findings_of"]


def findings_of(
    objects: Sequence[Object],
    world: Callable[[], World],
    allowed: Collection[str] = (),
    *,
    refused: Sequence[Object] = (),
) -> list[Finding]:
    """Return the warnings about objects, without those whose code is `allowed`, or that the object's own annotation allows.

    `world` knows the sizes; it is asked for where there is a NodePool. Objects that an API server has `refused` get no warning, and nothing
    but their names and kinds is read: the names are those of what they become, and where pods are among them nothing is said of pods that
    are missing.
    """
    pools = [pool for pool in objects if pool.get("kind") == "NodePool"]
    findings = [
        (obj, finding)
        for obj, some in [
            *((template.owner, memory_findings(template)) for template in pod_templates(objects)),
            *((pool, _of_nodepool(pool, objects, refused, world())) for pool in pools),
        ]
        for finding in some
    ]
    return [finding for obj, finding in findings if finding.code not in allowed and finding.code not in allowed_by(obj)]


def _of_nodepool(pool: Object, objects: Sequence[Object], refused: Sequence[Object], world: World) -> Iterator[Finding]:
    nodeclasses = [nodeclass for nodeclass in objects if nodeclass.get("kind") == "AKSNodeClass"]
    pods = [template for template in pod_templates(objects) if template.owner["kind"] != "DaemonSet"]
    if any(True for _ in pod_templates(refused)):
        pods = []
    refused_classes = (obj for obj in refused if obj.get("kind") == "AKSNodeClass")
    yield from nodeclass_findings(pool, [*nodeclasses, *refused_classes])
    yield from budget_findings(pool)
    yield from taint_findings(pool, pods)
    sizes = _sizes(pool, nodeclasses, world)
    yield from limit_findings(pool, sizes)
    yield from architecture_findings(pool, sizes, pods, world.release.vocabulary)


def _sizes(pool: Object, nodeclasses: Sequence[Object], world: World) -> list[InstanceType]:
    """The sizes that a NodePool allows with its AKSNodeClass, or with an empty one."""
    reference = spec_of(spec_of(pool).get("template") or {}).get("nodeClassRef") or {}
    nodeclass = next((other for other in nodeclasses if name_of(other) == reference.get("name")), None)
    offered = world.instance_types.list(nodeclass or _EMPTY).types
    own = asked_by(pool, world.release.vocabulary)
    return [size for size in offered if size.requirements.intersects(own) is None]


_EMPTY: Object = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "default"},
    "spec": {"imageFamily": "Ubuntu"},
}
