"""api-versions: every ARM request names one that its namespace has, or had.

Several clients of different age talk to the same resource, so the answer does not depend on the version. A version newer than all that
are known is served for two years: it is the client that is newer than the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from fakeazure.arm.api_versions import API_VERSIONS
from fakeazure.arm.texts import refuse

_FORM = re.compile(r"\d{4}-\d{2}-\d{2}(-(preview|alpha|beta|privatepreview)([.-]?\d{1,8})?)?", re.IGNORECASE)
_LONGEST = len("2024-01-01-privatepreview.12345678")
_AHEAD = 2
"""Years that a client may be ahead of the list."""
RESOURCES = "Microsoft.Resources"
_BY_NAME = {name.lower(): name for name in API_VERSIONS}


def check_version(
    version: str, *, namespace: str, type_: str, location: str, locations: Callable[[], Sequence[str]]
) -> None:
    """Refuse a request without an `api-version` that its namespace has, with ARM's codes and the list.

    `type_` is the resource type without the namespace, `location` where the resource is, `locations` returns where it could be.
    """
    if len(version) <= _LONGEST and _served(namespace, version):
        return
    if not version:
        raise refuse("MissingApiVersionParameter")
    if not _FORM.fullmatch(version):
        raise refuse("InvalidApiVersionParameter", version=version[:100], versions=",".join(_newest_first(RESOURCES)))
    exact = _BY_NAME[namespace.lower()]
    if exact == RESOURCES:
        raise refuse("InvalidApiVersionParameter", version=version, versions=",".join(_newest_first(RESOURCES)))
    raise refuse(
        "NoRegisteredProviderFound",
        location=location,
        version=version,
        type=type_,
        versions=", ".join(API_VERSIONS[exact]),
        locations=", ".join(locations()),
    )


@lru_cache(maxsize=1024)
def _served(namespace: str, version: str) -> bool:
    """Return whether a version is served; an unknown namespace takes all that look like one."""
    if not _FORM.fullmatch(version):
        return False
    exact = _BY_NAME.get(namespace.lower())
    return exact is None or _exists(exact, version.lower())


def _exists(namespace: str, version: str) -> bool:
    offered = API_VERSIONS[namespace]
    newest = offered[-1]
    if version in offered:
        return True
    return newest[:10] < version[:10] <= f"{int(newest[:4]) + _AHEAD}{newest[4:10]}"


def _newest_first(namespace: str) -> tuple[str, ...]:
    return tuple(reversed(API_VERSIONS[namespace]))
