"""`mock_azure()`: Azure for the code inside, for every HTTP client for Python that the Azure SDKs and their users have.

```
with mock_azure(region="eastus") as azure:                # or @mock_azure(), on functions, coroutines and classes of tests
    client = ComputeManagementClient(DefaultAzureCredential(), azure.subscription)
    sizes = {sku.name for sku in client.resource_skus.list(filter="location eq 'eastus'")}
assert azure.cloud.journal.find(resource="skus")
```

No socket is opened; no name of Azure is resolved in this process, and hosts of others are refused.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from fakeazure.cloud import FakeAzure
from fakeazure.events import VirtualMachine
from fakeazure.expectations import Calls
from fakeazure.timing import INSTANT, Timing
from fakeazure.transports.in_process import InProcess

__all__ = ["MockAzure", "Token", "mock_azure"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
_SET_UP = (("setUpClass", "setup_class"), ("setUp", "asyncSetUp", "setup_method"))
"""The methods that unittest and pytest call before the tests of a class: once, and before each."""
_TEAR_DOWN = ("tearDown", "asyncTearDown", "teardown_method", "tearDownClass", "teardown_class")


class Token(NamedTuple):
    """A credential's token for an SDK."""

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
        """Do as `get_token`; the newer SDKs call this."""
        return self.get_token(*scopes)


class MockAzure:
    """A fake Azure in the place of Azure, as a context manager or a decorator, with helpers for tests.

    It may be entered again while it is on, by the same thread or by others: all have one world, and it ends with the last.
    """

    def __init__(self, cloud: FakeAzure, *, passthrough: bool = False, strict: bool = False) -> None:
        """Use `cloud` as Azure. With `passthrough` requests to other hosts go out as usual; with `strict` other tenants are unknown."""
        self.cloud = cloud
        self._transport = InProcess(cloud, passthrough=passthrough, any_tenant=not strict)

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

    @property
    def vms(self) -> list[VirtualMachine]:
        """All VMs, oldest first."""
        return self.cloud.vms()

    def reset(self) -> None:
        """Everything as it was at the start."""
        with self._transport.front.lock:
            self.cloud.reset()

    def _entered(self) -> InProcess:
        if not self._transport.entered:
            raise RuntimeError("mock_azure() is not entered: use it as a context or as a decorator")
        return self._transport

    def __enter__(self) -> MockAzure:
        """Take the place of Azure."""
        self._transport.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give Azure its place back; `cloud` can still be asked."""
        self._entered().__exit__(kind, error, trace)

    def __call__(self, decorated: Decorated) -> Decorated:
        """Decorate a function, a coroutine function, or a class of tests.

        Each call begins with the world as it was at the start, and gets it as `azure` if it asks for that. A class stays itself: its
        tests, and what sets them up and tears them down, run with the mock on, and begin anew where the set-up begins.
        """
        if inspect.isclass(decorated):
            self._decorate_class(decorated)
            return decorated
        return self._decorate(decorated, anew=True)

    def _decorate_class(self, owner: type) -> None:
        own = {name: member for name, member in _members(owner).items() if not name.startswith("_")}
        beginning = next((names for names in _SET_UP if not own.keys().isdisjoint(names)), ())
        outermost = next((name for name in beginning if name in own), "")
        around = {name for names in _SET_UP for name in names} | set(_TEAR_DOWN)
        for name, member in own.items():
            test = name.startswith("test")
            if not test and name not in around:
                continue
            anew = name == outermost or (test and not outermost)
            if isinstance(member, classmethod | staticmethod):
                setattr(owner, name, type(member)(self._decorate(member.__func__, anew=anew, around=not test)))
            elif inspect.isfunction(member):
                setattr(owner, name, self._decorate(member, anew=anew, around=not test))

    def _decorate(self, function: Decorated, *, anew: bool, around: bool = False) -> Decorated:
        signature = inspect.signature(function)
        wants = "azure" in signature.parameters
        named_world = {"azure": self} if wants else {}
        taken = (
            _positional(signature, without=named_world) if around else None
        )  # pytest offers `setup_method` the method

        def begin() -> None:
            if anew and not self._transport.entered:  # who runs beside it has the same world
                self.reset()

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run(*arguments: Any, **named: Any) -> Any:
                begin()
                with self:
                    return await function(*arguments[:taken], **{**named, **named_world})
        else:

            @functools.wraps(function)
            def run(*arguments: Any, **named: Any) -> Any:
                begin()
                with self:
                    return function(*arguments[:taken], **{**named, **named_world})

        if wants:  # pytest must not look for a fixture of that name
            others = [parameter for name, parameter in signature.parameters.items() if name != "azure"]
            run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]


def _positional(signature: inspect.Signature, without: Mapping[str, object]) -> int | None:
    """Return how many arguments a function takes by position, None for any number."""
    kinds = [parameter.kind for name, parameter in signature.parameters.items() if name not in without]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    return sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)


def _members(owner: type) -> dict[str, Any]:
    """Return the members of a class and its bases, but for those that every test case of unittest has."""
    members: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        if base is not object and base.__module__.partition(".")[0] != "unittest":
            members |= vars(base)
    return members


def mock_azure(*, passthrough: bool = False, strict: bool = False, timing: Timing = INSTANT, **world: Any) -> MockAzure:
    """A world of Azure; `world` is what FakeAzure takes (`region`, `azure`, ...). Long operations are over at once by default.

    Any tenant and any subscription is known, unless `strict`: then only the world's own are, as in Azure.

    Raises ValueError as FakeAzure does.
    """
    cloud = FakeAzure(timing=timing, **{"any_subscription": not strict, **world})
    return MockAzure(cloud, passthrough=passthrough, strict=strict)
