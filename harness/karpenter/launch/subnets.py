"""Subnet ids (kaz ``pkg/utils/subnet_parser.go``)."""

import re
from functools import lru_cache

from harness.karpenter.launch.failures.errors import LaunchError
from lazyrecords import dataclass

__all__ = ["OWN", "Subnet"]

_ID = re.compile(
    r"/subscriptions/([^/]+)/resourceGroups/([^/]+)/providers/Microsoft\.Network/virtualNetworks/([^/]+)/subnets/([^/]+)/?\Z",
    re.IGNORECASE,
)
OWN = "aks-subnet"
"""The subnet that AKS makes in its own network."""
_MANAGED_VNET = re.compile(r"aks-vnet-[0-9]{8}\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Subnet:
    """The parts of a subnet's ARM id."""

    subscription: str
    resource_group: str
    vnet: str
    name: str

    @classmethod
    def parse(cls, text: str) -> "Subnet":
        """Return the subnet of an id. Raises LaunchError when ``text`` is none."""
        subnet = cls.read(text)
        if subnet is None:
            raise LaunchError(f"invalid vnet subnet id: {text}")
        return subnet

    @classmethod
    def read(cls, text: str) -> "Subnet | None":
        """The same, None when ``text`` is no subnet id."""
        return _read(text)

    @property
    def in_managed_vnet(self) -> bool:
        """Return whether its network has a name that AKS gives to the networks that it makes."""
        return _MANAGED_VNET.match(self.vnet) is not None

    def managed_by_aks(self, node_resource_group: str) -> bool:
        """Return whether AKS made the network itself, so that its network security group hangs on the subnet."""
        return (
            self.in_managed_vnet
            and self.resource_group.lower() == node_resource_group.lower()
            and self.name.lower() == OWN
        )


@lru_cache(maxsize=256)
def _read(text: str) -> Subnet | None:
    """A world has few subnets, and looks at them every few minutes."""
    match = _ID.match(text)
    return None if match is None else Subnet(*match.groups())
