"""Calls to Azure Resource Manager over the Cloud port, with the api-versions that the provider uses."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlsplit

from harness.engine.ports import Cloud
from harness.karpenter.lifecycle.instance_provider import CloudProviderError
from harness.karpenter.releases import ProviderOptions
from lazyrecords import dataclass

NETWORK = "2022-01-01"
COMPUTE = "2025-04-01"
MACHINES = "2026-04-02-preview"
RESOURCE_GRAPH = "2024-04-01"

ENDED = ("Succeeded", "Failed", "Canceled")
"""The states of an operation that is over."""

_ASYNC_HEADERS = ("azure-asyncoperation", "location")


class Answer:
    """An answer of ARM. Bodies may share structure with the cloud: read only."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Mapping[str, str], body: Mapping[str, Any] | None) -> None:
        self.status = status
        self.headers = headers
        self.body: Mapping[str, Any] = body or {}

    @property
    def ok(self) -> bool:
        """Return whether the call succeeded or was accepted (status below 300)."""
        return self.status < 300

    @property
    def properties(self) -> Mapping[str, Any]:
        """`properties` of the body, empty when absent."""
        return self.body.get("properties") or {}

    @property
    def error(self) -> str:
        """ARM's error message, or the status where there is none."""
        return str((self.body.get("error") or {}).get("message") or self.status)

    @property
    def retry_after(self) -> float:
        """The header Retry-After in seconds, 0 without one."""
        text = next((value for name, value in self.headers.items() if name.lower() == "retry-after"), "")
        return float(text) if text.isdigit() else 0.0

    @property
    def operation(self) -> str | None:
        """The URL at which the long-running operation is polled; None when there is none."""
        for name, value in self.headers.items():
            if name.lower() == _ASYNC_HEADERS[0]:
                return value
        for name, value in self.headers.items():
            if name.lower() == _ASYNC_HEADERS[1]:
                return value
        return None


@dataclass(frozen=True, slots=True)
class Polling:
    """Seconds between two looks at a long-running operation, of extensions and of everything else.

    Azure's Retry-After counts instead, also before the first look, which else comes at once (azcore runtime/poller.go PollUntilDone).
    """

    operations: float = 3.0
    extensions: float = 3.0

    def after(self, looked: Answer, *, of_extension: bool = False) -> float:
        """When to look again after this answer."""
        return looked.retry_after or (self.extensions if of_extension else self.operations)


_RETRIED = frozenset({408, 429, 500, 502, 503, 504})
_MOST_RETRIES, _RETRY_DELAY, _LONGEST_RETRY = 3, 0.8, 60.0

T = TypeVar("T")
Asking: TypeAlias = Generator[float, None, T]
"""A call that may take time: it yields the seconds to wait before it is resumed, and returns its outcome."""


class Arm:
    """The provider's Azure clients."""

    def __init__(self, cloud: Cloud, options: ProviderOptions, polling: Polling | None = None) -> None:
        self._cloud = cloud
        self.options = options
        self.polling = polling or Polling()
        self.jitter: Callable[[], float] = lambda: 0.5
        """Draws a number from 0 to 1 for each retry."""

    def call(
        self,
        method: str,
        path: str,
        version: str = "",
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One call."""
        parameters = {**(query or {}), "api-version": version} if version else dict(query or {})
        answer = self._cloud.request(method, path, query=parameters, body=body, headers=headers)
        return Answer(answer.status, answer.headers, answer.body)

    def ask(
        self,
        method: str,
        path: str,
        version: str = "",
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Asking[Answer]:
        """One call as the SDK makes it, with retries of transient failures. Yields the seconds to wait before each retry.

        Source: azcore runtime/policy_retry.go with its defaults, which the provider uses (kaz pkg/utils/clientopts DefaultRetryOpts).
        """
        for retries in count():
            answer = self.call(method, path, version, body=body, query=query, headers=headers)
            if answer.status not in _RETRIED or retries == _MOST_RETRIES:
                break
            seconds = answer.retry_after
            if seconds > _LONGEST_RETRY:
                break
            yield seconds or (2 ** (retries + 1) - 1) * _RETRY_DELAY * (0.8 + self.jitter() / 2)
        return answer

    def poll(self, url: str) -> tuple[Answer, str]:
        """Polls a long-running operation once. Returns the answer, and how the operation is: ``Succeeded``, ``InProgress``, …"""
        parts = urlsplit(url)
        answer = self.call("GET", parts.path, query=dict(parse_qsl(parts.query)))
        return answer, str(answer.body.get("status") or ("InProgress" if answer.status == 202 else "Succeeded"))

    def until_ended(self, answer: Answer, *, of_extension: bool = False) -> Asking[Answer | None]:
        """Polls the operation of an accepted call, if it has one, until it is over. Returns the last answer if it failed, else None."""
        if answer.operation is not None and answer.retry_after:
            yield answer.retry_after
        while answer.operation is not None:
            polled, status = self.poll(answer.operation)
            if not polled.ok or status in ENDED:
                return None if polled.ok and status == "Succeeded" else polled
            yield self.polling.after(polled, of_extension=of_extension)
        return None

    def resources(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Resources of a type in the node resource group that belong to NodePools and to no AKS machine (Resource Graph), of all pages.

        Raises CloudProviderError.
        """
        group = self.options.node_resource_group.lower()
        query = (
            f'Resources | where type == "{kind}" | where resourceGroup == "{group}" '
            '| where tags has_cs "karpenter.sh_nodepool" '
            '| where not(tags has_cs "karpenter.azure.com_aksmachine_nodeclaim")'
        )
        options = {"resultFormat": "objectArray"}
        body = {"query": query, "options": options, "subscriptions": [self.options.subscription_id]}
        rows: list[Mapping[str, Any]] = []
        while True:
            answer = self.call("POST", "/providers/Microsoft.ResourceGraph/resources", RESOURCE_GRAPH, body=body)
            if not answer.ok:
                raise CloudProviderError(f"querying azure resource graph, {answer.error}")
            rows.extend(answer.body.get("data") or ())
            following = answer.body.get("$skipToken")
            if following is None:
                return rows
            body = {**body, "options": {**options, "$skipToken": following}}

    def nic(self, name: str) -> str:
        """The id of a network interface."""
        return f"{self.options.node_group_id}/providers/Microsoft.Network/networkInterfaces/{name}"

    def vm(self, name: str) -> str:
        """The id of a virtual machine."""
        return f"{self.options.node_group_id}/providers/Microsoft.Compute/virtualMachines/{name}"
