"""The addresses of a subnet: five are Azure's, the others are handed out lowest first and taken back."""

from __future__ import annotations

import heapq
from ipaddress import ip_address, ip_network

RESERVED = 5
"""Network, gateway, two for DNS, broadcast."""


class Addresses:
    """The free addresses of one subnet."""

    def __init__(self, prefix: str) -> None:
        """Manage `prefix`, in CIDR form. ValueError if it is none."""
        network = ip_network(prefix)
        self.prefix = prefix
        self._next = int(network.network_address) + RESERVED - 1
        self._end = int(network.network_address) + network.num_addresses - 1
        self._returned: list[int] = []

    @property
    def free(self) -> int:
        """How many are left."""
        return max(0, self._end - self._next) + len(self._returned)

    def take(self, count: int) -> list[str]:
        """Hand out `count` addresses; ValueError, and nothing taken, if there are fewer."""
        if count > self.free:
            raise ValueError(f"{self.prefix} has {self.free} addresses left, not {count}")
        taken = []
        for _ in range(count):
            if self._returned:
                number = heapq.heappop(self._returned)
            else:
                number = self._next
                self._next += 1
            taken.append(str(ip_address(number)))
        return taken

    def give_back(self, addresses: list[str]) -> None:
        """Take addresses back."""
        for address in addresses:
            heapq.heappush(self._returned, int(ip_address(address)))
