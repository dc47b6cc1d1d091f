"""What the sweeps for garbage see of Azure: every machine, or an error, after which they leave everything as it is."""

import pytest

from fakeazure.resources.graph import resource_graph
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.testing import nodeclass, nodepool, pod
from tests.corridor.conftest import SMALL

APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}
MACHINES = {"provision_mode": "aksmachineapi"}


def five_nodes(walk, **world):
    pods = (pod(f"p{number}", labels={"app": "a"}, affinity=APART) for number in range(5))
    way = walk(nodeclass(), nodepool(SMALL), *pods, **world)
    assert len(way.world.list("Node")) == 5
    return way.world


def silent_nodes(world):
    """All Nodes stop being Ready, which is when a NodeClaim without a machine goes."""
    for node in world.list("Node"):
        world.kubelets.power_off(world.machines.of_node(node["metadata"]["name"]).machine.vm_id)
    world.advance(60)


def test_all_pages_of_machines_are_read(walk, monkeypatch):
    monkeypatch.setattr(resource_graph, "_MAX_PAGE", 2)
    world = five_nodes(walk)
    assert len({each.provider_id for each in world.karpenter.provider.list()}) == 5
    silent_nodes(world)
    world.advance(300)
    assert len(world.list("NodeClaim")) == 5


@pytest.mark.parametrize(("resource", "options"), [("resources", {}), ("machines", MACHINES)])
def test_an_error_of_azure_is_no_empty_list(walk, resource, options):
    world = five_nodes(walk, options=options)
    world.change_azure({"faults": [{"what": "TooManyRequests", "where": {"resource": resource, "method": "*"}}]})
    with pytest.raises(CloudProviderError):
        world.karpenter.provider.list()


def test_each_aks_machine_is_found_by_its_provider_id(walk):
    world = five_nodes(walk, options=MACHINES)
    provider = world.karpenter.provider
    ids = {node["spec"]["providerID"] for node in world.list("Node")}
    assert {provider.get(one).provider_id for one in ids} == ids
    with pytest.raises(InstanceNotFound):
        provider.get("azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/another")


def test_an_aks_machine_is_asked_for_by_its_name_where_all_cannot_be_listed(walk):
    world = five_nodes(walk, options=MACHINES)
    claim = world.list("NodeClaim")[2]
    name, provider_id = claim["metadata"]["name"], claim["status"]["providerID"]
    listing = {"resource": "machines", "method": "GET"}
    world.change_azure({"faults": [{"what": "Strange", "status": 403, "message": "no", "where": listing}]})
    assert world.karpenter.provider.get(f"azure:///machines/{name}").provider_id == provider_id
