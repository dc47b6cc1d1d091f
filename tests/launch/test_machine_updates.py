"""What is asked of Azure when a machine is updated, and how what a machine has is told from what it should have."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.engine import DONE, Result
from harness.karpenter.provider.in_place import InPlaceUpdates
from harness.karpenter.provider.machine_updates import MachineUpdates
from harness.karpenter.releases import provider
from harness.kube.api.status import ApiError
from harness.testing import nodeclass
from tests.launch.conftest import GROUP, OPTIONS, nodeclaim
from tests.launch.test_answers_of_azure import Cloud, Said, arm

HASH, MACHINE = "karpenter.azure.com/in-place-update-hash", "karpenter.azure.com/aks-machine-resource-id"
PROVIDER_ID = f"azure://{GROUP}/providers/Microsoft.Compute/virtualMachines/aks-x"


class Log(list[tuple[str, dict[str, str]]]):
    """Messages, with their values."""

    def log(self, level: str, controller: str, message: str, **values: str) -> None:
        self.append((message, values))


def applied(claim: dict[str, Any], *answers: Said) -> tuple[Cloud, Log]:
    """An update from beginning to end."""
    made, cloud = arm(*answers)
    log: Any = Log()
    for _ in MachineUpdates(made, log, provider("1.14.0")).apply(claim, nodeclass(tags={"team": "a"})):
        pass
    return cloud, log


def launched(of_aks: bool) -> dict[str, Any]:
    """A NodeClaim with a machine."""
    claim = nodeclaim("x")
    claim["metadata"]["annotations"] = {MACHINE: "/machines/x"} if of_aks else {}
    return {**claim, "status": {"providerID": PROVIDER_ID}}


@pytest.mark.parametrize("mode", ["aksscriptless", "aksmachineapi"])
@pytest.mark.parametrize("release", ["1.7.2", "1.14.0"])
def test_a_machine_that_was_just_launched_is_as_it_should_be(
    launch: Callable[..., Any], release: str, mode: str
) -> None:
    """Identities count for VMs alone (kaz pkg/controllers/nodeclaim/inplaceupdate/utils.go, HashFromNodeClaim)."""
    spec = {"tags": {"team": "a"}}
    made = launch(nodeclaim("x"), release=release, provision_mode=mode, spec=spec)
    created = made.created() if mode == "aksscriptless" else made.created(PROVIDER_ID.removeprefix("azure://"))
    claim = {**nodeclaim("x"), "status": {"providerID": PROVIDER_ID}}
    claim["metadata"]["annotations"] = created.annotations
    nothing: Any = None
    known = provider(release)
    goal = MachineUpdates(arm((200, {}, {}))[0], nothing, known).goal(claim, made.launch.nodeclass)
    assert goal == created.annotations[HASH]


TAGS = {
    "karpenter.azure.com_cluster": "c",
    "compute.aks.billing": "linux",
    "karpenter.sh_nodepool": "default",
    "team": "a",
}
IDENTITIES: dict[str, Any] = {"userAssignedIdentities": {name: {} for name in OPTIONS.node_identities}}


@pytest.mark.parametrize(
    ("tags", "patch", "patched"),
    [
        (TAGS, "<nil>", []),
        (
            {**TAGS, "team": "b"},
            '{"tags":{"compute.aks.billing":"linux","karpenter.azure.com_cluster":"c","karpenter.sh_nodepool":"default","team":"a"}}',
            [
                "networkInterfaces/aks-x",
                "virtualMachines/aks-x/extensions/computeAksLinuxBilling",
                "virtualMachines/aks-x",
            ],
        ),
    ],
    ids=["as it should be", "another tag"],
)
def test_the_patch_of_a_vm_is_told_even_if_there_is_none(tags: dict[str, str], patch: str, patched: list[str]) -> None:
    """Kaz pkg/controllers/nodeclaim/inplaceupdate/patch.go, logVMPatch."""
    cloud, log = applied(launched(of_aks=False), (200, {}, {"tags": tags, "identity": IDENTITIES}), (200, {}, {}))
    assert log == [("patching Azure VM", {"NodeClaim": "x", "vmPatch": patch})]
    assert [path.partition("/")[2] for method, path in cloud.asked if method == "PATCH"] == patched


@pytest.mark.parametrize(("known", "told"), [({"eTag": "e1"}, [{"If-Match": "e1"}]), ({}, [{}])])
def test_a_machine_is_put_only_if_nobody_else_has_changed_it(known: dict[str, str], told: list[dict[str, str]]) -> None:
    """Where AKS tells its ETag (kaz pkg/providers/instance/aksmachineinstance.go, Update)."""
    cloud, _ = applied(launched(of_aks=True), (200, {}, {"name": "x", "properties": known}), (200, {}, {}))
    assert [method for method, _ in cloud.asked] == ["GET", "PUT"]
    assert cloud.headers[1:] == told


def reconciled(later: Any, writer: Any, *answers: Said, known: str | None = None, log: Any = None) -> Result:
    """A look at a NodeClaim that finds its VM as it should be, unless Azure says otherwise; its AKSNodeClass is another after that."""
    there = iter((nodeclass(tags={"team": "a"}), later))
    claim = launched(of_aks=False)
    claim["metadata"]["labels"]["karpenter.azure.com/aksnodeclass"] = "default"
    claim["spec"]["nodeClassRef"] = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    claim["status"]["conditions"] = [{"type": "Registered", "status": "True"}]
    claim["metadata"]["annotations"] = {} if known is None else {HASH: known}
    log = Log() if log is None else log
    view: Any = SimpleNamespace(get=lambda kind, name: claim if kind == "NodeClaim" else next(there))
    vm: Said = (200, {}, {"tags": TAGS, "identity": IDENTITIES})
    updates = MachineUpdates(arm(*(answers or (vm,)))[0], log, provider("1.14.0"))
    return InPlaceUpdates(view, writer, log, updates).reconcile("x")


@pytest.mark.parametrize(
    ("later", "result"),
    [(nodeclass(tags={"team": "b"}), Result(0.0)), (nodeclass(tags={"team": "a"}), DONE), (None, DONE)],
    ids=["other tags", "the same", "gone"],
)
def test_tags_that_change_during_an_update_are_looked_at_after_it(later: Any, result: Result) -> None:
    assert reconciled(later, SimpleNamespace(patch=lambda *_: None)) == result


def test_a_nodeclaim_that_is_gone_after_its_update_is_let_alone() -> None:
    """Kaz pkg/controllers/nodeclaim/inplaceupdate/controller.go: client.IgnoreNotFound of the patch."""

    def refusing(code: int) -> Any:
        def patch(*_: Any) -> None:
            raise ApiError(code, "Why", "why")

        return SimpleNamespace(patch=patch)

    assert reconciled(None, refusing(404)) == DONE
    for code in (403, 405, 409):
        with pytest.raises(ApiError):
            reconciled(None, refusing(code))


def test_a_look_that_waits_for_azure_is_not_over() -> None:
    """Upstream it waits inside, so that neither its failures are forgotten nor another begins meanwhile."""
    vm: Said = (200, {}, {"tags": {}, "identity": IDENTITIES})
    going: Said = (202, {"Azure-AsyncOperation": "https://management.azure.com/operations/1"}, None)
    result = reconciled(
        None, SimpleNamespace(), vm, (200, {}, {}), (200, {}, {}), going, (200, {}, {"status": "Running"})
    )
    assert result == Result(3.0, busy=3.0, under_way=True)


@pytest.mark.parametrize(("known", "told"), [(None, ""), ("17", "17")])
def test_hashes_that_differ_are_told(known: str | None, told: str) -> None:
    """Kaz pkg/controllers/nodeclaim/inplaceupdate/controller.go."""
    log: Any = Log()
    reconciled(None, SimpleNamespace(patch=lambda *_: None), known=known, log=log)
    (values,) = (values for message, values in log if message == "comparing in-place update hashes")
    assert values["goalHash"].isdigit()
    assert (values["NodeClaim"], values["actualHash"]) == ("x", told)
