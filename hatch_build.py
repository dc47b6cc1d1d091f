"""Hatchling's metadata hook: the package's README and URLs, which depend on the addresses that the project owns."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?://)([^)]+)\)")
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)]+)\)")


def readme_at(readme: str, repository: str) -> str:
    """Return the README as an index shows it: no files lie beside it, so that relative links and pictures become absolute."""
    if not repository:
        return readme
    return LINK.sub(rf"]({repository}/blob/main/\g<1>)", PICTURE.sub(rf"![\g<1>]({repository}/raw/main/\g<2>)", readme))


def urls_of(repository: str) -> dict[str, str]:
    """Return the package's URLs by their usual names: none as long as the project owns no repository."""
    if not repository:
        return {}
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/tree/main/docs",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


class Addresses(MetadataHookInterface):
    """Adds README and URLs by `addresses.toml`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill the dynamic fields `readme` and `urls` of `[project]`."""
        root = Path(self.root)
        repository = tomllib.loads((root / "addresses.toml").read_text(encoding="utf-8"))["repository"]
        text = readme_at((root / "README.md").read_text(encoding="utf-8"), repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = urls_of(repository)
