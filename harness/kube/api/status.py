"""Refusals of the API server: `Status` objects, as an exception that carries one.

Reasons, codes and texts: apimachinery pkg/api/errors/errors.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from harness.kube.api.kinds import Kind


class ApiError(Exception):
    """A refused request. `status` is the whole Status body, `code` the HTTP code, `reason` its machine-readable reason."""

    def __init__(
        self, code: int, reason: str, message: str, *, details: Mapping[str, Any] | None = None, cause: object = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details: Mapping[str, Any] = details or {}
        self.cause = cause
        """The value that the refusing judge handed along (rejections of an admission layer); None otherwise."""

    @property
    def status(self) -> dict[str, Any]:
        """The `v1.Status` body of the answer."""
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if self.details:
            body["details"] = dict(self.details)
        return body


@contextmanager
def ignoring(*codes: int) -> Iterator[None]:
    """A context that swallows refusals with one of these HTTP codes, such as 404 (gone) and 409 (conflict).

    The rest of the block behind the refused request is left out. Raises ApiError for every other code.
    """
    try:
        yield
    except ApiError as error:
        if error.code not in codes:
            raise


def _details(kind: Kind, name: str, causes: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    details: dict[str, Any] = {"name": name, "kind": kind.plural} if name else {"kind": kind.plural}
    if kind.group:
        details["group"] = kind.group
    if causes:
        details["causes"] = [dict(cause) for cause in causes]
    return details


def not_found(kind: Kind, name: str) -> ApiError:
    """404: no such object."""
    return ApiError(404, "NotFound", f'{kind.resource} "{name}" not found', details=_details(kind, name))


def already_exists(kind: Kind, name: str) -> ApiError:
    """409 at create: the name is taken."""
    return ApiError(409, "AlreadyExists", f'{kind.resource} "{name}" already exists', details=_details(kind, name))


def conflict(kind: Kind, name: str, why: str | None = None) -> ApiError:
    """409: the resourceVersion or a precondition does not hold any more."""
    why = why or "the object has been modified; please apply your changes to the latest version and try again"
    return ApiError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}',
        details=_details(kind, name),
    )


def forbidden(kind: Kind, name: str, why: str, *, causes: Sequence[Mapping[str, str]] = ()) -> ApiError:
    """403 from an admission plugin, or from an authorizer, which knows no name (`""`) of an object about to be created."""
    subject = f'{kind.resource} "{name}"' if name else kind.resource
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", details=_details(kind, name, causes))


def invalid(kind: Kind, name: str, causes: Sequence[Mapping[str, str]], text: str, *, cause: object = None) -> ApiError:
    """422: validation failed. `causes` have reason, message and field; `text` is their joined rendering."""
    details = {**_details(kind, name, causes), "kind": kind.kind}
    return ApiError(422, "Invalid", f'{_shown(kind)} "{name}" is invalid: {text}', details=details, cause=cause)


def precondition_failed(kind: Kind, name: str, field: str, wanted: str, actual: str) -> ApiError:
    """409: a deletion names another uid or resourceVersion (`field` UID, ResourceVersion) than the object has."""
    happened = "deleted and then recreated" if field == "UID" else "modified"
    why = (
        f"the {field} in the precondition ({wanted}) does not match the {field} in record ({actual}). "
        f"The object might have been {happened}"
    )
    details = {**_details(kind, name), "kind": kind.kind}
    text = f'Operation cannot be fulfilled on {_shown(kind)} "{name}": {why}'
    return ApiError(409, "Conflict", text, details=details)


def not_served(detail: str = "") -> ApiError:
    """404: the server knows no such kind or subresource; ``detail`` follows the sentence, as kubectl shows it."""
    return ApiError(
        404, "NotFound", f"the server could not find the requested resource{f' ({detail})' if detail else ''}"
    )


def rejected() -> ApiError:
    """422: a JSON patch that does not apply."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request")


def _shown(kind: Kind) -> str:
    return f"{kind.kind}.{kind.group}" if kind.group else kind.kind


def bad_request(message: str) -> ApiError:
    """400: the request itself cannot be understood."""
    return ApiError(400, "BadRequest", message)


def too_many_requests(message: str, *, causes: Sequence[Mapping[str, str]] = ()) -> ApiError:
    """429: an eviction that a PodDisruptionBudget does not allow now."""
    details: dict[str, Any] = {"causes": [dict(cause) for cause in causes]} if causes else {}
    return ApiError(429, "TooManyRequests", message, details=details)


def gone(message: str) -> ApiError:
    """410: the watch log does not reach back to this resourceVersion."""
    return ApiError(410, "Expired", message)
