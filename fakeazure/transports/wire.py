"""HTTP on one side, the cloud's plain mappings on the other; the same for every transport."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from gzip import compress
from urllib.parse import parse_qsl, unquote, urlsplit

from fakeazure.arm import json_text, relaxed_json
from fakeazure.arm.errors import Failure
from fakeazure.arm.messages import Document, Response
from fakeazure.arm.texts import failure
from fakeazure.cloud import FakeAzure
from fakeazure.dispatch import FAULT_HEADER
from fakeazure.guids import Guids
from fakeazure.resources.sizes.retail_prices import ORIGIN
from fakeazure.transports import imds, own, status_page
from fakeazure.transports.bearer import Judge
from fakeazure.transports.guard import PAGE_HEADERS, Denied, Guard, new_secret
from fakeazure.transports.limits import Limits
from fakeazure.transports.live import wall_time
from fakeazure.transports.metadata import audiences, endpoints
from fakeazure.transports.pki import Signer
from fakeazure.transports.tokens import Tokens

_LINKS = {"nextLink": "", "NextPageLink": ORIGIN, "consoleScreenshotBlobUri": "", "serialConsoleLogBlobUri": ""}
"""Fields that clients follow → the host that they begin with; the cloud's own where none is named."""
_OPEN = ("/metadata/", "/api/retail/")
"""The paths that need no token."""
_KEPT = 4
"""So many large bodies are kept as they were written."""
_LARGEST_KEPT = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP response with its body as bytes; `headers` have the length and the type."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def fault(self) -> tuple[str, float]:
        """Return a declared fault on its way, and the seconds that it takes; ("", 0) for most."""
        kind, _, seconds = self.headers.get(FAULT_HEADER, "").partition(" ")
        return kind, float(seconds or 0)


class Front:
    """The cloud behind HTTP: tokens, JSON, absolute URLs; one call at a time.

    With `authenticate`, a request to ARM needs a bearer token of this cloud's tenant, for this cloud, that is not expired.
    """

    def __init__(
        self,
        cloud: FakeAzure,
        *,
        authenticate: bool = True,
        tokens: Tokens | None = None,
        limits: Limits | None = None,
        wall: Callable[[], float] = wall_time,
        guard: Guard | None = None,
        any_tenant: bool = False,
    ) -> None:
        """Serve `cloud`. Tokens live by `wall`, seconds since the epoch: clients compare them with their own clock.

        `guard` has the secret of this cloud, a new one where none is given. Without `authenticate` tokens are given for any secret.
        With `any_tenant` the cloud trusts every tenant, and is the authority of each.

        Fronts of one cloud share its lock if they are given the same `lock` afterwards.
        """
        self.cloud = cloud
        self.lock: AbstractContextManager[object] = threading.RLock()
        self.guard = guard or Guard(new_secret())
        self.tokens = tokens or Tokens(
            cloud.state.settings.tenant,
            wall,
            self.guard if authenticate else replace(self.guard, opened=True),
            any_tenant=any_tenant,
        )
        self.limits = limits or Limits()
        self._authenticate = authenticate
        self._signer = Signer()
        self._judge = Judge(cloud.state.settings.tenant, self.guard.secret, any_tenant=any_tenant)
        self._request_ids = Guids("wire")
        self._kept: dict[Hashable, tuple[bytes, bytes]] = {}

    def handle(
        self, method: str, url: str, headers: Mapping[str, str], raw: bytes, *, origin: str, here: str = ""
    ) -> Reply:
        """Answer one HTTP request. `url` is a path or absolute; `origin` is the scheme and host that the client used.

        `here` is the local address of its connection, if there is one.
        """
        try:
            path, query = _split(url)
        except ValueError:
            return self._no_url()
        lowered = {name.lower(): value for name, value in headers.items()}
        denied = self.guard.problem(method, path, lowered, url=url, here=here)
        if denied is not None:
            return self._denied(denied)
        with self.lock:
            token = self.tokens.answer(method, path, query, lowered, raw, origin)
        if token is not None:
            return self._reply(token, origin)
        if path.lower().rstrip("/") == "/metadata/endpoints" and method == "GET":
            return self._bytes(200, {}, json_text.write(endpoints(origin, query.get("api-version", ""))))
        if path == "/" and method == "GET" and "text/html" in lowered.get("accept", ""):
            with self.lock:
                page = status_page.render(self.cloud)
            headers = {**PAGE_HEADERS, "Content-Security-Policy": status_page.POLICY}
            return self._bytes(200, headers, page, "text/html; charset=utf-8")
        if imds.is_metadata(path):
            with self.lock:
                self.cloud.run_until()
                metadata = imds.answer(self.cloud, method, path, query, lowered, raw, self._signer.sign)
            return self._bytes(metadata[0], {}, metadata[2], metadata[1])
        if path.lower().startswith(own.PREFIX):
            with self.lock:
                status, kind, content = own.answer(self.cloud, method, path, raw)
            return self._bytes(status, PAGE_HEADERS, content, kind)
        if self._authenticate and not path.lower().startswith(_OPEN):
            authorization = lowered.get("authorization")
            refused = self._judge.problem(authorization, audiences=audiences(origin), now=self.tokens.now())
            if refused is not None:
                return self._challenge(refused, origin)
        try:
            relaxed = "/deployments/" in path.lower()
            body = json_text.read(raw, self.limits.nesting, relaxed_json.value if relaxed else None)
        except (ValueError, RecursionError) as error:
            return self.refusal("InvalidRequestContent", reason=str(error))
        with self.lock:
            exchange = self.cloud.begin(method, path, query=query, body=body, headers=lowered, wire=True)
            if not exchange.waits:
                answer = self.cloud.finish(exchange)
        if exchange.waits:
            exchange = exchange.read()  # others go on meanwhile
            with self.lock:
                answer = self.cloud.finish(exchange)
        return self._reply(answer, origin, gzip="gzip" in lowered.get("accept-encoding", ""))

    def unwelcome(self, method: str, url: str, headers: Mapping[str, str], *, here: str = "") -> Reply | None:
        """Return the answer to a request that may not come in, as its head tells; None for another. `headers` have lower-cased names."""
        try:
            path, _ = _split(url)
        except ValueError:
            return self._no_url()
        denied = self.guard.problem(method, path, headers, url=url, here=here)
        return None if denied is None else self._denied(denied)

    def refusal(self, row: str, **facts: object) -> Reply:
        """ARM's error for a request that does not reach the cloud; `row` of the table of texts."""
        return self._reply(failure(row, facts=facts).response(), "")

    def _no_url(self) -> Reply:
        return self.refusal("BadRequest", reason="The request URI is invalid.")

    def _denied(self, denied: Denied) -> Reply:
        body = {"error": {"code": denied.code, "message": denied.message}}
        challenge = {"WWW-Authenticate": 'Bearer realm="fakeazure"'} if denied.status == 401 else {}
        return self._bytes(denied.status, {**PAGE_HEADERS, **challenge}, json_text.write(body))

    def _challenge(self, refused: Failure, origin: str) -> Reply:
        tenant = self.cloud.state.settings.tenant
        challenge = f'Bearer authorization_uri="{origin}/{tenant}", error="invalid_token", error_description='
        answer = refused.response()
        text = '"' + refused.message.replace('"', "'") + '"'
        return self._reply(Response(401, {**answer.headers, "WWW-Authenticate": challenge + text}, answer.body), origin)

    def _reply(self, answer: Response, origin: str, *, gzip: bool = False) -> Reply:
        base = self.cloud.state.settings.base_url
        headers = {
            name: origin + value.removeprefix(base) if value.startswith(base) else value
            for name, value in answer.headers.items()
        }
        if answer.error_code is not None and "x-ms-request-id" not in headers:
            headers |= {"x-ms-error-code": answer.error_code, "x-ms-request-id": self._request_ids()}
        if answer.array is not None:
            return self._bytes(answer.status, headers, json_text.write(answer.array))
        if answer.body is None:
            return Reply(answer.status, {**headers, "Content-Length": "0"}, b"")
        body = answer.body
        if answer.error_code == "NotEmulated":  # its message has a link
            body = {"error": {**body["error"], "message": answer.error_message.replace(base, origin)}}
        for link, host in _LINKS.items():
            following, own_host = body.get(link), host or base
            if isinstance(following, str) and following.startswith(own_host):
                body = {**body, link: origin + following.removeprefix(own_host)}
        if answer.content is None:
            return self._bytes(answer.status, headers, json_text.write(body))
        plain, compressed = self._written(answer.content, body)
        if gzip:
            return self._bytes(answer.status, {**headers, "Content-Encoding": "gzip"}, compressed)
        return self._bytes(answer.status, headers, plain)

    def _written(self, content: Hashable, body: Document) -> tuple[bytes, bytes]:
        """A body that is asked for again and again as it was written the first time, plain and compressed."""
        cached = self._kept.get(content)
        if cached is not None:
            return cached
        plain = json_text.write(body)  # without the lock: others may go on meanwhile, and documents are never changed
        written = (plain, compress(plain, compresslevel=1, mtime=0))
        with self.lock:
            if len(plain) <= _LARGEST_KEPT and content not in self._kept:
                while len(self._kept) >= _KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[content] = written
        return written

    def _bytes(
        self, status: int, headers: Mapping[str, str], content: bytes, kind: str = "application/json; charset=utf-8"
    ) -> Reply:
        described = {"Content-Type": kind, "Content-Length": str(len(content))}
        return Reply(status, {**headers, **described}, content)


def _split(url: str) -> tuple[str, dict[str, str]]:
    """Path and query of a URL or of a path. ValueError for what is neither."""
    if url.startswith("/"):
        path, _, query = url.partition("#")[0].partition("?")
    else:
        parts = urlsplit(url)
        path, query = parts.path, parts.query
        if parts.scheme not in ("http", "https") and url != "*":
            raise ValueError(url)
    return unquote(path) or "/", dict(parse_qsl(query, keep_blank_values=True, max_num_fields=200))
