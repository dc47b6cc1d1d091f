"""In process: every HTTP client for Python that is installed talks to the cloud without a socket.

```
with InProcess(azure) as azure_http:
    headers = {"Authorization": f"Bearer {azure_http.token()}"}
    requests.get("https://management.azure.com/subscriptions?api-version=2022-12-01", headers=headers)
```
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

from fakeazure.arm import json_text
from fakeazure.cloud import FakeAzure
from fakeazure.transports.guard import AZURE_NAMES, OPEN
from fakeazure.transports.limits import Limits
from fakeazure.transports.wire import Front, Reply

if TYPE_CHECKING:
    from fakeazure.transports.interception.active import Entry

HOSTS = (*sorted(AZURE_NAMES), "login.microsoft.com", "login.windows.net", "sts.windows.net")
"""Hosts that the cloud answers for: those of a served cloud, and older names of the authority."""


class InProcess:
    """A context in which Azure's hosts are the cloud, for the thread or task that enters it and those that it starts.

    Other hosts of Azure answer 501 `NotEmulated`. Hosts of somebody else are refused, but for loopback addresses and with `passthrough`.
    It may be entered again while it is on: it ends when it is left as often.
    """

    def __init__(
        self,
        cloud: FakeAzure,
        *,
        hosts: tuple[str, ...] = HOSTS,
        authenticate: bool = True,
        passthrough: bool = False,
        any_tenant: bool = False,
        front: Front | None = None,
    ) -> None:
        """Serve `cloud` for `hosts`. With `any_tenant` the authority knows every tenant."""
        self.front = front or Front(cloud, authenticate=authenticate, guard=OPEN, any_tenant=any_tenant)
        self.limits: Limits = self.front.limits
        self._hosts = frozenset(hosts)
        self._passthrough = passthrough
        self._entries: list[Entry] = []

    def __enter__(self) -> InProcess:
        """Take the place of Azure."""
        from fakeazure.transports.interception.process import ACTIVE  # the clients are imported by whoever needs them

        self._entries.append(ACTIVE.enter(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give Azure its place back."""
        from fakeazure.transports.interception.process import ACTIVE

        thread = threading.current_thread()
        own = [entry for entry in self._entries if entry.thread is thread]
        entry = (own or self._entries)[-1]
        self._entries.remove(entry)
        ACTIVE.leave(entry)

    @property
    def entered(self) -> bool:
        """Return whether it is on."""
        return bool(self._entries)

    @property
    def credentials(self) -> Mapping[str, str]:
        """Variables of the environment from which `EnvironmentCredential` is made, and the subscription's."""
        settings = self.front.cloud.state.settings
        return {
            "AZURE_TENANT_ID": settings.tenant,
            "AZURE_SUBSCRIPTION_ID": settings.subscription,
            "AZURE_CLIENT_ID": self.front.cloud.guid_of("client"),
            "AZURE_CLIENT_SECRET": "fakeazure",
        }

    def token(self, audience: str = "https://management.azure.com") -> str:
        """A bearer token, for callers that have no credential to get one."""
        return self.front.tokens.token(audience)

    def catches(self, host: str) -> bool:
        """Tell whether requests to `host` are answered here. `Refused` for one that is neither answered nor let out."""
        from fakeazure.transports.interception.active import Refused
        from fakeazure.transports.interception.names import is_azure, is_loopback

        if host in self._hosts or is_azure(host):
            return True
        if self._passthrough or is_loopback(host):
            return False
        raise Refused(
            f"'{host[:100]}' is not Azure's, and mock_azure() lets nothing out; mock_azure(passthrough=True) does"
        )

    def handle(self, method: str, url: str, headers: Mapping[str, str], raw: bytes, origin: str) -> Reply:
        """Answer a request; `origin` is the scheme and host that the client used."""
        from fakeazure.transports.interception.names import host_of

        host = host_of(origin)
        if host in self._hosts:
            return self.front.handle(method, url, headers, raw, origin=origin)
        message = f"The host '{host[:100]}' is not emulated; mock_azure() answers for {', '.join(sorted(self._hosts))}."
        body = json_text.write({"error": {"code": "NotEmulated", "message": message}})
        return Reply(501, {"Content-Type": "application/json; charset=utf-8", "Content-Length": str(len(body))}, body)

    def refusal(self, row: str, facts: Mapping[str, object]) -> Reply:
        """Answer a request that is not understood, with a row of ARM's texts."""
        return self.front.refusal(row, **facts)
