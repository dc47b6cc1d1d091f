"""HTTP on one side, the cloud's plain mappings on the other; the same for every transport."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from fakeazure.arm.messages import Response
from fakeazure.arm.texts import failure
from fakeazure.cloud import FakeAzure
from fakeazure.resources.retail_prices import ORIGIN
from fakeazure.transports.tokens import Tokens

_ABSOLUTE = ("Azure-AsyncOperation", "Location")


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP response with its body as bytes; `headers` have the length and the type."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Front:
    """The cloud behind HTTP: tokens, JSON, absolute URLs; one call at a time.

    With `authenticate`, a request to ARM without a bearer token is refused, as Azure does.
    """

    def __init__(self, cloud: FakeAzure, *, authenticate: bool = True, tokens: Tokens | None = None) -> None:
        """Serve `cloud`. Fronts of one cloud share its lock if they are given the same `lock` afterwards."""
        self.cloud = cloud
        self.lock = threading.RLock()
        self._authenticate = authenticate
        self._tokens = tokens or Tokens(cloud.state.settings.tenant, cloud.now)

    def handle(self, method: str, url: str, headers: Mapping[str, str], raw: bytes, *, origin: str) -> Reply:
        """Answer one HTTP request. `url` is a path or absolute; `origin` is the scheme and host that the client used."""
        parts = urlsplit(url)
        path = unquote(parts.path) or "/"
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        lowered = {name.lower(): value for name, value in headers.items()}
        with self.lock:
            token = self._tokens.answer(method, path, query, lowered, raw, origin)
            if token is not None:
                return self._reply(token, origin)
            if self._authenticate and self._guarded(path) and not _bearer(lowered):
                return self._reply(failure("AuthenticationFailed").response(), origin, challenge=True)
            body: Mapping[str, Any] | None = None
            if raw.strip():
                try:
                    body = json.loads(raw)
                    if not isinstance(body, Mapping):
                        raise ValueError("The request body must be a JSON object.")
                except ValueError as error:
                    return self._reply(failure("InvalidRequestContent", reason=str(error)).response(), origin)
            answer = self.cloud.request(method, path, query=query, body=body, headers=lowered)
        return self._reply(answer, origin)

    def _guarded(self, path: str) -> bool:
        return not path.lower().startswith(("/metadata/", "/api/retail/"))

    def _reply(self, answer: Response, origin: str, *, challenge: bool = False) -> Reply:
        base = self.cloud.state.settings.base_url
        headers = {
            name: origin + value.removeprefix(base) if name in _ABSOLUTE and value.startswith(base) else value
            for name, value in answer.headers.items()
        }
        if challenge:
            headers["WWW-Authenticate"] = f'Bearer authorization_uri="{origin}/{self.cloud.state.settings.tenant}"'
        content = b""
        if answer.body is not None:
            body = answer.body
            for link, host in (("nextLink", base), ("NextPageLink", ORIGIN)):
                following = body.get(link)
                if isinstance(following, str) and following.startswith(host):
                    body = {**body, link: origin + following.removeprefix(host)}
            content = json.dumps(body, default=_plain, separators=(",", ":")).encode()
            headers["Content-Type"] = "application/json; charset=utf-8"
        headers["Content-Length"] = str(len(content))
        return Reply(answer.status, headers, content)


def _plain(value: object) -> object:
    """What `json` does not know: mappings that are no dict."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _bearer(headers: Mapping[str, str]) -> bool:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and bool(token.strip())
