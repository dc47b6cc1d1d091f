"""Operations of a real client against a served cloud, each with what it asserts. Runs in the clients' own Python, without pytest."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST = "FAKEAZURE_CLIENT_OPERATIONS"
"""Variable with how many operations a client tries, for a smoke test; all without it."""


class LeftOut(Exception):
    """The operation needs what is not emulated, and says so."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one operation: `works`, `wrong` (it succeeded, its content is not right), `missing` (it failed) or `left out`
    (it failed, as it says why)."""

    client: str
    operation: str
    state: str
    said: str = ""
    seconds: float = 0.0


class Suite:
    """Operations in order of declaration. They share what the ones before have made."""

    def __init__(self, client: str) -> None:
        self.client = client
        self._operations: list[tuple[str, Callable[[Any], None]]] = []

    def operation(self, name: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
        """Declare an operation: a function of the suite's context that asserts fields."""

        def declare(function: Callable[[Any], None]) -> Callable[[Any], None]:
            self._operations.append((name, function))
            return function

        return declare

    def run(self, context: Any) -> Iterator[Outcome]:
        """Run all of them, or as many as the environment says."""
        most = int(os.environ.get(MOST, "0")) or None
        for name, function in self._operations[:most]:
            start = time.monotonic()
            state, said = "works", ""
            try:
                function(context)
            except AssertionError as error:
                line = traceback.extract_tb(error.__traceback__)[-1]
                state, said = "wrong", f"{line.line} {error}".strip()
            except LeftOut as error:
                state, said = "left out", str(error)
            except Exception as error:  # whatever a client raises is an outcome
                state, said = "missing", f"{type(error).__name__}: {error}"
            yield Outcome(self.client, name, state, " ".join(said.split())[:300], time.monotonic() - start)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cloud is and what it is called, from the environment that `fakeazure serve` prints."""

    url: str
    subscription: str
    tenant: str
    group: str
    nodes: str
    location: str
    cluster: str
    subnet: str
    secret: str

    @staticmethod
    def read(environment: Mapping[str, str] = os.environ) -> Place:
        """From variables."""
        with open(environment["AZURE_ENVIRONMENT_FILEPATH"]) as file:
            url = json.load(file)["resourceManagerEndpoint"]
        return Place(
            url.rstrip("/"),
            environment["AZURE_SUBSCRIPTION_ID"],
            environment["AZURE_TENANT_ID"],
            environment["ARM_RESOURCE_GROUP"],
            environment["AZURE_NODE_RESOURCE_GROUP"],
            environment["LOCATION"],
            environment["CLUSTER_NAME"],
            environment["VNET_SUBNET_ID"],
            environment["FAKEAZURE_SECRET"],
        )

    def id(self, group: str, type_: str, name: str) -> str:
        """The ARM id of a resource."""
        return f"/subscriptions/{self.subscription}/resourceGroups/{group}/providers/{type_}/{name}"


def tell(outcomes: Iterator[Outcome]) -> None:
    """Write one line of JSON for each outcome, as soon as it is there."""
    for one in outcomes:
        print(json.dumps([one.client, one.operation, one.state, one.said, round(one.seconds, 2)]), flush=True)
    sys.stdout.flush()
