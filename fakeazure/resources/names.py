"""Names that stand in bodies and become part of an id: each provider's rule, in its words."""

from __future__ import annotations

import re

from fakeazure.arm.texts import refuse

_COMPUTE = re.compile(r"[^_\W][\w\-.]{0,79}(?<![-.])", re.ASCII)
_NETWORK = re.compile(r"\w(?:[\w.-]{0,78}\w)?", re.ASCII)
_POOL = re.compile(r"[a-z][a-z0-9]{0,11}")
_MACHINE = re.compile(r"[a-zA-Z0-9][-_a-zA-Z0-9]{0,39}")


def check_disk(name: str, entity: str) -> None:
    """Refuse what Microsoft.Compute does not take for a disk; `entity` is `osDisk.name` or `dataDisk.name`."""
    if _COMPUTE.fullmatch(name) is None:
        raise refuse("InvalidEntityName", entity=entity)


def check_network(name: str) -> None:
    """Refuse what Microsoft.Network does not take for a part of a resource (a subnet, a rule)."""
    if _NETWORK.fullmatch(name) is None:
        raise refuse("InvalidResourceName", name=name[:200])


def check_pool(name: str) -> None:
    """Refuse what AKS does not take for a pool of Linux nodes."""
    if _POOL.fullmatch(name) is None:
        raise refuse("InvalidPoolName")


def check_machine(name: str) -> None:
    """Refuse what AKS does not take for a machine (azure-rest-api-specs aks managedClusters.json, `machineName`)."""
    if _MACHINE.fullmatch(name) is None:
        raise refuse("InvalidMachineName")
