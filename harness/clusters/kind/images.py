"""The node image to run for a Kubernetes version."""

from __future__ import annotations

import os
from collections.abc import Mapping

from harness.kube.api.versions import Version

__all__ = ["IMAGES", "UnknownImage", "image_for"]

IMAGES: Mapping[str, str] = {
    "1.31.0": "kindest/node:v1.31.0@sha256:53df588e04085fd41ae12de0c3fe4c72f7013bba32a20e7325357a1ac94ba865",
    "1.31.2": "kindest/node:v1.31.2@sha256:18fbefc20a7113353c7b75b5c869d7145a6abd6269154825872dc59c1329912e",
    "1.32.0": "kindest/node:v1.32.0@sha256:c48c62eac5da28cdadcf560d1d8616cfa6783b58f0d94cf63ad1bf49600cb027",
    "1.32.2": "kindest/node:v1.32.2@sha256:f226345927d7e348497136874b6d207e0b32cc52154ad8323129352923a3142f",
    "1.33.1": "kindest/node:v1.33.1@sha256:050072256b9a903bd914c0b2866828150cb229cea0efe5892e2b644d5dd3b34f",
    "1.34.0": "kindest/node:v1.34.0@sha256:7416a61b42b1662ca6ca89f02028ac133a309a2a30ba309614e8ec94d976dc5a",
    "1.35.0": "kindest/node:v1.35.0@sha256:452d707d4862f52530247495d180205e029056831160e22870e37e3f6c1ac31f",
    "1.36.1": "kindest/node:v1.36.1@sha256:3489c7674813ba5d8b1a9977baea8a6e553784dab7b84759d1014dbd78f7ebd5",
    "1.37.0": "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5",
}
"""The default images of kind v0.24.0 to v0.33.0 (pkg/apis/config/defaults/image.go); of 1.33.1 the image of the later release."""


class UnknownImage(LookupError):
    """No released kind names an image of this Kubernetes version; the message lists the known versions and the way to name an image."""


def image_for(kubernetes: str = "", environ: Mapping[str, str] = os.environ) -> str:
    """The image in `HARNESS_KIND_IMAGE`, else kind's own of this version (`1.34`: the newest patch; empty: the newest)."""
    named = environ.get("HARNESS_KIND_IMAGE")
    if named:
        return named
    wanted = kubernetes.removeprefix("v")
    if wanted in IMAGES:
        return IMAGES[wanted]
    line = Version.parse(wanted).line if wanted else None
    versions = [version for version in IMAGES if line is None or Version.parse(version).line == line]
    if not versions:
        raise UnknownImage(
            f"kind has no image of Kubernetes {kubernetes}; it has {', '.join(IMAGES)}. Or set HARNESS_KIND_IMAGE"
        )
    return IMAGES[max(versions, key=Version.parse)]
