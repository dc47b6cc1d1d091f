"""The az CLI against a served cloud: commands as somebody types them, and what of each answer is asserted. Run in az's own Python."""

from __future__ import annotations

import io
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.clients.operation import Place, Suite, tell

SUITE = Suite("az CLI")


@dataclass
class Az:
    """One process for all commands: az takes seconds to import."""

    place: Place
    make: Callable[[], Any]

    def run(self, line: str) -> Any:
        """The result of a command; RuntimeError with what az said if it failed."""
        p = self.place
        words = shlex.split(line.format(**{name: getattr(p, name) for name in p.__slots__}))
        cli = self.make()  # a new one knows the cloud that is set
        out, said = io.StringIO(), sys.stderr
        sys.stderr = io.StringIO()
        try:
            code = cli.invoke(words, out_file=out)
            heard = sys.stderr.getvalue()
        except SystemExit as stop:
            code, heard = int(stop.code or 0) if isinstance(stop.code, int) else 1, sys.stderr.getvalue()
        finally:
            sys.stderr = said
        if code != 0:
            error = getattr(cli.result, "error", None) if cli.result is not None else None
            raise RuntimeError(str(error or heard.strip()[-300:] or f"exit code {code}"))
        return cli.result.result


def command(line: str, check: Callable[[Any], object], *, name: str = "") -> None:
    """Declare a command, with `{group}` and the like for names, and what holds of its result."""

    def run(az: Az) -> None:
        found = az.run(line)
        assert check(found), f"{found!r}"[:250]

    SUITE.operation(name or line)(run)


def refused(line: str, part: str) -> None:
    """Declare a command that has to fail with ARM's words."""

    def run(az: Az) -> None:
        try:
            found = az.run(line)
        except RuntimeError as error:
            assert part in str(error), str(error)
            return
        raise AssertionError(f"it succeeded: {found!r}"[:250])

    SUITE.operation(f"{line} (refused)")(run)


def names(found: Any) -> list[str]:
    return [item["name"] for item in found]


command("cloud register -n fake --endpoint-resource-manager {url}", lambda found: True)
command(
    "cloud show -n fake",
    lambda found: "azure.com" not in str(found["endpoints"]) and found["endpoints"]["activeDirectory"],
)
command("cloud set -n fake", lambda found: True)
command(
    "login --service-principal -u app -p {secret} --tenant {tenant}",
    lambda found: found[0]["user"]["type"] == "servicePrincipal",
)
command("account show", lambda found: found["state"] == "Enabled")
command("account list-locations", lambda found: "eastus" in names(found))
command("group create -n g -l {location} --tags a=b", lambda found: found["tags"] == {"a": "b"})
command("group exists -n g", lambda found: found is True)
command("group list", lambda found: {"g", "rg"} <= set(names(found)))
command("group show -n g", lambda found: found["properties"]["provisioningState"] == "Succeeded")
command("group update -n g --set tags.c=d", lambda found: found["tags"] == {"a": "b", "c": "d"})
command(
    "provider show -n Microsoft.Compute",
    lambda found: "virtualMachines" in [one["resourceType"] for one in found["resourceTypes"]],
)
command("vm list-skus -l {location} --size Standard_D2s_v5", lambda found: found[0]["family"] == "standardDSv5Family")
command(
    "vm list-sizes -l {location}",
    lambda found: {"Standard_D2s_v5": 2}.items() <= {one["name"]: one["numberOfCores"] for one in found}.items(),
)
command("vm list-usage -l {location}", lambda found: "cores" in [one["name"]["value"] for one in found])
command("vm image list-publishers -l {location}", lambda found: "Canonical" in names(found))
command("vm image list-offers -l {location} -p Canonical", lambda found: "ubuntu-24_04-lts" in names(found))
command("vm image list-skus -l {location} -p Canonical -f ubuntu-24_04-lts", lambda found: "server" in names(found))
command(
    "vm image show -l {location} --urn Canonical:ubuntu-24_04-lts:server:latest",
    lambda found: found["hyperVGeneration"] == "V2",
)
command(
    "network vnet create -g g -n vnet --subnet-name s --address-prefixes 10.5.0.0/16",
    lambda found: found["newVNet"]["subnets"][0]["name"] == "s",
)
command(
    "network vnet subnet create -g g --vnet-name vnet -n t --address-prefixes 10.5.9.0/24",
    lambda found: found["addressPrefix"] == "10.5.9.0/24",
)
command("network vnet subnet delete -g g --vnet-name vnet -n t", lambda found: True)
command("network nsg create -g g -n nsg", lambda found: len(found["NewNSG"]["defaultSecurityRules"]) == 6)
command(
    "network nsg rule create -g g --nsg-name nsg -n ssh --priority 300 --destination-port-ranges 22",
    lambda found: found["priority"] == 300,
)
command("network public-ip create -g g -n ip", lambda found: found["publicIp"]["ipAddress"].count(".") == 3)
command("network nat gateway create -g g -n nat --public-ip-addresses ip", lambda found: True)
command(
    "network nic create -g g -n nic --vnet-name vnet --subnet s",
    lambda found: found["NewNIC"]["ipConfigurations"][0]["privateIPAddress"] == "10.5.0.4",
)
command("network list-usages -l {location}", lambda found: "VirtualNetworks" in [one["name"]["value"] for one in found])
command(
    "vm create -g g -n v1 --image Ubuntu2404 --size Standard_D2s_v5 --admin-username azureuser --generate-ssh-keys",
    lambda found: (
        (found["powerState"], bool(found["privateIpAddress"]), bool(found["publicIpAddress"]))
        == ("VM running", True, True)
    ),
)
command(
    "vm create -g g -n v2 --image Canonical:ubuntu-24_04-lts:server:latest --nics nic --size Standard_D2s_v5 "
    "--admin-username azureuser --generate-ssh-keys --no-wait",
    lambda found: True,
)
refused(
    "vm create -g g -n v3 --image Ubuntu2404 --size Standard_Nope --admin-username azureuser --generate-ssh-keys",
    "Standard_Nope",
)
command("vm wait -g g -n v2 --created", lambda found: True)
command(
    "vm list -g g -d",
    lambda found: [(one["name"], one["powerState"]) for one in found] == [("v1", "VM running"), ("v2", "VM running")],
)
command("vm show -g g -n v1", lambda found: found["hardwareProfile"]["vmSize"] == "Standard_D2s_v5")
command(
    "vm get-instance-view -g g -n v1",
    lambda found: found["instanceView"]["statuses"][1]["code"] == "PowerState/running",
)
command("vm list-vm-resize-options -g g -n v1", lambda found: "Standard_D4s_v5" in names(found))
command(
    "vm resize -g g -n v1 --size Standard_D4s_v5", lambda found: found["hardwareProfile"]["vmSize"] == "Standard_D4s_v5"
)
command("vm update -g g -n v1 --set tags.k=v", lambda found: found["tags"] == {"k": "v"})
command(
    "vm run-command invoke -g g -n v1 --command-id RunShellScript --scripts true",
    lambda found: "[stdout]" in found["value"][0]["message"],
)
command("vm restart -g g -n v1", lambda found: True)
command("vm deallocate -g g -n v1", lambda found: True)
command("vm start -g g -n v1", lambda found: True)
command(
    "disk create -g g -n d --size-gb 16", lambda found: (found["diskSizeGB"], found["diskState"]) == (16, "Unattached")
)
command("disk update -g g -n d --size-gb 32", lambda found: found["diskSizeGB"] == 32)
command("vm disk attach -g g --vm-name v1 --name d", lambda found: True)
command("snapshot create -g g -n snap --source d", lambda found: found["diskSizeGB"] == 32)
command("sshkey create -g g -n key --public-key 'ssh-rsa AAAA'", lambda found: found["publicKey"] == "ssh-rsa AAAA")
command("identity create -g g -n id", lambda found: bool(found["clientId"] and found["principalId"]))
command("resource list -g g --resource-type Microsoft.Compute/disks", lambda found: "d" in names(found))
command(
    "resource show -g g -n vnet --resource-type Microsoft.Network/virtualNetworks",
    lambda found: found["location"] == "eastus",
)
command("aks get-versions -l {location}", lambda found: "1.34" in [one["version"] for one in found["values"]])
command("aks show -g {group} -n {cluster}", lambda found: found["nodeResourceGroup"].startswith("MC_"))
command("aks nodepool list -g {group} --cluster-name {cluster}", lambda found: names(found) == ["aksmanagedap"])
command("aks get-credentials -g {group} -n {cluster} -f -", lambda found: True)
command("group delete -n g -y", lambda found: True)


def connect(folder: str) -> Az:
    """az with a configuration of its own, that of somebody who has read the how-to."""
    os.makedirs(folder, exist_ok=True)
    os.environ |= {
        "AZURE_CONFIG_DIR": f"{folder}/azure",
        "HOME": folder,
        "AZURE_CORE_INSTANCE_DISCOVERY": "false",
        "AZURE_CORE_COLLECT_TELEMETRY": "false",
        "AZURE_CORE_ONLY_SHOW_ERRORS": "true",
        "AZURE_CORE_NO_COLOR": "true",
    }
    from azure.cli.core import get_default_cli

    return Az(Place.read(), get_default_cli)


if __name__ == "__main__":
    tell(SUITE.run(connect(sys.argv[1])))
