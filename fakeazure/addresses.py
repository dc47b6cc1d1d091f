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
        """Return how many are left."""
        return max(0, self._end - self._next) + len(self._returned)

    def is_free(self, address: str) -> bool:
        """Tell whether an address of the subnet would be handed out some day."""
        number = int(ip_address(address))
        return self._next <= number < self._end or number in self._returned

    def is_reserved(self, address: str) -> bool:
        """Tell whether an address of the subnet is one of Azure's own."""
        number, first = int(ip_address(address)), int(ip_network(self.prefix).network_address)
        return number < first + RESERVED - 1 or number >= self._end

    def next_free(self, count: int) -> list[str]:
        """The first `count` addresses that are free, or fewer where there are not as many."""
        numbers = [*sorted(self._returned), *range(self._next, min(self._end, self._next + count))]
        return [str(ip_address(number)) for number in numbers[:count]]

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
