"""The published versions of node images."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from fakeazure.catalog.images import DEFINITIONS, published_date, recorded_version, released, version_of_day
from fakeazure.market.wording import MarketError, hint

__all__ = ["RELEASED", "Images", "chosen"]

RELEASED = "released"
"""In place of versions: each comes out on its day, as AKS's release notes tell."""


class Images:
    """The versions of a definition: what was recorded, what came out since where that is wanted, and what was published here."""

    def __init__(self, as_of: str | None = None) -> None:
        """`as_of`: an ISO date; what was recorded is then the last version that came out until its end."""
        self._as_of = as_of
        self._own: dict[str, tuple[str, ...]] = {}
        self.come_out = False
        """Whether versions come out on their days."""

    def publish(self, definition: str, version: str) -> None:
        """Publishes a newer version. KeyError for a definition that AKS does not have."""
        if definition not in DEFINITIONS:
            raise KeyError(f"unknown image definition {definition!r}; known are {', '.join(DEFINITIONS)}")
        others = tuple(old for old in self._own.get(definition, ()) if old != version)
        self._own[definition] = (version, *others)

    def versions(self, definition: str, now: float) -> tuple[str, ...]:
        """All versions of a definition at a moment in seconds since the epoch, newest first."""
        own = self._own.get(definition, ())
        others = [recorded_version(definition) if self._as_of is None else version_of_day(definition, self._as_of)]
        if self.come_out:
            today = datetime.fromtimestamp(now, UTC).isoformat()
            out = (version for version in released(definition) if published_date(version) <= today)
            others = sorted({*others, *out}, key=_numbers, reverse=True)
        return (*own, *(version for version in others if version not in own))

    def change(self, spec: str | Mapping[str, str]) -> None:
        """Read the `azure:` block: `released`, or versions by definition or the beginning of its name. Raises MarketError."""
        if spec == RELEASED:
            self.come_out = True
            return
        for definition, version in chosen(spec).items():
            self.publish(definition, version)


def chosen(spec: str | Mapping[str, str]) -> Mapping[str, str]:
    """Definition → version. Raises MarketError for a name that no definition begins with, and for what is no version."""
    if not isinstance(spec, Mapping):
        raise MarketError("images", f"'{RELEASED}' is expected, or versions by image, not {spec!r}")
    versions: dict[str, str] = {}
    for name, version in spec.items():
        fitting = [definition for definition in DEFINITIONS if definition.lower().startswith(str(name).lower())]
        if not fitting:
            raise MarketError(f"images.{name}", f"no node image is called so{hint(str(name), DEFINITIONS)}")
        parts = str(version).split(".")
        if len(parts) != 3 or not all(part.isdigit() for part in parts):
            raise MarketError(f"images.{name}", f"a version such as 202601.13.0 is expected, not {version!r}")
        # the longer name says it more exactly
        versions.update(
            {definition: str(version) for definition in fitting if name == definition or definition not in spec}
        )
    return versions


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
