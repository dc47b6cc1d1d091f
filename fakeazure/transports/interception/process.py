"""The process with mocks on: what is patched, and what the environment says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, MutableMapping

from fakeazure.transports.interception import aiohttp_connector, blocking, httpcore_pools, sockets
from fakeazure.transports.interception.active import Active, World
from fakeazure.transports.interception.patches import Patch, Patches

_ELSEWHERE = (
    "AZURE_AUTHORITY_HOST", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_PASSWORD", "AZURE_POD_IDENTITY_AUTHORITY_HOST",
    "AZURE_REGIONAL_AUTHORITY_NAME", "AZURE_USERNAME", "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "IDENTITY_SERVER_THUMBPRINT",
    "IMDS_ENDPOINT", "MSI_ENDPOINT", "MSI_SECRET",
)  # fmt: skip
"""Variables that lead the SDKs' credentials to another authority, or that hold somebody's real secret (azure.identity._constants)."""
_IDS = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_SUBSCRIPTION_ID")
"""Variables that are left as they are where a user has set them: a mock takes any."""


class Environment:
    """The variables that the SDKs read credentials from, while a mock is on."""

    def __init__(self, variables: MutableMapping[str, str]) -> None:
        """Change `variables`."""
        self._variables = variables
        self._before: dict[str, str | None] = {}

    def set(self, credentials: Mapping[str, str]) -> None:
        """Set fake credentials, and take away what would lead elsewhere."""
        wanted: dict[str, str | None] = dict.fromkeys(_ELSEWHERE)
        wanted |= {
            name: value for name, value in credentials.items() if name not in _IDS or not self._variables.get(name)
        }
        self._before = {name: self._variables.get(name) for name in wanted}
        self._write(wanted)

    def restore(self) -> None:
        """Set everything as it was before."""
        before, self._before = self._before, {}
        self._write(before)

    def _write(self, values: Mapping[str, str | None]) -> None:
        for name, value in values.items():
            if value is None:
                self._variables.pop(name, None)
            else:
                self._variables[name] = value


def patches_of(active: Active) -> Iterator[Patch]:
    """Yield every patch that is made while a world is on."""
    for part in (blocking, httpcore_pools, aiohttp_connector, sockets):
        yield from part.patches(active)


def _process() -> Active:
    made, environment = Patches(), Environment(os.environ)

    def began(world: World) -> None:
        try:
            made.make(patches_of(active))
            environment.set(world.credentials)
        except BaseException:
            ended()
            raise

    def ended() -> None:
        environment.restore()
        made.undo()

    active = Active(began, ended)
    return active


ACTIVE = _process()
"""The worlds that are on in this process: what is patched is the process's, so there is one list of them."""
