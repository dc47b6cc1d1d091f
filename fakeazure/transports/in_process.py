"""In process: whatever uses `requests` talks to the cloud without a socket, through the `responses` package.

```
with InProcess(azure) as azure_http:
    headers = {"Authorization": f"Bearer {azure_http.token()}"}
    requests.get("https://management.azure.com/subscriptions?api-version=2022-12-01", headers=headers)
```
"""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from fakeazure.cloud import FakeAzure
from fakeazure.market.faults import DROPPED, TRUNCATED
from fakeazure.transports.guard import OPEN
from fakeazure.transports.wire import Front

HOSTS = ("management.azure.com", "login.microsoftonline.com", "prices.azure.com")
METHODS = ("GET", "PUT", "PATCH", "POST", "DELETE", "HEAD")


class TransportUnavailable(RuntimeError):
    """What the transport needs is not installed; the text is one line that says what."""


class InProcess:
    """A context in which Azure's hosts are the cloud; other hosts are refused, unless `passthrough`."""

    def __init__(
        self,
        cloud: FakeAzure,
        *,
        hosts: tuple[str, ...] = HOSTS,
        authenticate: bool = True,
        passthrough: bool = False,
        front: Front | None = None,
    ) -> None:
        """Serve `cloud` for `hosts`."""
        self.front = front or Front(cloud, authenticate=authenticate, guard=OPEN)
        self._hosts = hosts
        self._passthrough = passthrough
        self._mock: Any = None

    def __enter__(self) -> InProcess:
        """Take the place of Azure. TransportUnavailable without the `responses` package."""
        try:
            import responses
        except ImportError:
            raise TransportUnavailable("the in-process transport needs the package 'responses'") from None
        self._mock = responses.RequestsMock(assert_all_requests_are_fired=False)
        pattern = re.compile(rf"https?://({'|'.join(re.escape(host) for host in self._hosts)})(:\d+)?/.*")
        for method in METHODS:
            self._mock.add_callback(method, pattern, callback=self._answer, content_type=None)
        if self._passthrough:
            self._mock.add_passthru(re.compile(r".*"))
        self._mock.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give Azure its place back."""
        self._mock.stop()
        self._mock.reset()

    def token(self, audience: str = "https://management.azure.com") -> str:
        """A bearer token, for callers that have no credential to get one."""
        return self.front.tokens.token(audience)

    def _answer(self, request: Any) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(request.url)
        body = request.body or b""
        raw = body.encode() if isinstance(body, str) else body
        reply = self.front.handle(
            request.method, request.url, dict(request.headers), raw, origin=f"{parts.scheme}://{parts.netloc}"
        )
        what, _ = reply.fault
        if what in (DROPPED, TRUNCATED):  # a slow answer is in time where time is the cloud's own
            import requests

            kind = requests.ConnectionError if what == DROPPED else requests.exceptions.ChunkedEncodingError
            raise kind(f"declared fault: the answer is {what.lower()}")
        return reply.status, dict(reply.headers), reply.body
