"""NodeClaims in the making: what is left of their requirements and instance types, and what their pods ask.

Core ``pkg/controllers/provisioning/scheduling/nodeclaim.go``.
"""

from collections.abc import Iterable

from harness.karpenter.requirement import Requirement
from harness.karpenter.scheduling.algebra import RequirementSet
from harness.karpenter.scheduling.nodeclaims.reservations import NONE
from harness.karpenter.scheduling.nodeclaims.templates import Template
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.reasons.pods import HostPortConflict
from harness.kube.api.objects import Object
from harness.kube.scheduling.pods import HostPort
from lazyrecords import dataclass

__all__ = ["Fit", "InflightNodeClaim", "port_conflict"]


class InflightNodeClaim:
    """A NodeClaim that the simulation will create.

    ``requirements`` leave out the hostname, which is ``host``. ``mask`` are the instance types that are left; ``amounts`` what
    its pods request, in billionths, without DaemonSets. ``judged`` are the requirements its first pod was last tried with.
    ``bit`` is 1 shifted by ``id``; ``version`` counts its pods. ``reserved`` are the reservations it holds a place in.
    """

    __slots__ = (
        "amounts",
        "bit",
        "host",
        "host_ports",
        "id",
        "judged",
        "mask",
        "min_values_relaxed",
        "pods",
        "requirements",
        "reserved",
        "shapes",
        "template",
        "version",
        "volumes",
    )

    def __init__(self, template: Template, host: Requirement, mask: int) -> None:
        self.template, self.host, self.mask = template, host, mask
        self.requirements = template.requirements
        self.id, self.bit, self.version = -1, 0, 0
        self.amounts: dict[str, int] = {}
        self.host_ports: list[HostPort] = []
        self.volumes: dict[str, set[str]] = {}
        self.pods: list[Object] = []
        self.shapes: list[PodShape] = []
        self.min_values_relaxed = False
        self.judged: RequirementSet | None = None
        self.reserved = NONE


@dataclass(frozen=True, slots=True)
class Fit:
    """The rest of a NodeClaim's requirements and instance types when a pod joins it."""

    requirements: RequirementSet
    mask: int
    reserved: frozenset[str] = NONE


def port_conflict(shape: PodShape, bound: Iterable[HostPort]) -> HostPortConflict | None:
    """The first of the pod's host ports that is taken."""
    taken: dict[int, list[HostPort]] = {}
    for existing in bound:
        taken.setdefault(existing.port, []).append(existing)
    for wanted in shape.host_ports:
        for existing in taken.get(wanted.port, ()):
            if wanted.conflicts(existing):
                return HostPortConflict(wanted, existing)
    return None
