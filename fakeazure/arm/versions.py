"""api-versions: every ARM request names one. Any well-formed version is served; which one was sent is journaled.

Several clients of different age talk to the same resource (azure-api.md lists four for a VM), so the answer does not depend on
the version.
"""

from __future__ import annotations

import re

from fakeazure.arm.texts import refuse

_FORM = re.compile(r"\d{4}-\d{2}-\d{2}(-(preview|alpha|beta|privatepreview)([.-]?\d+)?)?", re.IGNORECASE)


def check_version(version: str) -> None:
    """Refuse a request without a well-formed `api-version`, with ARM's codes."""
    if not version:
        raise refuse("MissingApiVersionParameter")
    if not _FORM.fullmatch(version):
        raise refuse("InvalidApiVersionParameter", version=version)
