"""A request to the cloud and its response, as plain mappings: no sockets, no JSON text."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any

from lazyrecords import dataclass

Document = Mapping[str, Any]
"""A JSON object. Documents are shared between the cloud, its journal and its callers: never mutate one."""

EMPTY: Mapping[str, str] = MappingProxyType({})


def no_text() -> Mapping[str, str]:
    """The empty mapping, as a field's default."""
    return EMPTY


@dataclass(frozen=True, slots=True)
class Request:
    """One call, after routing.

    `query` keeps Azure's parameter names (`api-version`, `$filter`); `headers` have lower-cased names;
    `params` are the path parameters of the matched route.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Document | None
    params: Mapping[str, str] = field(default_factory=no_text)

    @property
    def api_version(self) -> str:
        """The `api-version` sent, empty if none was."""
        return self.query.get("api-version", "")

    def header(self, name: str) -> str | None:
        """The value of a header by its case-insensitive name."""
        return self.headers.get(name.lower())


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of the cloud: status, headers in Azure's spelling, and a body or None."""

    status: int
    headers: Mapping[str, str] = field(default_factory=no_text)
    body: Document | None = None
    array: Sequence[Any] | None = None
    """The body of the few lists that ARM gives without an envelope, in place of `body`."""
    content: Hashable = None
    """The common key of answers with the same body, None if that is not known: a transport need not write it twice."""
    later: Callable[[], Response] | None = None
    """Reads the answer from what nothing changes, where that takes long: a transport need not hold the cloud meanwhile."""

    def read(self) -> Response:
        """The answer itself, with these headers too."""
        if self.later is None:
            return self
        answer = self.later()
        return Response(answer.status, {**answer.headers, **self.headers}, answer.body, answer.array, answer.content)

    @property
    def error_code(self) -> str | None:
        """ARM's error code, of the enveloped or the flat form; None if this is no error."""
        if self.status < 400 or self.body is None:
            return None
        envelope = self.body.get("error", self.body)
        code = envelope.get("code") if isinstance(envelope, Mapping) else None
        return str(code) if code is not None else None

    @property
    def error_message(self) -> str:
        """The sentence beside ARM's error code; empty if this is no error."""
        if self.error_code is None or self.body is None:
            return ""
        envelope = self.body.get("error", self.body)
        return str(envelope.get("message") or "") if isinstance(envelope, Mapping) else ""
