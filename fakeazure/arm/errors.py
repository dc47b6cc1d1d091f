"""ARM errors as values: code, HTTP status, text; and their JSON envelope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from fakeazure.arm.messages import Response, no_text
from lazyrecords import dataclass

GATEWAY = frozenset(
    {
        "AuthenticationFailed", "AuthorizationFailed", "ExpiredAuthenticationToken", "InvalidApiVersionParameter",
        "InvalidAuthenticationToken", "InvalidAuthenticationTokenAudience", "InvalidAuthenticationTokenTenant",
        "InvalidFilterInQueryString", "InvalidResourceGroup", "InvalidResourceGroupLocation", "InvalidResourceLocation",
        "InvalidResourceNamespace", "InvalidResourceType", "InvalidSubscriptionId", "LocationNotAvailableForResourceGroup",
        "LocationNotAvailableForResourceType", "LocationRequired", "MethodNotAllowed", "MissingApiVersionParameter",
        "MissingSubscriptionRegistration", "NoRegisteredProviderFound", "ParentResourceNotFound", "ResourceGroupBeingDeleted",
        "ResourceGroupNotFound", "ResourceNotFound", "ScopeLocked", "SubscriptionNotFound",
    }
)  # fmt: skip
"""Codes of refusals by ARM itself, before a resource provider is asked (`x-ms-failure-cause` in azure-cli's recordings)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One Azure error, in whichever form it is sent.

    The same failure is an HTTP error if the service refuses at once, `error` in the status of a long-running operation
    if it fails at the end, and `provisioningError` of an AKS machine.
    """

    code: str
    message: str
    status: int = 400
    target: str | None = None
    details: tuple[Failure, ...] = ()
    headers: Mapping[str, str] = field(default_factory=no_text)
    flat: bool = False
    """The body has no `error` envelope: the batch form of AKS machines."""

    def document(self) -> dict[str, Any]:
        """`{code, message, ...}` without the envelope."""
        inner: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.target is not None:
            inner["target"] = self.target
        if self.details:
            inner["details"] = [detail.document() for detail in self.details]
        return inner

    def response(self) -> Response:
        """The HTTP form."""
        document = self.document()
        headers = {
            "x-ms-failure-cause": "gateway" if self.status == 429 or self.code in GATEWAY else "service",
            **self.headers,
        }
        return Response(self.status, headers, document if self.flat else {"error": document})


class ArmError(Exception):
    """Raised by a handler to refuse the request with `failure`."""

    def __init__(self, failure: Failure) -> None:
        """Refuse with `failure`."""
        super().__init__(f"{failure.code}: {failure.message}")
        self.failure = failure
