"""Node images: what AKS and its galleries list, and what a VM can boot from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import number, section, text
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.paging import page
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.catalog.images import DEFINITIONS, GALLERIES, published_date
from fakeazure.resources import marketplace
from fakeazure.state import State
from lazyrecords import dataclass

_REFERENCES = ("communityGalleryImageId", "sharedGalleryImageId", "id")


@dataclass(frozen=True, slots=True)
class Image:
    """The image that a VM boots from: `generation` is V1, V2 or empty where nothing tells it, `architecture` x64 or Arm64."""

    gallery: str
    definition: str
    version: str
    generation: str
    architecture: str

    @property
    def node_image_version(self) -> str:
        """The name that AKS gives it: `AKSUbuntu-2404gen2containerd-202512.18.0`."""
        return f"{self.gallery}-{self.definition}-{self.version}"


def _of_aks(gallery: str, definition: str, version: str) -> Image:
    """Return an image of AKS, whose generation and architecture the definition's name tells."""
    name = definition.lower()
    generation, architecture = "V2" if "gen2" in name else "V1", "Arm64" if "arm64" in name else "x64"
    return Image(gallery, definition, version, generation, architecture)


def versions_of(state: State, definition: str) -> tuple[str, ...]:
    """The published versions of a definition, newest first."""
    return state.market.images.versions(definition, state.now())


def find(state: State, reference: Mapping[str, Any]) -> Image | None:
    """The image of a VM's `imageReference`; None if no gallery has that version.

    A marketplace image of an offer that is not listed here is taken to exist, as its SKU's name says.
    """
    named = next(filter(None, (text(reference, name) for name in _REFERENCES)), "")
    if not named:
        return _marketplace(*(text(reference, name) for name in ("publisher", "offer", "sku", "version")))
    if (own := _own(state, named)) is not None:
        return own
    parts = named.strip("/").split("/")
    lowered = [part.lower() for part in parts]
    if "images" not in lowered or "versions" not in lowered:
        return None
    gallery, definition = parts[lowered.index("images") - 1], parts[lowered.index("images") + 1]
    version = parts[lowered.index("versions") + 1] if lowered.index("versions") + 1 < len(parts) else ""
    for known_definition, shared in DEFINITIONS.items():
        if known_definition.lower() == definition.lower() and gallery.lower() in (
            shared.lower(),
            GALLERIES[shared].lower(),
        ):
            return (
                _of_aks(shared, known_definition, version) if version in versions_of(state, known_definition) else None
            )
    return None


def _own(state: State, named: str) -> Image | None:
    """An image that somebody made: a managed one, or of a gallery of one's own, with or without its version."""
    entry = state.store.get(f"/{named.strip('/')}")
    if entry is None or entry.id.types[-1] not in ("images", "versions"):
        return None
    types = entry.id.types
    definition = entry if types[-1] == "images" else state.store.get(entry.id.parent or entry.id)
    properties = definition.document["properties"] if definition is not None else {}
    if types == ("galleries", "images") and next(state.store.children(entry.id, "versions"), None) is None:
        return None
    generation = "V2" if text(properties, "hyperVGeneration").upper() == "V2" else "V1"
    architecture = "Arm64" if text(properties, "architecture").lower() == "arm64" else "x64"
    name = definition.id.name if definition is not None else ""
    return Image(entry.id.names[0], name, entry.id.name if types[-1] == "versions" else "", generation, architecture)


def os_disk(state: State, reference: Mapping[str, Any]) -> dict[str, Any]:
    """The size in GiB and the system that a VM's OS disk has of its image; 30 of Linux where the image says nothing."""
    match = marketplace.find(*(text(reference, name) for name in ("publisher", "offer", "sku", "version")))
    if match is not None:
        return {"diskSizeGB": match[0].gigabytes, "osType": match[0].system}
    entry = state.store.get(f"/{text(reference, 'id').strip('/')}")
    properties = entry.document["properties"] if entry is not None else {}
    disk = section(section(properties, "storageProfile"), "osDisk")
    system = text(disk, "osType") or text(properties, "osType", "Linux")
    return {"diskSizeGB": int(number(disk, "diskSizeGB", 30)), "osType": system}


def _marketplace(publisher: str, offer: str, sku: str, version: str) -> Image | None:
    match = marketplace.find(publisher, offer, sku, version)
    if match is None:
        if marketplace.lists_versions(publisher, offer, sku):
            return None
        architecture = marketplace.named_architecture(offer, sku)
        generation = "V2" if architecture == "Arm64" else marketplace.named_generation(sku)
        return Image(publisher, sku, version, generation, architecture)
    image, exact_version = match
    return Image(image.publisher, image.sku, exact_version, image.generation, image.architecture)


def exact(storage: Mapping[str, Any]) -> Mapping[str, Any]:
    """A storage profile's `imageReference` with the version that `latest` means; empty where there is nothing to tell."""
    reference = section(storage, "imageReference")
    match = marketplace.find(*(text(reference, name) for name in ("publisher", "offer", "sku", "version")))
    return {} if match is None else {"imageReference": {**reference, "exactVersion": match[1]}}


def node_image(state: State, name: str) -> Image | None:
    """The image that AKS's name means (`AKSUbuntu-2404gen2containerd-202512.18.0`); None if there is no such version."""
    gallery, _, rest = name.partition("-")
    definition, _, version = rest.partition("-")
    for known_definition, shared in DEFINITIONS.items():
        if known_definition.lower() == definition.lower() and shared.lower() == gallery.lower():
            return (
                _of_aks(shared, known_definition, version) if version in versions_of(state, known_definition) else None
            )
    return None


_COMMUNITY = "Microsoft.Compute/locations/communityGalleries"


def _community(request: Request) -> tuple[str, str]:
    """The shared gallery of a community gallery, and its public name. FIPS images are in the shared galleries only."""
    for shared, public in GALLERIES.items():
        if public.lower() == request.params["gallery"].lower():
            return shared, public
    raise refuse("GalleryNotFound", gallery=request.params["gallery"], location=request.params["location"])


def _community_gallery(state: State, request: Request) -> Response:
    _, public = _community(request)
    return Response(200, body=_shown(request, public, "", f"/CommunityGalleries/{public}", {}))


def _shown(request: Request, name: str, type_: str, unique: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "location": request.params["location"],
        "type": _COMMUNITY + type_,
        "properties": properties,
        "identifier": {"uniqueId": unique},
    }


def _definition(request: Request, public: str, definition: str) -> dict[str, Any]:
    image = _of_aks(public, definition, "")
    properties = {
        "osType": "Linux",
        "osState": "Generalized",
        "hyperVGeneration": image.generation,
        "architecture": image.architecture,
        "identifier": {"publisher": "AKS", "offer": public.partition("-")[0], "sku": definition},
    }
    return _shown(request, definition, "/images", f"/CommunityGalleries/{public}/Images/{definition}", properties)


def _community_images(state: State, request: Request) -> Response:
    shared, public = _community(request)
    names = [name for name, gallery in DEFINITIONS.items() if gallery == shared and "fips" not in name.lower()]
    items = [_definition(request, public, name) for name in names]
    return page(request, items, size=None, base_url=state.settings.base_url)


def _community_definition(request: Request) -> tuple[str, str]:
    """The public gallery and the definition that a request names."""
    gallery, name = request.params["gallery"], request.params["image"]
    for definition, shared in DEFINITIONS.items():
        if (
            definition.lower() == name.lower()
            and GALLERIES[shared].lower() == gallery.lower()
            and "fips" not in definition.lower()
        ):
            return GALLERIES[shared], definition
    raise refuse(
        "GalleryImageNotFound",
        image=f"/CommunityGalleries/{gallery}/Images/{name}",
        location=request.params["location"],
    )


def _community_image(state: State, request: Request) -> Response:
    return Response(200, body=_definition(request, *_community_definition(request)))


def _community_version_items(state: State, request: Request) -> list[dict[str, Any]]:
    public, definition = _community_definition(request)
    head = f"/CommunityGalleries/{public}/Images/{definition}/Versions"
    return [
        _shown(
            request,
            version,
            "/images/versions",
            f"{head}/{version}",
            {"publishedDate": published_date(version), "excludeFromLatest": False},
        )
        for version in versions_of(state, definition)
    ]


def _community_versions(state: State, request: Request) -> Response:
    return page(request, _community_version_items(state, request), size=None, base_url=state.settings.base_url)


def _community_version(state: State, request: Request) -> Response:
    for item in _community_version_items(state, request):
        if item["name"] == request.params["version"]:
            return Response(200, body=item)
    image = f"/CommunityGalleries/{request.params['gallery']}/Images/{request.params['image']}"
    raise refuse(
        "GalleryImageNotFound",
        image=f"{image}/Versions/{request.params['version']}",
        location=request.params["location"],
    )


def _node_image_versions(state: State, request: Request) -> Response:
    items = [
        {
            "fullName": f"{shared}-{definition}-{version}",
            "os": shared,
            "sku": definition,
            "version": version,
        }
        for definition, shared in DEFINITIONS.items()
        for version in versions_of(state, definition)
    ]
    return page(request, items, size=state.settings.page_size, base_url=state.settings.base_url)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    place = "/subscriptions/{subscription}/providers/Microsoft.{rp}/locations/{location}"
    compute = place.replace("{rp}", "Compute")
    gallery = f"{compute}/communityGalleries/{{gallery}}"
    yield Route("GET", gallery, _community_gallery)
    yield Route("GET", f"{gallery}/images", _community_images)
    yield Route("GET", f"{gallery}/images/{{image}}", _community_image)
    yield Route("GET", f"{gallery}/images/{{image}}/versions", _community_versions)
    yield Route("GET", f"{gallery}/images/{{image}}/versions/{{version}}", _community_version)
    yield Route("GET", f"{place.replace('{rp}', 'ContainerService')}/nodeImageVersions", _node_image_versions)
