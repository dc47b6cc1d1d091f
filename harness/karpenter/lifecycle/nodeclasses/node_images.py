"""The node images of an AKSNodeClass: the newest there are, and those that it keeps until it may be brought up to date.

Source: kaz pkg/controllers/nodeclass/status/images.go, pkg/providers/imagefamily/{nodeimage,nodeimageversionsclient}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.engine.clock import Clock
from harness.engine.ports import Cloud
from harness.karpenter.launch.images import (
    ImageDefinition,
    ImageFamily,
    community_image_id,
    gallery_image_id,
    image_family,
)
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.latest import LatestOf

__all__ = ["NodeImages", "kept"]

Images = Sequence[Mapping[str, Any]]

_Wanted = tuple[ImageFamily, Sequence[ImageDefinition], tuple[str, ...]]
"""The family and the images of a spec, and the key under which Azure's answer is kept."""

_TTL = 3 * 24 * 3600.0
_SPECS = 64
"""The number of specs whose images are kept; they are read every three minutes."""


class NodeImages:
    """Asks Azure for the newest image versions; answers are kept for three days for each Kubernetes version and set of images."""

    def __init__(
        self, clock: Clock, cloud: Cloud, *, release: ProviderRelease, options: ProviderOptions, region: str
    ) -> None:
        self._clock = clock
        self._cloud = cloud
        self._release = release
        self._options = options
        self._region = region
        self._known: dict[tuple[str, ...], tuple[Images, float]] = {}
        self._wanted: LatestOf[Mapping[str, Any], _Wanted] = LatestOf(_SPECS)

    def newest(self, spec: Mapping[str, Any], kubernetes: str) -> Images:
        """The newest images for an AKSNodeClass with this spec, in the form of ``status.images``."""
        family, definitions, slot = self._wanted.of(spec, lambda: self._of(spec, kubernetes), kubernetes)
        entry = self._known.get(slot)
        if entry is not None and self._clock.seconds < entry[1]:
            return entry[0]
        versions = self._gallery_versions() if self._options.use_sig else {}
        images = [
            {"id": image_id, "requirements": _sorted(definition.requirements())}
            for definition in definitions
            if (image_id := self._image_id(family, definition, versions)) is not None
        ]
        self._known[slot] = images, self._clock.seconds + _TTL
        return images

    def _of(self, spec: Mapping[str, Any], kubernetes: str) -> _Wanted:
        family = image_family(spec, kubernetes=kubernetes, release=self._release)
        definitions = family.default_images(spec, self._release, use_sig=self._options.use_sig)
        return family, definitions, (kubernetes, family.gallery, *(definition.name for definition in definitions))

    def _image_id(self, family: ImageFamily, definition: ImageDefinition, versions: Mapping[str, str]) -> str | None:
        if self._options.use_sig:
            version = versions.get(definition.name)
            if version is None:
                return None
            return gallery_image_id(family, definition, version, subscription=self._options.sig_subscription_id)
        version = self._community_version(family, definition)
        return community_image_id(family, definition, version) if version is not None else None

    def _community_version(self, family: ImageFamily, definition: ImageDefinition) -> str | None:
        """The version published last."""
        path = (
            f"/subscriptions/{self._options.subscription_id}/providers/Microsoft.Compute/locations/{self._region}"
            f"/communityGalleries/{family.community_gallery}/images/{definition.name}/versions"
        )
        versions = self._read(path, "2025-03-03")
        newest = max(
            versions,
            key=lambda version: str((version.get("properties") or {}).get("publishedDate") or ""),
            default=None,
        )
        return str(newest["name"]) if newest is not None else None

    def _gallery_versions(self) -> Mapping[str, str]:
        """Image definition → its newest version, compared by its numbers."""
        path = (
            f"/subscriptions/{self._options.subscription_id}/providers/Microsoft.ContainerService"
            f"/locations/{self._region}/nodeImageVersions"
        )
        newest: dict[str, str] = {}
        for item in self._read(path, "2026-04-02-preview"):
            sku, version = str(item.get("sku")), str(item.get("version"))
            if sku not in newest or _numbers(version) > _numbers(newest[sku]):
                newest[sku] = version
        return newest

    def _read(self, path: str, version: str) -> Images:
        answer = self._cloud.request("GET", path, query={"api-version": version})
        if answer.status != 200:
            return ()
        items: Images = (answer.body or {}).get("value") or ()
        return items


def kept(images: Images, newest: Images) -> Images:
    """The newest images; of those that an AKSNodeClass has already, its own version (overrideAnyGoalStateVersionsWithExisting)."""
    mine = {_base(image): image for image in images}
    return [mine.get(_base(image), image) for image in newest]


def _base(image: Mapping[str, Any]) -> str:
    return str(image["id"]).rsplit("/", 2)[0]


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def _sorted(requirements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(requirements, key=lambda requirement: (len(requirement["key"]), requirement["key"]))
