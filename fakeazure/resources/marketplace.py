"""Images of the marketplace: those that az knows by an alias, and what surrounds them.

Publishers, offers and SKUs are those of azure-cli's own list of aliases (November 2026), of Ubuntu's newer releases, and of Windows Server;
the versions stand for what is there, one or two of each. An image of another offer is taken to exist, as its SKU's name says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from fakeazure.arm.lists import largest_page
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.state import State
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class MarketplaceImage:
    """One SKU of an offer. `alias` is what az calls it, empty if it has none."""

    publisher: str
    offer: str
    sku: str
    alias: str = ""
    system: str = "Linux"
    generation: str = "V2"
    architecture: str = "x64"
    gigabytes: int = 30
    versions: tuple[str, ...] = ("1.0.20251015", "1.0.20251112")
    """Oldest first."""

    @property
    def urn(self) -> str:
        """The name without the version."""
        return f"{self.publisher}:{self.offer}:{self.sku}"


_UBUNTU = ("24.04.202510010", "24.04.202511150")
_JAMMY = ("22.04.202510020", "22.04.202511130")
_WINDOWS = ("20348.4294.251012", "20348.4405.251110")
_WINDOWS_ALIASES = {
    "2022-datacenter-g2": "Win2022Datacenter",
    "2022-datacenter-azure-edition-core": "Win2022AzureEditionCore",
    "2019-datacenter-gensecond": "Win2019Datacenter",
    "2016-datacenter-gensecond": "Win2016Datacenter",
    "2012-R2-Datacenter": "Win2012R2Datacenter",
    "2012-Datacenter": "Win2012Datacenter",
}
_WINDOWS_SKUS = """
2012-Datacenter 2012-datacenter-gensecond 2012-R2-Datacenter 2012-r2-datacenter-gensecond
2016-Datacenter 2016-datacenter-gensecond 2016-Datacenter-Server-Core 2016-datacenter-server-core-g2 2016-Datacenter-smalldisk
2016-datacenter-smalldisk-g2 2016-Datacenter-with-Containers 2016-datacenter-with-containers-g2
2019-Datacenter 2019-datacenter-gensecond 2019-Datacenter-Core 2019-datacenter-core-g2 2019-Datacenter-Core-smalldisk
2019-datacenter-core-smalldisk-g2 2019-Datacenter-Core-with-Containers 2019-datacenter-core-with-containers-g2
2019-Datacenter-smalldisk 2019-datacenter-smalldisk-g2 2019-Datacenter-with-Containers 2019-datacenter-with-containers-g2
2022-datacenter 2022-datacenter-g2 2022-datacenter-azure-edition 2022-datacenter-azure-edition-core
2022-datacenter-azure-edition-hotpatch 2022-datacenter-azure-edition-smalldisk 2022-datacenter-core 2022-datacenter-core-g2
2022-datacenter-core-smalldisk 2022-datacenter-core-smalldisk-g2 2022-datacenter-smalldisk 2022-datacenter-smalldisk-g2
2025-datacenter 2025-datacenter-g2 2025-datacenter-azure-edition 2025-datacenter-azure-edition-core 2025-datacenter-core
2025-datacenter-core-g2 2025-datacenter-smalldisk 2025-datacenter-smalldisk-g2
"""
"""SKUs without `g2`, `gensecond` or the Azure edition in their names are of generation 1."""


def named_generation(sku: str) -> str:
    """Return the Hyper-V generation that a SKU's name tells, V1 or V2; empty where it tells none."""
    name = sku.lower()
    if any(part in name for part in ("gen2", "gensecond", "-g2", "azure-edition", "arm64")):
        return "V2"
    return "V1" if "gen1" in name or "-g1" in name else ""


def named_architecture(offer: str, sku: str) -> str:
    """Return the CPU architecture that the names of an offer and its SKU tell: `rhel-arm64`, `almalinux-arm`, `12-arm64`."""
    name = f"{offer}-{sku}".lower()
    return "Arm64" if "arm64" in name or "arm" in name.replace("_", "-").split("-") else "x64"


IMAGES = (
    MarketplaceImage("Canonical", "ubuntu-24_04-lts", "server", "Ubuntu2404", versions=_UBUNTU),
    MarketplaceImage("Canonical", "ubuntu-24_04-lts", "server-gen1", generation="V1", versions=_UBUNTU),
    MarketplaceImage("Canonical", "ubuntu-24_04-lts", "server-arm64", architecture="Arm64", versions=_UBUNTU),
    MarketplaceImage("Canonical", "ubuntu-24_04-lts", "minimal", versions=_UBUNTU),
    MarketplaceImage("Canonical", "0001-com-ubuntu-server-jammy", "22_04-lts-gen2", "Ubuntu2204", versions=_JAMMY),
    MarketplaceImage("Canonical", "0001-com-ubuntu-server-jammy", "22_04-lts", generation="V1", versions=_JAMMY),
    MarketplaceImage(
        "Canonical", "0001-com-ubuntu-server-jammy", "22_04-lts-arm64", architecture="Arm64", versions=_JAMMY
    ),
    MarketplaceImage("microsoftazurelinux", "azurelinux-4", "4", "AzureLinux4"),
    MarketplaceImage("microsoftazurelinux", "azurelinux-4", "4-arm64", "AzureLinux4Arm64", architecture="Arm64"),
    MarketplaceImage("microsoftazurelinux", "azurelinux-4", "4-gen1", "AzureLinux4Gen1", generation="V1"),
    MarketplaceImage("OpenLogic", "CentOS", "8_5-gen2", "CentOS85Gen2", versions=("8.5.2022101800",)),
    MarketplaceImage("Debian", "debian-11", "11-backports-gen2", "Debian11", versions=("0.20251103.2283",)),
    MarketplaceImage("Debian", "debian-12", "12-gen2", versions=("0.20251112.2292",)),
    MarketplaceImage(
        "kinvolk", "flatcar-container-linux-free", "stable-gen2", "FlatcarLinuxFreeGen2", versions=("4230.2.4",)
    ),
    MarketplaceImage("SUSE", "openSUSE-leap-15-4", "gen2", "OpenSuseLeap154Gen2", versions=("2023.11.22",)),
    MarketplaceImage("RedHat", "RHEL", "8-lvm-gen2", "RHELRaw8LVMGen2", gigabytes=64, versions=("8.10.2025101012",)),
    MarketplaceImage("SUSE", "sles-15-sp3", "gen2", "SuseSles15SP3", versions=("2024.08.08",)),
    *(
        MarketplaceImage(
            "MicrosoftWindowsServer",
            "WindowsServer",
            sku,
            _WINDOWS_ALIASES.get(sku, ""),
            "Windows",
            named_generation(sku) or "V1",
            gigabytes=30 if "smalldisk" in sku else 127,
            versions=_WINDOWS,
        )
        for sku in _WINDOWS_SKUS.split()
    ),
)
_LISTED_OFFERS: Mapping[tuple[str, str], bool] = MappingProxyType(
    {
        ("canonical", "ubuntu-24_04-lts"): False,
        ("canonical", "0001-com-ubuntu-server-jammy"): True,
        ("microsoftazurelinux", "azurelinux-4"): True,
        ("microsoftwindowsserver", "windowsserver"): False,
        ("openlogic", "centos"): True,
    }
)
"""Offers whose listed SKUs have the listed versions only → whether all SKUs are listed, so that any other is refused."""
_LEVELS = ("publisher", "offer", "sku")


def find(publisher: str, offer: str, sku: str, version: str) -> tuple[MarketplaceImage, str] | None:
    """An image with its exact version (`latest` is the newest); None if nobody publishes that. The names compare without case."""
    for image in IMAGES:
        if image.urn.lower() == f"{publisher}:{offer}:{sku}".lower():
            if version.lower() == "latest":
                return image, image.versions[-1]
            return (image, version) if version in image.versions else None
    return None


def lists_versions(publisher: str, offer: str, sku: str) -> bool:
    """Return whether a SKU has the listed versions only: none where it is not listed itself, but all SKUs of its offer are."""
    whole = _LISTED_OFFERS.get((publisher.lower(), offer.lower()))
    urn = f"{publisher}:{offer}:{sku}".lower()
    return whole or (whole is not None and any(image.urn.lower() == urn for image in IMAGES))


def aliases() -> Mapping[str, Any]:
    """The document of aliases in the form that az reads."""
    aliases_by_system: dict[str, dict[str, Any]] = {"Linux": {}, "Windows": {}}
    for image in IMAGES:
        if image.alias:
            aliases_by_system[image.system][image.alias] = {
                "publisher": image.publisher,
                "offer": image.offer,
                "sku": image.sku,
                "version": "latest",
                "architecture": image.architecture,
            }
    return {"outputs": {"aliases": {"type": "object", "value": aliases_by_system}}}


def _items(state: State, request: Request, below: str, names: list[str]) -> Response:
    location = request.params["location"]
    head = (
        f"/Subscriptions/{request.params['subscription']}/Providers/Microsoft.Compute/Locations/{location}/Publishers"
    )
    rows = [{"location": location, "name": name, "id": f"{head}/{below}{name}"} for name in names]
    return Response(200, array=rows)


_EXTENSIONS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("Microsoft.Azure.Extensions", "CustomScript"): ("2.1.10", "2.1.13"),
    ("Microsoft.Azure.Extensions", "DockerExtension"): ("1.2.2",),
    ("Microsoft.Compute", "CustomScriptExtension"): ("1.10.20",),
    ("Microsoft.OSTCExtensions", "VMAccessForLinux"): ("1.5.20",),
    ("Microsoft.ManagedServices", "ApplicationHealthLinux"): ("2.0.18",),
    ("Microsoft.AKS", "Compute.AKS.Linux.AKSNode"): ("1.200.0",),
}
"""Publisher and type of an extension → its versions, oldest first; each stands for what there is."""


def _named(request: Request, level: str) -> list[str]:
    """The names at a level (`publisher`, `offer`, `sku`) under those that the path names."""
    above = _LEVELS[: _LEVELS.index(level)]
    names = [
        str(getattr(image, level))
        for image in IMAGES
        if all(str(getattr(image, name)).lower() == request.params[name].lower() for name in above)
    ]
    owners = {publisher for publisher, _ in _EXTENSIONS}
    if level == "publisher":
        names += owners
    elif not names and request.params["publisher"].lower() not in {name.lower() for name in owners}:
        raise refuse("ImageNotFound")  # who publishes extensions alone has no offers
    return sorted(dict.fromkeys(names), key=str.lower)


def _publishers(state: State, request: Request) -> Response:
    state.check_place(request, "locations/publishers")
    return _items(state, request, "", _named(request, "publisher"))


def _offers(state: State, request: Request) -> Response:
    state.check_place(request, "locations/publishers")
    below = f"{request.params['publisher']}/ArtifactTypes/VMImage/Offers/"
    return _items(state, request, below, _named(request, "offer"))


def _skus(state: State, request: Request) -> Response:
    state.check_place(request, "locations/publishers")
    below = f"{request.params['publisher']}/ArtifactTypes/VMImage/Offers/{request.params['offer']}/Skus/"
    return _items(state, request, below, _named(request, "sku"))


def _image(state: State, request: Request) -> MarketplaceImage:
    state.check_place(request, "locations/publishers")
    publisher, offer, sku = (request.params[name] for name in _LEVELS)
    match = find(publisher, offer, sku, "latest")
    if match is None:
        raise refuse("ImageNotFound")
    return match[0]


def _below(image: MarketplaceImage) -> str:
    return f"{image.publisher}/ArtifactTypes/VMImage/Offers/{image.offer}/Skus/{image.sku}/Versions/"


def _versions(state: State, request: Request) -> Response:
    image = _image(state, request)
    versions = list(image.versions)
    if request.query.get("$orderby", "").lower().endswith("desc"):
        versions.reverse()
    return _items(state, request, _below(image), versions[: largest_page(request)])


def _version(state: State, request: Request) -> Response:
    image = _image(state, request)
    match = find(image.publisher, image.offer, image.sku, request.params["version"])
    if match is None:
        raise refuse("ImageNotFound")
    location = request.params["location"]
    head = (
        f"/Subscriptions/{request.params['subscription']}/Providers/Microsoft.Compute/Locations/{location}/Publishers"
    )
    return Response(
        200,
        body={
            "location": location,
            "name": match[1],
            "id": f"{head}/{_below(image)}{match[1]}",
            "properties": {
                "hyperVGeneration": image.generation,
                "architecture": image.architecture,
                "replicaType": "Managed",
                "replicaCount": 10,
                "disallowed": {"vmDiskType": "None"},
                "automaticOSUpgradeProperties": {"automaticOSUpgradeSupported": False},
                "imageDeprecationStatus": {"imageState": "Active"},
                "features": [{"name": "SecurityType", "value": "TrustedLaunchSupported"}]
                if image.generation == "V2"
                else [],
                "osDiskImage": {"operatingSystem": image.system, "sizeInGb": image.gigabytes},
                "dataDiskImages": [],
            },
        },
    )


def _extension_names(request: Request) -> list[tuple[str, str]]:
    publisher, type_ = request.params["publisher"].lower(), request.params.get("type", "").lower()
    keys = [key for key in _EXTENSIONS if key[0].lower() == publisher and (not type_ or key[1].lower() == type_)]
    if not keys:
        raise refuse("ImageNotFound")
    return keys


def _extension_types(state: State, request: Request) -> Response:
    state.check_place(request, "locations/publishers")
    publisher = request.params["publisher"].lower()
    images_only = any(image.publisher.lower() == publisher for image in IMAGES)
    names = [type_ for owner, type_ in _EXTENSIONS if owner.lower() == publisher]
    if not names and not images_only:
        raise refuse("ImageNotFound")
    return _items(state, request, f"{request.params['publisher']}/ArtifactTypes/VMExtension/Types/", names)


def _extension_versions(state: State, request: Request) -> Response:
    state.check_place(request, "locations/publishers")
    [key] = _extension_names(request)
    return _items(
        state, request, f"{key[0]}/ArtifactTypes/VMExtension/Types/{key[1]}/Versions/", list(_EXTENSIONS[key])
    )


def _extension_version(state: State, request: Request) -> Response:
    state.check_place(request, "locations/publishers")
    [key] = _extension_names(request)
    version, location = request.params["version"], request.params["location"]
    if version not in _EXTENSIONS[key]:
        raise refuse("ImageNotFound")
    head = (
        f"/Subscriptions/{request.params['subscription']}/Providers/Microsoft.Compute/Locations/{location}/Publishers"
    )
    system = "Windows" if key == ("Microsoft.Compute", "CustomScriptExtension") else "Linux"
    properties = {
        "operatingSystem": system,
        "computeRole": "IaaS",
        "vmScaleSetEnabled": True,
        "supportsMultipleExtensions": False,
    }
    id_ = f"{head}/{key[0]}/ArtifactTypes/VMExtension/Types/{key[1]}/Versions/{version}"
    return Response(200, body={"location": location, "name": version, "id": id_, "properties": properties})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    publishers = "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}/publishers"
    offers = f"{publishers}/{{publisher}}/artifacttypes/vmimage/offers"
    skus = f"{offers}/{{offer}}/skus"
    versions = f"{skus}/{{sku}}/versions"
    yield Route("GET", publishers, _publishers)
    yield Route("GET", offers, _offers)
    yield Route("GET", skus, _skus)
    yield Route("GET", versions, _versions)
    yield Route("GET", f"{versions}/{{version}}", _version)
    types = f"{publishers}/{{publisher}}/artifacttypes/vmextension/types"
    yield Route("GET", types, _extension_types)
    yield Route("GET", f"{types}/{{type}}/versions", _extension_versions)
    yield Route("GET", f"{types}/{{type}}/versions/{{version}}", _extension_version)
