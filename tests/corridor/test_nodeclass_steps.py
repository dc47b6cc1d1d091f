"""An AKSNodeClass and its NodePool, look by look: what is asked of Azure, and what is written when."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.clock import SECOND, Clock
from harness.engine.engine import DONE, ReconcileError, Result, Wait
from harness.engine.ports import Change, ChangeType
from harness.karpenter.lifecycle.nodeclasses.maintenance import CONFIG_MAP, NAMESPACE, WindowError, is_open
from harness.karpenter.lifecycle.nodeclasses.node_images import NodeImages, kept
from harness.karpenter.lifecycle.nodeclasses.status import NodeClasses
from harness.karpenter.lifecycle.nodepools.status import NodePools, nodeclass_name
from harness.karpenter.releases import ProviderOptions, provider
from harness.kube.api.objects import condition, finalizers_of
from harness.testing import node, nodeclaim, nodeclass, nodepool
from tests.corridor.still import Still, going

START = "2026-01-01T00:00:00Z"
FINALIZER = "karpenter.azure.com/termination"
NETWORK = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets"
LATER = Result(180.0, Wait.ALARM)


class Azure:
    """Image versions and subnets; `asked` are the paths of all questions."""

    def __init__(self, versions: list[dict[str, Any]] | None = None) -> None:
        self.versions = versions if versions is not None else [{"name": "1.0.0"}]
        self.subnet = SimpleNamespace(status=200, body={})
        self.asked: list[str] = []

    def request(self, method: str, path: str, **_: Any) -> Any:
        self.asked.append(path)
        if "/subnets/" in path:
            return self.subnet
        return SimpleNamespace(status=200, body={"value": self.versions})


# the maintenance window


def window(start: str | None, end: str | None) -> dict[str, str]:
    edges = {"start": start, "end": end}
    return {f"aksManagedNodeOSUpgradeSchedule-{name}": text for name, text in edges.items() if text is not None}


BEFORE, AFTER = "2025-12-31T23:00:00Z", "2026-01-01T01:00:00Z"
INCOMPLETE = "unexpected state, with incomplete maintenance window data for channel aksManagedNodeOSUpgradeSchedule"


def opened(data: dict[str, str] | None, release: str = "1.14.0") -> bool | str:
    view = MagicMock()
    view.get.side_effect = lambda *key: {"data": data} if key == ("ConfigMap", CONFIG_MAP, NAMESPACE) else None
    try:
        return is_open(view, Clock(), provider(release))
    except WindowError as error:
        return str(error)


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (None, True),
        ({}, True),
        ({"aksManagedAutoUpgradeSchedule-start": BEFORE}, True),
        (window(BEFORE, AFTER), True),
        (window(AFTER, AFTER), False),
        (window(BEFORE, BEFORE), False),
        (window(START, AFTER), False),  # after the start and before the end
        (window(BEFORE, START), False),
        (window("2026-01-01T02:00:00+03:00", AFTER), True),
        (window(BEFORE, None), INCOMPLETE),
        (window(None, AFTER), INCOMPLETE),
        (window(BEFORE, ""), INCOMPLETE),
        (window("", AFTER), INCOMPLETE),
        (window("", ""), True),
        (window("", None), True),
    ],
)
def test_when_node_images_may_be_brought_up_to_date(data: dict[str, str] | None, result: bool | str) -> None:
    """Of kaz images.go isMaintenanceWindowOpen, at START."""
    assert opened(data) == result


@pytest.mark.parametrize(("data", "edge"), [(window("soon", AFTER), "start"), (window(BEFORE, "later"), "end")])
def test_a_time_that_is_none_is_named(data: dict[str, str], edge: str) -> None:
    found = opened(data)
    assert isinstance(found, str)
    assert found.startswith(
        f"error parsing maintenance window {edge} time for channel aksManagedNodeOSUpgradeSchedule, "
    )


def test_an_empty_time_was_read_as_a_time_once() -> None:
    """Flag empty_window_is_none of the release: before, both edges were there and could not be parsed."""
    assert opened(window("", ""), "1.4.0") is not True


# images


def images(azure: Azure, *, use_sig: bool = False) -> NodeImages:
    options = ProviderOptions(use_sig=use_sig)
    return NodeImages(Clock(), azure, release=provider("1.14.0"), options=options, region="westeurope")


def published(*dates: str | None) -> list[dict[str, Any]]:
    return [
        {"name": f"1.0.{number}", **({"properties": {"publishedDate": date}} if date is not None else {})}
        for number, date in enumerate(dates)
    ]


@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        (published("2025-01-01", "2025-03-01", "2025-02-01"), "1.0.1"),
        (published("2025-03-01", "2025-01-01"), "1.0.0"),
        (published("2025-01-01", "2025-01-01"), "1.0.0"),  # the first of those that are equally new
        (published(None, "2025-01-01"), "1.0.1"),
        ([], None),
    ],
)
def test_the_image_version_that_was_published_last_is_taken(versions: list[dict[str, Any]], newest: str | None) -> None:
    """Of kaz nodeimage.go latestNodeImageVersionCommunity."""
    found = images(Azure(versions)).newest({}, "1.34.0")
    assert {each["id"].rsplit("/", 1)[1] for each in found} == ({newest} if newest is not None else set())


def test_images_are_asked_for_again_after_three_days() -> None:
    azure = Azure()
    of = images(azure)
    of.newest({}, "1.34.0")
    first = len(azure.asked)
    of._clock.advance_to(3 * 24 * 3600 * SECOND - 1)
    of.newest({}, "1.34.0")
    assert len(azure.asked) == first
    of._clock.advance_to(3 * 24 * 3600 * SECOND)
    of.newest({}, "1.34.0")
    assert len(azure.asked) == 2 * first


def test_images_are_asked_for_each_version_of_kubernetes() -> None:
    azure = Azure()
    of = images(azure)
    for version in ("1.34.0", "1.35.0", "1.34.0"):
        of.newest({}, version)
    assert len(azure.asked) == 2 * len(images(Azure()).newest({}, "1.34.0"))


def test_images_that_a_nodeclass_has_keep_their_version() -> None:
    """Of kaz images.go overrideAnyGoalStateVersionsWithExisting: those no longer asked for go, others come in their newest version."""
    old, new = [
        [{"id": f"/images/{name}/versions/{number}"} for name in names] for number, names in ((1, "ab"), (2, "bc"))
    ]
    assert [each["id"] for each in kept(old, new)] == ["/images/b/versions/1", "/images/c/versions/2"]


# the AKSNodeClass


class Class:
    """An AKSNodeClass and its controller alone."""

    def __init__(self, *others: Any, kubernetes: str = "1.34.0", subnet: str = f"{NETWORK}/own", **spec: Any) -> None:
        made = nodeclass(**spec)
        made["metadata"] |= {"creationTimestamp": START, "generation": 1}
        self.still, self.clock, self.azure = Still(made, *others), Clock(), Azure()
        access: Any = SimpleNamespace(view=self.still, writer=self.still, sink=self.still.sink, clock=self.clock)
        options = ProviderOptions(subnet_id=subnet, node_resource_group="mc")
        self.controller = NodeClasses(
            access, self.azure, release=provider("1.14.0"), options=options, region="westeurope", kubernetes=kubernetes
        )

    def look(self, at: float = 0) -> Result:
        self.clock.advance_to(int(at * SECOND))
        return self.controller.reconcile("default")

    @property
    def object(self) -> Any:
        return self.still.get("AKSNodeClass", "default")

    def said(self, kind: str) -> tuple[str, str]:
        found = condition(self.object, kind)
        assert found is not None
        return found["status"], found["reason"]


def test_an_aksnodeclass_is_held_hashed_and_found_ready_once() -> None:
    of = Class()
    assert of.look() == LATER
    assert finalizers_of(of.object) == [FINALIZER]
    hashed = "karpenter.azure.com/aksnodeclass-hash"
    assert set(of.object["metadata"]["annotations"]) == {hashed, f"{hashed}-version"}
    assert of.object["status"]["kubernetesVersion"] == "1.34.0"
    assert of.said("Ready") == ("True", "Ready")
    assert of.object["status"]["images"]
    written = len(of.still.written)
    assert [of.look(at) for at in (180, 360)] == [LATER, LATER]
    assert len(of.still.written) == written


def test_what_somebody_takes_away_is_written_again() -> None:
    of = Class()
    of.look()
    of.look(180)
    of.still.patch("AKSNodeClass", "default", {"metadata": {"finalizers": ["another"], "annotations": None}})
    of.look(181)
    assert finalizers_of(of.object) == ["another", FINALIZER]
    assert of.object["metadata"]["annotations"]
    of.still.patch("AKSNodeClass", "default", {"status": {"conditions": None}})
    of.look(182)
    assert of.said("Ready") == ("True", "Ready")


def test_another_spec_is_hashed_anew() -> None:
    of = Class()
    of.look()
    before = dict(of.object["metadata"]["annotations"])
    of.still.patch("AKSNodeClass", "default", {"spec": {"osDiskSizeGB": 200}})
    of.look(1)
    assert of.object["metadata"]["annotations"] != before


def test_a_new_version_of_kubernetes_is_read_after_a_quarter_of_an_hour_and_an_older_one_is_not_taken() -> None:
    """Of kaz kubernetesversion.go: the version is kept for 15 min, and never goes back."""
    of = Class()
    of.look()
    of.controller.upgraded("1.35.0")
    versions = []
    for moment in (899, 900):
        of.look(moment)
        versions.append(of.object["status"]["kubernetesVersion"])
    of.controller.upgraded("1.36.0")
    for moment in (1799, 1800):
        of.look(moment)
        versions.append(of.object["status"]["kubernetesVersion"])
    of.controller.upgraded("1.33.0")
    of.look(2700)
    assert [*versions, of.object["status"]["kubernetesVersion"]] == ["1.34.0", "1.35.0", "1.35.0", "1.36.0", "1.36.0"]


@pytest.mark.parametrize(
    ("status", "body", "reason", "message"),
    [
        (404, None, "SubnetNotFound", f"resource not found: {NETWORK}/own"),
        (403, {"error": {"message": "no"}}, "SubnetUnknownError", "unknown error getting subnet: no"),
    ],
)
def test_a_subnet_that_azure_does_not_show_is_looked_at_again(
    status: int, body: Any, reason: str, message: str
) -> None:
    of = Class()
    of.azure.subnet = SimpleNamespace(status=status, body=body)
    for _ in range(2):
        with pytest.raises(ReconcileError):
            of.look()
    found = condition(of.object, "SubnetsReady")
    assert found is not None
    assert (found["status"], found["reason"], found["message"]) == ("False", reason, message)
    assert of.said("Ready") == ("False", "UnhealthyDependents")


def test_a_nodeclass_stays_until_no_nodeclaim_uses_it() -> None:
    """Of kaz nodeclass/termination: asked again after ten minutes, and when a NodeClaim is gone."""
    others = [nodeclaim(name=f"c{number}") for number in range(7)]
    of = Class(*others, nodeclaim(name="x", nodeclass="another"))
    of.object["metadata"]["finalizers"] = ["first", FINALIZER]
    going(of.object, START)
    assert of.look() == Result(600.0, Wait.ALARM)
    (told,) = of.still.events()
    assert told == (
        "WaitingOnNodeClaimTermination",
        "Waiting on NodeClaim termination for c0, c1, c2, c3, c4 and 2 other(s)",
    )
    router = of.controller.watches()["NodeClaim"]
    assert list(router(Change(ChangeType.DELETED, others[0], None, 1))) == ["default"]
    assert list(router(Change(ChangeType.DELETED, {**others[0], "spec": {}}, None, 1))) == []
    of.still.objects[1:8] = []
    assert of.look() == DONE
    assert finalizers_of(of.object) == ["first"]
    assert of.azure.asked == []


# the NodePool


class Pool:
    """A NodePool and its controller alone, with what is told of its registration health."""

    def __init__(self, *others: Any) -> None:
        made = nodepool()
        made["metadata"] |= {"creationTimestamp": START, "generation": 1}
        self.still, self.clock, self.health = Still(made, *others), Clock(), MagicMock()
        self.controller = NodePools(self.still, self.still, self.clock, provider("1.14.0"), self.health)

    @property
    def object(self) -> Any:
        return self.still.get("NodePool", "default")

    def look(self) -> int:
        """Looks once; returns how much was written."""
        before = len(self.still.written)
        assert self.controller.reconcile("default") == DONE
        return len(self.still.written) - before

    def said(self, kind: str) -> tuple[str, str]:
        found = condition(self.object, kind)
        assert found is not None
        return found["status"], found["reason"]

    def hears(self, obj: Any, old: Any = None, type_: ChangeType = ChangeType.MODIFIED) -> list[Any]:
        return list(self.controller.watches()[obj["kind"]](Change(type_, obj, old, 1)))


def of_class(status: str = "True", generation: int = 1) -> Any:
    made = nodeclass()
    made["metadata"]["generation"] = generation
    made["status"] = {"conditions": [{"type": "Ready", "status": status, "reason": "Why", "message": "so"}]}
    return made


def test_a_nodepool_is_looked_at_when_its_own_nodeclass_changes() -> None:
    of = Pool()
    assert of.hears(nodeclass()) == ["default"]
    assert of.hears(nodeclass("another")) == []


def test_the_registration_health_begins_anew_with_each_generation_of_nodepool_and_nodeclass() -> None:
    """Core pkg/controllers/nodepool/registrationhealth/controller.go."""
    of = Pool(of_class())
    assert of.look() == 2  # annotations, status
    assert of.said("NodeRegistrationHealthy") == ("Unknown", "AwaitingReconciliation")
    assert of.object["status"]["nodeClassObservedGeneration"] == 1
    assert (of.health.reset.call_count, of.health.recall.call_count) == (1, 0)
    assert of.look() == 0
    assert (of.health.reset.call_count, of.health.recall.call_args.args[1]) == (1, "Unknown")
    of.still.objects[1] = of_class(generation=2)
    assert of.look() == 1
    assert (of.health.reset.call_count, of.object["status"]["nodeClassObservedGeneration"]) == (2, 2)
    of.object["metadata"]["generation"] = 2
    of.look()
    assert of.health.reset.call_count == 3
    assert of.look() == 0
    assert of.health.reset.call_count == 3


@pytest.mark.parametrize(
    ("nodeclass_", "said"),
    [
        (None, ("False", "NodeClassNotFound")),
        (of_class(), ("True", "NodeClassReady")),
        (of_class("False"), ("False", "Why")),
        (of_class("Unknown"), ("False", "NodeClassReadinessUnknown")),
        (going(of_class(), START), ("False", "NodeClassTerminating")),
    ],
)
def test_a_nodepool_says_whether_its_nodeclass_is_ready(nodeclass_: Any, said: tuple[str, str]) -> None:
    """Core pkg/controllers/nodepool/readiness/controller.go."""
    of = Pool(*([nodeclass_] if nodeclass_ is not None else []))
    of.look()
    assert of.said("NodeClassReady") == said
    assert of.said("ValidationSucceeded") == ("True", "ValidationSucceeded")


LABELS = {"karpenter.sh/nodepool": "default"}


def member(kind: str, provider_id: str = "azure:///n", cpu: str = "2", labels: dict[str, str] = LABELS) -> Any:
    """A NodeClaim or Node of the NodePool."""
    made = nodeclaim(name="n") if kind == "NodeClaim" else node("n")
    made["metadata"]["labels"] = labels
    place = made["spec"] if kind == "Node" else made.setdefault("status", {})
    made.setdefault("status", {})["capacity"] = {"cpu": cpu}
    place["providerID"] = provider_id
    return made


@pytest.mark.parametrize("kind", ["NodeClaim", "Node"])
def test_a_nodepool_is_counted_anew_when_a_machine_counts_differently(kind: str) -> None:
    of, now = Pool(), member(kind)
    other = member(kind, labels={"karpenter.sh/nodepool": "other"})
    assert of.hears(now, member(kind)) == []
    assert of.hears(now, member(kind, cpu="3")) == ["default"]
    assert of.hears(now, member(kind, provider_id="azure:///other")) == ["default"]
    assert of.hears(now, other) == ["default"]
    assert of.hears(other, now) == ["other"]
    assert of.hears(going(member(kind), START), now) == ["default"]
    assert of.hears(now, None, ChangeType.ADDED) == ["default"]
    assert of.hears(now, now, ChangeType.DELETED) == ["default"]
    assert of.hears(member(kind, labels={}), member(kind, labels={}, cpu="3")) == []


def test_the_machines_of_a_nodepool_are_added_up() -> None:
    of = Pool()
    of.look()
    nothing = {"cpu": "0", "memory": "0", "pods": "0", "ephemeral-storage": "0", "nodes": "0"}
    assert (of.object["status"]["resources"], of.object["status"]["nodes"]) == (nothing, 0)
    for each in (member("NodeClaim"), member("Node", cpu="3")):
        of.still.objects.append(each)
        of.hears(each, None, ChangeType.ADDED)
    of.look()
    assert (of.object["status"]["resources"], of.object["status"]["nodes"]) == (
        {**nothing, "cpu": "3", "nodes": "1"},
        1,
    )


SUBSCRIPTION = "/subscriptions/s/resourceGroups"
MANAGED = f"{SUBSCRIPTION}/mc/providers/Microsoft.Network/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet"
OTHER_NETWORK = NETWORK.replace("/v/", "/w/")
NO_MATCH = "vnetSubnetID does not match the cluster subscription, resource group, or virtual network: "
SAME = "custom subnet cannot be in the same VNet as cluster managed VNet: "


@pytest.mark.parametrize(
    ("own", "clusters", "message"),
    [
        (None, f"{NETWORK}/own", None),
        (f"{NETWORK}/other", f"{NETWORK}/own", None),
        (f"{NETWORK}/other".replace("virtualNetworks/v", "virtualNetworks/V"), f"{NETWORK}/own", None),
        (f"{OTHER_NETWORK}/own", f"{NETWORK}/own", f"{NO_MATCH}{OTHER_NETWORK}/own"),
        ("somewhere", f"{NETWORK}/own", "Failed to parse vnetSubnetID somewhere"),
        (MANAGED, MANAGED, None),
        (MANAGED.replace("aks-subnet", "mine"), MANAGED, f"{SAME}{MANAGED.replace('aks-subnet', 'mine')}"),
        (f"{NETWORK}/mine", MANAGED, f"{NO_MATCH}{NETWORK}/mine"),
    ],
)
def test_a_subnet_of_its_own_is_one_of_the_clusters_network_unless_aks_made_that(
    own: str | None, clusters: str, message: str | None
) -> None:
    """Of kaz nodeclass/status/subnet.go validateVNETSubnetID; what is wrong by its name is not asked for."""
    of = Class(**({"vnetSubnetID": own} if own is not None else {}), subnet=clusters)
    assert of.look() == LATER
    found = condition(of.object, "SubnetsReady")
    assert found is not None
    expected = ("True", "SubnetsReady", "") if message is None else ("False", "SubnetIDInvalid", message)
    assert (found["status"], found["reason"], found["message"]) == expected
    assert [path for path in of.azure.asked if "/subnets/" in path] == ([own or clusters] if message is None else [])


@pytest.mark.parametrize(
    ("mode", "version", "before", "state"),
    [
        (None, "1.99.0", None, "Disabled"),
        ("Disabled", "1.99.0", "Enabled", "Disabled"),
        ("Required", "1.34.0", None, "Enabled"),
        ("Preferred", "1.98.9", None, "Disabled"),
        ("Preferred", "1.98.9", "Disabled", "Disabled"),
        ("Preferred", "1.98.9", "Enabled", "Enabled"),  # once on, it stays
        ("Preferred", "1.99.0", None, "Enabled"),
        ("Preferred", "1.99.0", "Disabled", "Enabled"),
    ],
)
def test_whether_local_dns_is_on(mode: str | None, version: str, before: str | None, state: str) -> None:
    """Of kaz nodeclass/status/localdns.go; localDNSPreferredK8sVersionThreshold of 1.14 is 1.99.0."""
    of = Class(kubernetes=version, **({"localDNS": {"mode": mode}} if mode is not None else {}))
    if before is not None:
        of.object["status"] = {"localDNSState": before}
    of.look()
    assert of.object["status"]["localDNSState"] == state
    assert of.said("LocalDNSReady") == ("True", "LocalDNSReady")


def in_window(*edges: str) -> Any:
    return {"kind": "ConfigMap", "metadata": {"name": CONFIG_MAP, "namespace": NAMESPACE}, "data": window(*edges)}


CLOSED = ("2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z")
OPEN = ("2025-01-01T00:00:00Z", "2027-01-02T00:00:00Z")
DAYS = 24 * 3600


def numbers(of: Class) -> set[str]:
    return {each["id"].rsplit("/", 1)[1] for each in of.object["status"]["images"]}


def test_new_images_are_taken_in_the_maintenance_window_and_with_another_version_of_kubernetes() -> None:
    """Of kaz nodeclass/status/images.go."""
    of = Class(in_window(*CLOSED))
    of.look()
    of.azure.versions = [{"name": "1.0.1"}]
    of.look(4 * DAYS)
    assert numbers(of) == {"1.0.0"}
    of.still.objects[1] = in_window(*OPEN)
    of.look(4 * DAYS + 180)
    assert numbers(of) == {"1.0.1"}
    of.still.objects[1] = in_window(*CLOSED)
    of.azure.versions = [{"name": "1.0.2"}]
    of.controller.upgraded("1.35.0")
    of.look(4 * DAYS + 1000)
    assert numbers(of) == {"1.0.2"}


def test_a_window_that_cannot_be_read_leaves_the_images_as_they_are() -> None:
    of = Class(in_window("soon", "later"))
    assert of.look() == LATER  # without images nobody asks for the window
    of.azure.versions = [{"name": "1.0.1"}]
    assert of.look(4 * DAYS) == Result(60.0, Wait.ALARM)
    assert numbers(of) == {"1.0.0"}
    assert of.said("ImagesReady") == ("True", "ImagesReady")
    assert "checking maintenance window" in of.still.sink.log.call_args.kwargs["error"]


def test_without_an_image_the_nodeclass_is_not_ready() -> None:
    of = Class()
    of.azure.versions = []
    assert of.look() == LATER
    assert of.said("ImagesReady") == ("False", "ImagesNotFound")
    assert "images" not in of.object["status"]


def test_a_nodepool_is_hashed_and_judged_with_each_generation() -> None:
    """Core pkg/controllers/nodepool/{hash,validation}."""
    of = Pool(of_class())
    of.look()
    hashed = dict(of.object["metadata"]["annotations"])
    assert set(hashed) == {"karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version"}
    assert hashed["karpenter.sh/nodepool-hash"].isdigit()
    template = {"metadata": {"labels": {"team": "a", "karpenter.sh/nodepool": "x"}}}
    of.still.patch("NodePool", "default", {"spec": {"template": template}, "metadata": {"generation": 2}})
    of.look()
    assert of.object["metadata"]["annotations"] != hashed
    found = condition(of.object, "ValidationSucceeded")
    assert found is not None
    assert (found["status"], found["reason"]) == ("False", "NodePoolValidationFailed")
    assert "karpenter.sh/nodepool" in found["message"]


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ({"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "x"}, "x"),
        ({"group": "karpenter.k8s.aws", "kind": "AKSNodeClass", "name": "x"}, None),
        ({"group": "karpenter.azure.com", "kind": "EC2NodeClass", "name": "x"}, None),
        ({}, None),
    ],
)
def test_a_nodepool_of_another_provider_is_left_alone(ref: dict[str, str], name: str | None) -> None:
    of = Pool()
    of.object["spec"]["template"]["spec"]["nodeClassRef"] = ref
    assert nodeclass_name(of.object) == name
    assert bool(of.look()) is (name is not None)
