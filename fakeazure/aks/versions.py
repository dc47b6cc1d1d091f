"""The versions of Kubernetes that AKS offers, and what can be upgraded to what: one minor version at a time, any patch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakeazure.aks.kubernetes import minor_version
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.state import State

OFFERED = (
    "1.32.10", "1.32.11", "1.33.6", "1.33.7", "1.34.1", "1.34.2", "1.34.3", "1.35.0", "1.35.1",
)  # fmt: skip
"""Oldest first. AKS's releases change weekly: these stand for four minor versions with their patches."""
DEFAULT = "1.34"
"""The minor version of a cluster that names none; `az aks create` of 2025 and 2026 shows it so, with its newest patch beside it."""
BEHIND = 2
"""So many minor versions a pool may be behind its control plane."""


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def upgrades(version: str) -> list[str]:
    """Return the versions to which a version can be upgraded."""
    major, minor = minor_version(version)
    newer_versions = [other for other in OFFERED if _key(other) > _key(version)]
    return [other for other in newer_versions if minor_version(other) in ((major, minor), (major, minor + 1))]


def up_to(version: str) -> list[str]:
    """Return the versions that a pool of a cluster of that version may run: at most two minor versions behind, never ahead."""
    major, minor = minor_version(version)
    behind = {(major, minor - count) for count in range(BEHIND + 1)}
    older = [other for other in OFFERED if minor_version(other) in behind and _key(other) < _key(version)]
    return [*older, version]


def resolved(version: str) -> str:
    """A version in full: `1.34` is its newest patch, nothing is the default. Empty for a minor version that is not offered."""
    version = version or DEFAULT
    if version.count(".") == 2:
        return version
    return next((other for other in reversed(OFFERED) if other.startswith(f"{version}.")), "")


def of_cluster(sent: str, current: str, location: str) -> str:
    """Return the full version that a cluster runs after a PUT with `sent`; `current` is what it runs now, empty for a new one.

    A minor version alone (`1.34`) is no wish for a newer patch of the one that runs. Raises ArmError for a version that AKS has not, or
    that `current` can not be upgraded to.
    """
    if current and (not sent or sent == current or f"{minor_version(current)[0]}.{minor_version(current)[1]}" == sent):
        return current
    version = resolved(sent)
    if version not in OFFERED:
        raise refuse("K8sVersionNotSupported", version=sent, location=location)
    if current and version not in upgrades(current):
        raise refuse(
            "AksVersionChangeNotAllowed",
            change="Upgrading" if _key(version) > _key(current) else "Downgrading",
            current=current,
            version=version,
            upgrades=" ".join(reversed(upgrades(current))),
        )
    return version


def of_pool(sent: str, current: str, control_plane: str, location: str) -> str:
    """Return the full version that a pool runs after a PUT with `sent`: that of the control plane for a new pool that names none.

    Raises ArmError for a version that AKS has not, or that does not go with the control plane's.
    """
    if not sent or (current and sent in (current, ".".join(current.split(".")[:2]))):
        version = current or control_plane
    else:
        same_minor = sent.count(".") == 1 and minor_version(sent) == minor_version(control_plane)
        version = control_plane if same_minor else resolved(sent)
    if version not in (*OFFERED, current, control_plane):
        raise refuse("K8sVersionNotSupported", version=sent, location=location)
    pool, plane = minor_version(version)[1], minor_version(control_plane)[1]
    if pool > plane:
        raise refuse(
            "NodePoolAheadOfControlPlane", version=version, control_plane=control_plane, pool=pool, plane=plane
        )
    if plane - pool > BEHIND:
        raise refuse("NodePoolTooFarBehind", version=version, control_plane=control_plane, pool=pool, plane=plane)
    return version


def _list(state: State, request: Request) -> Response:
    state.check_place(request, "locations/kubernetesVersions")
    values: list[dict[str, Any]] = []
    for minor in dict.fromkeys(minor_version(version) for version in OFFERED):
        patches = [version for version in OFFERED if minor_version(version) == minor]
        values.append(
            {
                "version": f"{minor[0]}.{minor[1]}",
                "capabilities": {"supportPlan": ["KubernetesOfficial", "AKSLongTermSupport"]},
                "isDefault": minor == minor_version(DEFAULT) or None,
                "isPreview": None,
                "patchVersions": {version: {"upgrades": upgrades(version)} for version in patches},
            }
        )
    return Response(200, body={"values": values})


def _orchestrators(state: State, request: Request) -> Response:
    """The list of before `kubernetesVersions`, which older clients still read (2019-08-01)."""
    place = state.check_place(request, "locations/orchestrators")
    rows: list[dict[str, Any]] = []
    for version in OFFERED:
        more = [{"orchestratorType": "Kubernetes", "orchestratorVersion": other} for other in upgrades(version)]
        row = {"orchestratorType": "Kubernetes", "orchestratorVersion": version, "upgrades": more}
        rows.append({**row, **({"default": True} if version == resolved(DEFAULT) else {})})
    type_ = "Microsoft.ContainerService/locations/orchestrators"
    id_ = f"/subscriptions/{request.params['subscription']}/providers/Microsoft.ContainerService/locations/{place}/orchestrators"
    return Response(200, body={"id": id_, "name": "default", "type": type_, "properties": {"orchestrators": rows}})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    place = "/subscriptions/{subscription}/providers/Microsoft.ContainerService/locations/{location}"
    yield Route("GET", f"{place}/kubernetesVersions", _list)
    yield Route("GET", f"{place}/orchestrators", _orchestrators)
