"""`mock_azure()`: Azure for the code inside, for everything that uses `requests`, as the Azure SDKs for Python do.

```
with mock_azure(region="eastus") as azure:                # or @mock_azure()
    client = ComputeManagementClient(azure.credential(), azure.subscription)
    sizes = {sku.name for sku in client.resource_skus.list(filter="location eq 'eastus'")}
assert azure.cloud.journal.find(resource="skus")
```

Needs the package `responses`. No socket is opened; hosts that are not Azure's are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from fakeazure.cloud import FakeAzure
from fakeazure.expectations import Calls
from fakeazure.timing import INSTANT, Timing
from fakeazure.transports.in_process import InProcess

__all__ = ["MockAzure", "Token", "mock_azure"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Token(NamedTuple):
    """What a credential gives an SDK."""

    token: str
    expires_on: int


class _Credential:
    """A credential of the SDKs: a token of this cloud, for whatever is asked for."""

    def __init__(self, mock: MockAzure) -> None:
        self._mock = mock

    def get_token(self, *scopes: str, **options: Any) -> Token:
        """A token for the first scope."""
        audience = scopes[0].removesuffix("/.default") if scopes else "https://management.azure.com"
        return self._mock.token(audience)

    def get_token_info(self, *scopes: str, options: Any = None) -> Token:
        """As `get_token`; what the newer SDKs ask."""
        return self.get_token(*scopes)


class MockAzure:
    """A fake Azure in the place of Azure, as a context manager or a decorator, with helpers for tests."""

    def __init__(self, cloud: FakeAzure, *, passthrough: bool = False) -> None:
        """Use `cloud` as Azure. With `passthrough` requests to other hosts go out as usual."""
        self.cloud = cloud
        self._passthrough = passthrough
        self._transport: InProcess | None = None

    @property
    def subscription(self) -> str:
        """The id of the subscription."""
        return self.cloud.state.settings.subscription

    def credential(self) -> _Credential:
        """For the clients of the SDKs."""
        return _Credential(self)

    def token(self, audience: str = "https://management.azure.com") -> Token:
        """A bearer token, for a caller that has no client."""
        tokens = self._entered().front.tokens
        return Token(tokens.token(audience), int(tokens.now()) + 3600)

    @property
    def calls(self) -> Calls:
        """The calls so far, with assertions for tests."""
        return self.cloud.calls

    def reset(self) -> None:
        """Everything as it was at the start."""
        self.cloud.reset()

    def _entered(self) -> InProcess:
        if self._transport is None:
            raise RuntimeError("mock_azure() is not entered: use it as a context or as a decorator")
        return self._transport

    def __enter__(self) -> MockAzure:
        """Take the place of Azure. TransportUnavailable without the package `responses`."""
        self._transport = InProcess(self.cloud, passthrough=self._passthrough)
        self._transport.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give Azure its place back; `cloud` can still be asked."""
        transport, self._transport = self._entered(), None
        transport.__exit__(kind, error, trace)

    def __call__(self, function: Function) -> Function:
        """As a decorator: each call begins with the world as it was at the start, and gets it as `azure` if it asks for that."""
        import inspect

        wants = "azure" in inspect.signature(function).parameters

        @functools.wraps(function)
        def run(*arguments: Any, **named: Any) -> Any:
            self.reset()
            with self:
                return function(*arguments, **{**named, **({"azure": self} if wants else {})})

        if wants:  # pytest must not look for a fixture of that name
            kept = [one for name, one in inspect.signature(function).parameters.items() if name != "azure"]
            run.__signature__ = inspect.signature(function).replace(parameters=kept)  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]


def mock_azure(*, passthrough: bool = False, timing: Timing = INSTANT, **world: Any) -> MockAzure:
    """A world of Azure; `world` is what FakeAzure takes (`region`, `azure`, ...). Long operations are over at once by default.

    Raises ValueError as FakeAzure does.
    """
    return MockAzure(FakeAzure(timing=timing, **world), passthrough=passthrough)
