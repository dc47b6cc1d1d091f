"""A user's own cluster as `harness attach` finds it, and somebody who plays their Karpenter."""

from __future__ import annotations

import json
import re
import threading
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from harness import testing
from harness.cli import main
from harness.clusters.client.connection import Connection
from harness.clusters.client.paths import path_of
from harness.clusters.client.writer import RestWriter
from harness.clusters.remote.reached import Reached
from harness.engine.ports import ADMIN
from harness.kube.api.kinds import KINDS
from harness.kube.api.objects import (
    Object,
    finalizers_of,
    is_terminating,
    name_of,
    owner_reference,
    uid_of,
    with_metadata,
)
from harness.kube.api.status import ignoring

NODECLASS_FINALIZER = "karpenter.azure.com/termination"
NODECLAIM_FINALIZER = "karpenter.sh/termination"
_BUSY = frozenset({"Lease", "CSINode", "Secret"})
"""Kinds that a control plane writes by itself."""

NOTHING = "then:\n- nodeclaims: {count: 0}"
"""What a scenario expects that is about no machine."""

_READY = {
    "type": "Ready",
    "status": "True",
    "reason": "Ready",
    "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


class Place:
    """The cluster, reached as an administrator; `folder` is where the user works."""

    def __init__(self, connection: Connection, kubeconfig: Mapping[str, Any], folder: Path, authority: Path) -> None:
        self.connection = connection
        self.admin = RestWriter(connection, ADMIN)
        self.folder = folder
        self.context = str(kubeconfig["current-context"])
        (folder / "kc").write_text(json.dumps(kubeconfig))
        self.options = ["--kubeconfig", "kc", "--http-port", "0", "--https-port", "0", "--state", str(authority)]
        user = kubeconfig["users"][0]["user"]
        trust = {key: value for key, value in kubeconfig["clusters"][0]["cluster"].items() if key != "server"}
        self.reached = Reached(self.context, kubeconfig["clusters"][0]["cluster"]["server"], {}, user, trust)
        """As `reach` finds it by the kubeconfig."""
        self._made: list[Object] = []

    def create(self, obj: Object) -> Object:
        """Creates an object of the user's."""
        self._made.append(self.admin.create(obj))
        return self._made[-1]

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """The object as the server has it now."""
        with ignoring(404):
            found: Object = self.connection.request("GET", path_of(KINDS[kind], namespace, name))
            return found
        return None

    def list(self, kind: str) -> list[Object]:
        """All objects of a kind as the server has them now."""
        found: list[Object] = self.connection.request("GET", path_of(KINDS[kind]))["items"]
        return found

    def state(self) -> dict[str, str]:
        """Each object with its resourceVersion, but for kinds that a control plane writes by itself."""
        return {
            f"{kind}/{each['metadata'].get('namespace', '')}/{name_of(each)}": each["metadata"]["resourceVersion"]
            for kind in KINDS
            if kind not in _BUSY
            for each in self.list(kind)
        }

    def scenario(self, *objects: Object, header: str = NOTHING) -> None:
        """Writes `s.yaml`."""
        documents = [f"scenario: mine\n{header}\n", *(f"{json.dumps(each)}\n" for each in objects)]
        (self.folder / "s.yaml").write_text("---\n".join(documents))

    def attach(self, *options: str) -> int:
        """`harness attach` with the scenario."""
        wait = ["--wait", "20"] if "--wait" not in options else []
        return main(["attach", *self.options, "--expect", "s.yaml", "--environment", "az.env", *wait, *options])

    def clean(self, run: str, *options: str) -> int:
        """`harness attach --clean`."""
        return main(["attach", *self.options, "--yes", "--clean", run, *options])

    def forget(self) -> None:
        """Deletes what the test made."""
        for obj in reversed(self._made):
            place = obj["metadata"].get("namespace", "")
            with ignoring(404, 409):
                self.admin.patch(obj["kind"], name_of(obj), {"metadata": {"finalizers": None}}, namespace=place)
                self.admin.delete(obj["kind"], name_of(obj), namespace=place, grace_period_seconds=0)


class Karpenter:
    """Plays the user's Karpenter on a thread: it asks Azure something, holds its objects by finalizers, and lets go of what is deleted.

    `claims`: how many NodeClaims it makes of each NodePool. `lets_go`: whether it takes its finalizers away.
    """

    def __init__(self, place: Place, *, claims: int = 0, lets_go: bool = True) -> None:
        self._place, self._claims, self.lets_go = place, claims, lets_go
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="karpenter", daemon=True)
        self.failure: Exception | None = None
        self.worked = threading.Event()
        """Set once it has held a nodeclass."""

    def __enter__(self) -> Karpenter:
        self._connection = Connection(self._place.connection.endpoint)
        self._writer = RestWriter(self._connection, ADMIN)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(20)
        self._connection.close()
        assert self.failure is None

    def _run(self) -> None:
        try:
            environment = self._place.folder / "az.env"
            while not environment.exists():
                if self._ended.wait(0.05):
                    return
            ask_azure(environment)
            while not self._ended.wait(0.1):
                with ignoring(404, 409):
                    self._work()
        except OSError as error:
            if not self._ended.is_set():
                self.failure = error

    def _work(self) -> None:
        for namespace in self._place_list("Namespace"):  # what kube-controller-manager does, where there is none
            account = {"name": "default", "namespace": name_of(namespace)}
            if (
                not is_terminating(namespace)
                and self._place.get("ServiceAccount", "default", name_of(namespace)) is None
            ):
                self._writer.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        claims = self._place_list("NodeClaim")
        for claim in claims:
            self._hold_or_let_go(claim, NODECLAIM_FINALIZER)
        for pool in self._place_list("NodePool"):
            owned = [each for each in claims if each["metadata"]["labels"]["karpenter.sh/nodepool"] == name_of(pool)]
            if not is_terminating(pool):
                self._ready(pool)
                if len(owned) < self._claims:
                    self._writer.create(claim_of(pool, len(owned)))
        for claim in claims:
            if not is_terminating(claim):
                self._ready(claim, "Launched", "Registered", "Initialized")
        for nodeclass in self._place_list("AKSNodeClass"):
            self._hold_or_let_go(nodeclass, NODECLASS_FINALIZER, free=not claims)
            if not is_terminating(nodeclass):
                self._ready(nodeclass)
                self.worked.set()

    def _place_list(self, kind: str) -> list[Object]:
        items = self._connection.request("GET", path_of(KINDS[kind]))["items"]
        return [{"apiVersion": KINDS[kind].api_version, "kind": kind, **each} for each in items]

    def _ready(self, obj: Object, *types: str) -> None:
        conditions = [{**_READY, "type": each} for each in ("Ready", *types)]
        if not (obj.get("status") or {}).get("conditions"):
            self._writer.patch(obj["kind"], name_of(obj), {"status": {"conditions": conditions}}, subresource="status")

    def _hold_or_let_go(self, obj: Object, finalizer: str, *, free: bool = True) -> None:
        present = list(finalizers_of(obj))
        if not is_terminating(obj):
            if finalizer not in present:
                self._finalizers(obj, [*present, finalizer])
        elif finalizer in present and free and self.lets_go:
            self._finalizers(obj, [each for each in present if each != finalizer])

    def _finalizers(self, obj: Object, finalizers: list[str]) -> None:
        version = obj["metadata"]["resourceVersion"]
        self._writer.patch(
            obj["kind"], name_of(obj), {"metadata": {"finalizers": finalizers or None, "resourceVersion": version}}
        )


def ask_azure(environment: Path) -> None:
    """Does the first request of a controller: the subscriptions, with a token of its managed identity."""
    variables = dict(re.findall(r"^export (\w+)='?(.*?)'?$", environment.read_text(), re.MULTILINE))
    identity = f"{variables['IDENTITY_ENDPOINT']}?resource=https://management.azure.com&api-version=2019-08-01"
    asked = urllib.request.Request(identity, headers={"X-IDENTITY-HEADER": variables["IDENTITY_HEADER"]})
    with urllib.request.urlopen(asked) as answer:
        token = json.load(answer)["access_token"]
    arm = f"{variables['IDENTITY_ENDPOINT'].partition('/msi')[0]}/subscriptions?api-version=2021-01-01"
    with urllib.request.urlopen(urllib.request.Request(arm, headers={"Authorization": f"Bearer {token}"})) as answer:
        answer.read()


def class_of_ours() -> Object:
    return testing.nodeclass("mine")


def pool_of(name: str = "mine") -> Object:
    return testing.nodepool(testing.requirement("karpenter.sh/capacity-type", "on-demand"), name=name, nodeclass="mine")


def claim_of(pool: Object, number: int = 0) -> Object:
    """As Karpenter makes it of a NodePool: owned by it."""
    requirements = pool["spec"]["template"]["spec"]["requirements"]
    claim = testing.nodeclaim(*requirements, name=f"{name_of(pool)}-{number}", nodeclass="mine")
    owners = [owner_reference(pool, controller=False)]
    return with_metadata(claim, labels={"karpenter.sh/nodepool": name_of(pool)}, ownerReferences=owners)


def same(before: Object | None, after: Object | None) -> bool:
    """Whether nobody has written to an object in between."""
    assert before is not None
    return after is not None and (uid_of(after), after["metadata"]["resourceVersion"]) == (
        uid_of(before),
        before["metadata"]["resourceVersion"],
    )
