"""A cloud that is served for weeks holds no more after requests whose resources are gone than it held before them."""

from __future__ import annotations

import functools
import json
import re
import types
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode

import pytest

from fakeazure import store
from fakeazure.arm import operations
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.journal import Journal
from fakeazure.routing import router
from fakeazure.timing import Timing
from fakeazure.transports import bearer
from fakeazure.transports.wire import Front
from tests.cloud.driver import NETWORK, VERSIONS, Driver
from tests.cloud.foreign import ends
from tests.transports.guarded import GUARD, SECRET, TOKEN
from tests.transports.wellformed import Ask, corpus

_LEAVES = (str, bytes, int, float, type, types.ModuleType, types.BuiltinFunctionType, type(None))
_DOCUMENTS = (".document", ".body")
"""Attributes with what a resource or a call consists of: whatever holds many of these is counted, they themselves are not."""
HOUR = 3600.0


def _slots(value: object) -> Iterator[tuple[str, object]]:
    for class_ in type(value).__mro__:
        names = class_.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if hasattr(value, name):
                yield f".{name}", getattr(value, name)


def parts(value: object) -> Iterator[tuple[str, object]]:
    """What an object holds, each with its place; all items of a container have the same place."""
    if isinstance(value, Mapping):
        yield from (("[key]", key) for key in value)
        yield from (("[]", inner) for inner in value.values())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from (("[]", inner) for inner in value)
    elif isinstance(value, functools.partial):
        yield from ((".func", value.func), (".args", value.args), (".keywords", value.keywords))
    elif isinstance(value, types.MethodType):
        yield ".__self__", value.__self__
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            yield f".{value.__name__}", cell.cell_contents
    yield from ((f".{name}", inner) for name, inner in getattr(value, "__dict__", {}).items())
    yield from _slots(value)


def held(root: object) -> Counter[str]:
    """Place in the graph of objects → how many entries the containers there have."""
    sizes: Counter[str] = Counter()
    seen: dict[int, object] = {}
    waiting: deque[tuple[str, object]] = deque([("front", root)])
    while waiting:
        place, value = waiting.popleft()
        if isinstance(value, _LEAVES) or id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, Mapping | list | set | deque):
            sizes[place] += len(value)
        waiting.extend((place + name, inner) for name, inner in parts(value) if name not in _DOCUMENTS)
    return sizes


def renamed(ask: Ask, number: int) -> Ask:
    """The request with another name of each resource group."""
    text = json.dumps([ask.path, ask.query, ask.body], default=dict)
    path, query, body = json.loads(re.sub(r"(?i)(/resourcegroups/)([^/\"?\\]+)", rf"\g<1>\g<2>-{number}", text))
    return Ask(ask.method, path, query, body)


class Served:
    """A cloud behind HTTP, without sockets, and a client of it."""

    def __init__(self, lag: float) -> None:
        timing = Timing(graph_lag=lag, nic_reserved=180)
        self.driver = Driver(journal=Journal(most=10, most_bytes=1 << 20), timing=timing)
        self.cloud = self.driver.cloud
        self.front = Front(self.cloud, guard=GUARD)
        settings = self.cloud.state.settings
        names = (settings.resource_group, settings.node_resource_group)
        self.groups = [f"/subscriptions/{settings.subscription}/resourceGroups/{name}" for name in names]
        self.beginning = [
            Ask("PUT", str(entry.id), {}, entry.document)
            for entry in self.cloud.state.store.all()
            if router().find("PUT", str(entry.id)) is not None
        ]
        refused = self.driver.vm_body(
            "refused", size="Standard_NC4as_T4_v3", zone="1"
        )  # its NIC stays reserved for a while
        self.refused = (
            Ask("PUT", self.driver.nic_path("refused"), {"api-version": NETWORK}, self.driver.nic_body("refused")),
            Ask("PUT", self.driver.vm_path("refused"), {}, refused),
        )
        self.statuses: Counter[tuple[str, int]] = Counter()

    def send(self, ask: Ask) -> int:
        """Send a request; return its status."""
        namespace = ask.path.lower().rpartition("/providers/microsoft.")[2].partition("/")[0]
        query = {"api-version": VERSIONS.get(namespace, "2021-04-01"), **ask.query}
        content = b"" if ask.body is None else json.dumps(ask.body, default=dict).encode()
        secret = SECRET if ask.path.startswith("/_fakeazure/") else TOKEN
        headers = {"Host": "localhost", "Authorization": f"Bearer {secret}", "Metadata": "true"}
        url = f"{quote(ask.path)}?{urlencode(query)}"
        status = self.front.handle(ask.method, url, headers, content, origin="http://localhost").status
        self.statuses[ask.method, status] += 1
        return status

    def round(self, number: int, *, one_by_one: bool) -> None:
        """Make all that can be made in groups of new names, ask everything about it, and take it away again."""
        for group in self.groups:
            assert self.send(renamed(Ask("PUT", group, {}, {"location": "eastus"}), number)) < 300
        for ask in (*self.beginning, *self.refused, *(ask for ask in corpus() if not ends(ask))):
            if ask.method != "PUT" or "/resourcegroups/" in ask.path.lower():
                self.send(renamed(ask, number))
        self.cloud.advance(HOUR)
        state = self.cloud.state
        locks = [key for key in state.scoped if "/microsoft.authorization/locks/" in key and f"-{number}/" in key]
        ids = (
            [str(entry.id) for entry in state.store.all() if entry.id.group.endswith(f"-{number}")]
            if one_by_one
            else []
        )
        groups = [str(group["id"]) for (_, name), group in state.groups.items() if name.endswith(f"-{number}")]
        for path in (*locks, *reversed(ids), *reversed(groups)):
            self.send(Ask("DELETE", path, {}, None))
            self.cloud.advance(HOUR)
        assert [str(entry.id) for entry in state.store.all() if entry.id.group.endswith(f"-{number}")] == []
        assert [name for _, name in state.groups if name.endswith(f"-{number}")] == []


def grown(before: Counter[str], after: Counter[str], by: int) -> dict[str, tuple[int, int]]:
    """The places whose containers together have so many entries more than before, with both numbers."""
    return {place: (before[place], size) for place, size in after.items() if size >= before[place] + by}


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is bounded at thousands is full after a few requests."""
    monkeypatch.setattr(operations, "KEPT", 10)  # one is forgotten for each, so that rounds end alike
    monkeypatch.setattr(store, "_CHANGES", 50)
    monkeypatch.setattr(bearer, "_KNOWN", 20)


@pytest.mark.parametrize("one_by_one", [True, False], ids=["resource by resource", "by group"])
@pytest.mark.parametrize("lag", [0.0, 30.0], ids=["now", "with a graph that lags"])
def test_what_was_made_and_deleted_leaves_nothing(one_by_one: bool, lag: float) -> None:
    served = Served(lag)
    for number in range(2):
        served.round(number, one_by_one=one_by_one)
    before = held(served.front)
    assert before["front.cloud.state.store._entries"] > 5
    for number in range(2, 5):
        served.round(number, one_by_one=one_by_one)
    assert grown(before, held(served.front), 3) == {}
    assert served.statuses["PUT", 201] > 100


SUBSCRIPTIONS = f"/subscriptions/{SUBSCRIPTION}"


def of_nothing(number: int) -> tuple[Ask, ...]:
    """Requests that make nothing, each with a text of its own."""
    text = f"text-{number}"
    guid = f"00000000-0000-0000-0000-{number:012}"
    group = f"{SUBSCRIPTIONS}/resourceGroups/{text}"
    graph = {"query": f"resources | where name == '{text}'", "subscriptions": [SUBSCRIPTION]}
    compute = f"{SUBSCRIPTIONS}/providers/Microsoft.Compute"
    return (
        Ask("GET", f"/subscriptions/{guid}", {}, None),
        Ask("GET", f"/subscriptions/{text}", {}, None),
        Ask("GET", f"/{text}/{text}", {}, None),
        Ask("GET", group, {}, None),
        Ask("DELETE", f"{group}/providers/Microsoft.Compute/disks/{text}", {}, None),
        Ask("PUT", f"{group}/providers/Microsoft.Compute/disks/{text}", {}, {"location": "eastus"}),
        Ask(
            "PUT", f"{group}/providers/Microsoft.Authorization/locks/{text}", {}, {"properties": {"level": "ReadOnly"}}
        ),
        Ask("PUT", f"{SUBSCRIPTIONS}/resourcegroups/{text}", {}, {"location": text}),
        Ask("GET", f"{SUBSCRIPTIONS}/providers/{text}", {}, None),
        Ask("POST", f"{SUBSCRIPTIONS}/providers/{text}/register", {}, None),
        Ask("GET", f"{compute}/locations/eastus/operations/{guid}", {}, None),
        Ask("GET", f"{compute}/locations/{text}/usages", {}, None),
        Ask("GET", f"{compute}/skus", {"$filter": f"location eq '{text}'"}, None),
        Ask("GET", f"{compute}/virtualMachines", {"$filter": text, "$skiptoken": text}, None),
        Ask("GET", "/api/retail/prices", {"$filter": f"armSkuName eq '{text}'"}, None),
        Ask("POST", "/providers/Microsoft.ResourceGraph/resources", {}, graph),
        Ask("POST", "/providers/Microsoft.ResourceGraph/resources", {}, {"query": text}),
        Ask("GET", f"/metadata/{text}", {"api-version": "2021-02-01"}, None),
        Ask("GET", "/metadata/identity/oauth2/token", {"resource": text, "api-version": "2018-02-01"}, None),
        Ask("GET", f"/_fakeazure/{text}", {}, None),
        Ask("POST", "/_fakeazure/restore", {}, {"format": text}),
    )


def test_requests_that_make_nothing_leave_nothing() -> None:
    served = Served(0.0)
    for number in range(40):
        for ask in of_nothing(number):
            served.send(ask)
    before = held(served.front)
    for number in range(40, 80):
        for ask in of_nothing(number):
            served.send(ask)
    assert grown(before, held(served.front), 10) == {}


def test_the_walk_sees_what_a_part_of_the_cloud_keeps() -> None:
    served = Served(0.0)
    before = held(served.front)
    for number in range(5):
        served.cloud.state.next_instance[f"{number}"] = 1
    assert grown(before, held(served.front), 5) == {"front.cloud.state.next_instance": (0, 5)}
