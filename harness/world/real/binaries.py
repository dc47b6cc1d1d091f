"""The paths of the controllers: HARNESS_KARPENTER names the binary of one release, or of several."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness.karpenter.releases import DEFAULT_RELEASE, UnknownRelease, provider

__all__ = ["VARIABLE", "BinariesWrong", "binaries"]

VARIABLE = "HARNESS_KARPENTER"


class BinariesWrong(ValueError):
    """HARNESS_KARPENTER cannot be used as it is; the text is one line with the reason."""


def binaries(environment: Mapping[str, str] = os.environ) -> dict[str, Path]:
    """Release → controller: `HARNESS_KARPENTER=PATH` (of the default release), or `1.14.0=PATH,1.10.2=PATH`. Empty when it is not set.

    Raises BinariesWrong for releases that do not exist and files that cannot be executed.
    """
    paths: dict[str, Path] = {}
    for entry in filter(None, (part.strip() for part in environment.get(VARIABLE, "").split(","))):
        release, sign, path = entry.partition("=")
        if not sign:
            release, path = DEFAULT_RELEASE, entry
        try:
            version = provider(release).version
        except UnknownRelease as error:
            raise BinariesWrong(f"{VARIABLE}: {error}") from None
        if not os.access(path, os.X_OK) or Path(path).is_dir():
            raise BinariesWrong(f"{VARIABLE}: {path} is no program that can be executed")
        paths[version] = Path(path).absolute()
    return paths
