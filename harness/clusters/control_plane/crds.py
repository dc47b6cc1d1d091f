"""CustomResourceDefinitions to install on a real API server: from our rule tables, or from given files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.clusters.control_plane.cel import expression
from harness.clusters.crd_files import CrdFiles
from harness.karpenter.validation.admission import Crds
from harness.karpenter.validation.crds import CrdSet, names_of, openapi_of, scale_of

__all__ = ["crd_manifests", "mark_of", "marked"]

_STORED = "v1beta1"
"""AKSNodeClass is served in two versions and stored in this one."""

_SHORT: Mapping[str, tuple[str, ...]] = {"AKSNodeClass": ("aksnc", "aksncs")}


def crd_manifests(crds: Crds) -> list[dict[str, Any]]:
    """Return the definitions of a release, one for each kind, rules included; files as they are. Raises TypeError for
    other sources.

    Descriptions and printed columns are not kept.
    """
    if isinstance(crds, CrdFiles):
        return [dict(manifest) for manifest in crds.manifests]
    if not isinstance(crds, CrdSet):
        raise TypeError(f"no manifests of {crds.name}")
    kinds: dict[tuple[str, str], list[str]] = {}
    for resource in crds.kinds:
        group, version, kind = resource.split("/")
        kinds.setdefault((group, kind), []).append(version)
    return [_manifest(crds, group, kind, versions) for (group, kind), versions in sorted(kinds.items())]


def mark_of(crds: Crds) -> str:
    """Return the text of the column that `marked` adds."""
    return f"from the definitions of {crds.name}"


def marked(manifest: dict[str, Any], crds: Crds) -> dict[str, Any]:
    """A copy of a definition with one more printed column (of `kubectl get -o wide`), which tells when the definition takes effect.

    An API server answers the update of a definition before it judges by it.
    """
    column = {"name": "CRDs", "type": "string", "jsonPath": ".apiVersion", "priority": 1, "description": mark_of(crds)}
    versions = [
        {**version, "additionalPrinterColumns": [*version.get("additionalPrinterColumns", ()), column]}
        for version in manifest["spec"]["versions"]
    ]
    return {**manifest, "spec": {**manifest["spec"], "versions": versions}}


def _manifest(crds: CrdSet, group: str, kind: str, versions: Sequence[str]) -> dict[str, Any]:
    plural, scope = names_of(f"{group}/{versions[0]}/{kind}")
    names: dict[str, Any] = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    names["categories"] = ["karpenter"]
    if kind in _SHORT:
        names["shortNames"] = list(_SHORT[kind])
    stored = _STORED if _STORED in versions else versions[-1]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": names,
            "scope": scope,
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == stored,
                    "subresources": {"status": {}, **_scale(crds, resource)},
                    "schema": {"openAPIV3Schema": openapi_of(crds, resource, expression)},
                }
                for version in versions
                for resource in (f"{group}/{version}/{kind}",)
            ],
        },
    }


def _scale(crds: CrdSet, resource: str) -> Mapping[str, Any]:
    scale = scale_of(crds.name, resource)
    return {} if scale is None else {"scale": scale}
