"""fakeazure served over HTTP, and beside it moto's server: its start, and what comparable calls cost.

    python -m benchmarks.serving                                   # fakeazure alone
    python -m venv /tmp/moto && /tmp/moto/bin/pip install 'moto[server,ec2]'
    python -m benchmarks.serving --moto /tmp/moto/bin/python       # both, in one run

CPU is the server's own, so other work on the machine changes it little; the wall is what a client waits.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from benchmarks.served import Client, Measured, Server, free_port, measure
from fakeazure.beginning import SUBSCRIPTION

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/MC_rg_c_eastus/providers"
SUBNET = f"{GROUP}/Microsoft.Network/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet"
SKUS = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/skus?api-version=2021-07-01&$filter=location eq 'eastus'"
STARTS = 5


class FakeAzure:
    """fakeazure: bearer tokens are checked, long operations are over at once."""

    name = "fakeazure"

    def __init__(self) -> None:
        """Start it and get a token."""
        self.server = self.start()
        client = Client(self.server.port)
        _, body = client.ask(
            b"GET /metadata/identity/oauth2/token?resource=https://management.azure.com HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Metadata: true\r\n\r\n"
        )
        client.close()
        self._token = json.loads(body)["access_token"]

    @staticmethod
    def start() -> Server:
        """A fresh server."""
        port = free_port()
        arguments = ("--http-port", str(port), "--https-port", "-1", "--instant")
        return Server((sys.executable, "-m", "fakeazure", "serve", *arguments), port)

    def _request(self, method: str, path: str, body: object = None) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {quote(path, safe='/?&=$')} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: */*\r\n"
            f"Authorization: Bearer {self._token}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        return head.encode() + content

    def read(self) -> Sequence[bytes]:
        """A small GET."""
        return (self._request("GET", f"/subscriptions/{SUBSCRIPTION}?api-version=2022-12-01"),)

    def sizes(self) -> Sequence[bytes]:
        """All sizes of a region."""
        return (self._request("GET", SKUS),)

    def launch(self, number: int) -> Sequence[bytes]:
        """A NIC and a VM."""
        name = f"vm-{number}"
        nic = f"{GROUP}/Microsoft.Network/networkInterfaces/{name}"
        ip = {"name": "ip", "properties": {"subnet": {"id": SUBNET}}}
        image = {"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}
        linux = {"disablePasswordAuthentication": True}
        vm = {
            "hardwareProfile": {"vmSize": "Standard_D2s_v5"},
            "storageProfile": {"imageReference": image, "osDisk": {"createOption": "FromImage"}},
            "osProfile": {"computerName": name, "adminUsername": "azureuser", "linuxConfiguration": linux},
            "networkProfile": {"networkInterfaces": [{"id": nic}]},
        }
        return (
            self._request(
                "PUT",
                f"{nic}?api-version=2022-01-01",
                {"location": "eastus", "properties": {"ipConfigurations": [ip]}},
            ),
            self._request(
                "PUT",
                f"{GROUP}/Microsoft.Compute/virtualMachines/{name}?api-version=2025-04-01",
                {"location": "eastus", "zones": ["1"], "properties": vm},
            ),
        )


class Moto:
    """moto's server: nothing is signed or checked."""

    name = "moto"

    def __init__(self, python: str) -> None:
        """Start it by the interpreter that has it."""
        self._python = python
        self.server = self.start()

    def start(self) -> Server:
        """A fresh server."""
        port = free_port()
        return Server((self._python, "-m", "moto.server", "-p", str(port)), port)

    def _request(self, action: str, **parameters: str) -> Sequence[bytes]:
        content = urlencode({"Action": action, "Version": "2016-11-15", **parameters}).encode()
        credential = "Credential=a/20260101/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=a"
        head = (
            "POST / HTTP/1.1\r\nHost: ec2.us-east-1.amazonaws.com\r\nUser-Agent: bench\r\nAccept: */*\r\n"
            f"Authorization: AWS4-HMAC-SHA256 {credential}\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        return (head.encode() + content,)

    def read(self) -> Sequence[bytes]:
        """A small call."""
        return self._request("DescribeAvailabilityZones")

    def sizes(self) -> Sequence[bytes]:
        """All sizes of a region."""
        return self._request("DescribeInstanceTypes")

    def launch(self, number: int) -> Sequence[bytes]:
        """An instance, which comes with its network interface."""
        return self._request(
            "RunInstances", ImageId="ami-12c6146b", InstanceType="m5.large", MinCount="1", MaxCount="1"
        )


def figures(one: FakeAzure | Moto, *, calls: int) -> Mapping[str, Measured]:
    """Row of the table → what it costs."""
    starts = [one.start() for _ in range(STARTS)]
    found = {}
    for server in starts:
        server.__exit__()
    walls = sorted(server.started * 1000 for server in starts)
    found["start"] = Measured(min(server.started_cpu for server in starts) * 1000, walls[0], walls[len(walls) // 2])
    with one.server as server:
        for name, asked, number in (
            ("small read", one.read, calls),
            ("list of sizes", one.sizes, max(20, calls // 20)),
        ):
            measure(server, [asked()] * 5)
            found[name] = measure(server, [asked()] * number)
        found["launch"] = measure(server, [one.launch(number) for number in range(calls // 2)])
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moto", metavar="PYTHON", help="an interpreter that has moto[server,ec2]")
    parser.add_argument(
        "--calls", type=int, default=4000, help="small reads; the others are fewer (default: %(default)s)"
    )
    options = parser.parse_args()
    measured = {FakeAzure.name: figures(FakeAzure(), calls=options.calls)}
    if options.moto:
        measured[Moto.name] = figures(Moto(options.moto), calls=options.calls // 4)
    print(f"{'':16}{'':12}{'CPU ms':>10}{'per core/s':>12}{'best ms':>10}{'median ms':>12}")
    for row in measured[FakeAzure.name]:
        for name, rows in measured.items():
            one = rows[row]
            print(f"{row:16}{name:12}{one.cpu:10.3f}{one.rate:12,.0f}{one.best:10.3f}{one.median:12.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
