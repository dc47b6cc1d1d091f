"""azure-identity, and azure-mgmt-compute but for VMs."""

from __future__ import annotations

from typing import Any

import azure.core.exceptions
import azure.identity
from azure.core.exceptions import HttpResponseError

from tests.clients.operation import Suite

SUITE = Suite("Python SDKs")
_operation = SUITE.operation
UBUNTU = ("Canonical", "ubuntu-24_04-lts", "server")
GALLERY, DEFINITION = "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2", "2404gen2containerd"


@_operation("identity MSI App Service")
def _(c: Any) -> None:
    token = azure.identity.ManagedIdentityCredential().get_token("https://management.azure.com/.default")
    assert token.token.count(".") == 2
    assert token.expires_on > 1_700_000_000


@_operation("identity ClientSecret (authority=fake, no instance discovery)")
def _(c: Any) -> None:
    credential = azure.identity.ClientSecretCredential(
        c.place.tenant, "client", c.place.secret, authority=c.place.url, disable_instance_discovery=True
    )
    assert credential.get_token("https://management.core.windows.net//.default").token


@_operation("identity ClientSecret that is wrong")
def _(c: Any) -> None:
    credential = azure.identity.ClientSecretCredential(
        c.place.tenant, "client", "wrong", authority=c.place.url, disable_instance_discovery=True
    )
    try:
        credential.get_token("https://management.core.windows.net//.default")
    except azure.core.exceptions.ClientAuthenticationError as error:
        assert "AADSTS7000215" in str(error)
    else:
        raise AssertionError("a wrong secret gets a token")


@_operation("compute resource_skus.list(filter)")
def _(c: Any) -> None:
    skus = {sku.name: sku for sku in c.compute.resource_skus.list(filter=f"location eq '{c.place.location}'")}
    assert len(skus) > 1000
    one = skus["Standard_D2s_v5"]
    assert {item.name: item.value for item in one.capabilities}["vCPUs"] == "2"
    assert one.location_info[0].zones == ["1", "2", "3"]


@_operation("compute usage.list")
def _(c: Any) -> None:
    usages = {usage.name.value: usage for usage in c.compute.usage.list(c.place.location)}
    assert {"cores", "lowPriorityCores", "standardDSv5Family"} <= set(usages)


@_operation("compute usage.list bad location")
def _(c: Any) -> None:
    try:
        list(c.compute.usage.list("mars"))
    except HttpResponseError as error:
        assert error.error.code == "NoRegisteredProviderFound"
        return
    raise AssertionError("mars has usages")


@_operation("compute virtual_machine_sizes.list")
def _(c: Any) -> None:
    sizes = {size.name: size for size in c.compute.virtual_machine_sizes.list(c.place.location)}
    assert (sizes["Standard_D2s_v5"].number_of_cores, sizes["Standard_D2s_v5"].memory_in_mb) == (2, 8192)
    assert sizes["Standard_D2s_v5"].max_data_disk_count == 4


@_operation("compute images list_publishers")
def _(c: Any) -> None:
    names = {item.name for item in c.compute.virtual_machine_images.list_publishers(c.place.location)}
    assert {"Canonical", "MicrosoftWindowsServer"} <= names


@_operation("compute images list versions")
def _(c: Any) -> None:
    images = c.compute.virtual_machine_images
    assert UBUNTU[1] in {item.name for item in images.list_offers(c.place.location, UBUNTU[0])}
    assert UBUNTU[2] in {item.name for item in images.list_skus(c.place.location, *UBUNTU[:2])}
    found = images.list(c.place.location, *UBUNTU, top=1, orderby="name desc")
    assert [item.name for item in found] == ["24.04.202511150"]


@_operation("compute images get")
def _(c: Any) -> None:
    image = c.compute.virtual_machine_images.get(c.place.location, *UBUNTU, "latest")
    assert (image.hyper_v_generation, image.architecture, image.os_disk_image.operating_system) == (
        "V2",
        "x64",
        "Linux",
    )
    assert image.name == "24.04.202511150"


@_operation("compute community_gallery_image_versions.list")
def _(c: Any) -> None:
    [version] = c.compute.community_gallery_image_versions.list(c.place.location, GALLERY, DEFINITION)
    assert version.unique_id.startswith(f"/CommunityGalleries/{GALLERY}/Images/{DEFINITION}/Versions/")


@_operation("compute community_galleries.get")
def _(c: Any) -> None:
    assert c.compute.community_galleries.get(c.place.location, GALLERY).unique_id == f"/CommunityGalleries/{GALLERY}"


@_operation("compute community_gallery_images.list")
def _(c: Any) -> None:
    images = {image.name: image for image in c.compute.community_gallery_images.list(c.place.location, GALLERY)}
    assert (images[DEFINITION].properties.hyper_v_generation, images[DEFINITION].properties.os_type) == ("V2", "Linux")


@_operation("compute galleries.list (SIG)")
def _(c: Any) -> None:
    body = {"location": c.place.location, "properties": {"description": "d"}}
    gallery = c.compute.galleries.begin_create_or_update(c.place.group, "sig", body).result()
    assert gallery.provisioning_state == "Succeeded"
    assert [item.name for item in c.compute.galleries.list()] == ["sig"]
    image = {
        "location": c.place.location,
        "properties": {
            "osType": "Linux",
            "osState": "Generalized",
            "identifier": {"publisher": "p", "offer": "o", "sku": "s"},
        },
    }
    c.compute.gallery_images.begin_create_or_update(c.place.group, "sig", "image", image).result()
    [found] = c.compute.gallery_images.list_by_gallery(c.place.group, "sig")
    assert found.identifier.publisher == "p"


@_operation("compute availability_sets.list_by_rg")
def _(c: Any) -> None:
    made = c.compute.availability_sets.create_or_update(
        c.place.group, "as", {"location": c.place.location, "sku": {"name": "Aligned"}}
    )
    assert (made.platform_fault_domain_count, made.sku.name) == (3, "Aligned")
    assert [item.name for item in c.compute.availability_sets.list(c.place.group)] == ["as"]
    c.compute.availability_sets.delete(c.place.group, "as")


@_operation("compute vmss.list_all")
def _(c: Any) -> None:
    assert list(c.compute.virtual_machine_scale_sets.list_all()) == []


@_operation("compute vmss vms.attach_detach_data_disks")
def _(c: Any) -> None:
    address = {"name": "ip", "properties": {"subnet": {"id": c.place.subnet}}}
    interface = {"name": "nic", "properties": {"primary": True, "ipConfigurations": [address]}}
    image = {"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}
    profile = {
        "osProfile": {"computerNamePrefix": "s", "adminUsername": "azureuser"},
        "storageProfile": {"imageReference": image, "osDisk": {"createOption": "FromImage"}},
        "networkProfile": {"networkInterfaceConfigurations": [interface]},
    }
    body = {
        "location": c.place.location,
        "sku": {"name": "Standard_D2s_v5", "capacity": 1},
        "properties": {"upgradePolicy": {"mode": "Manual"}, "virtualMachineProfile": profile},
    }
    c.compute.virtual_machine_scale_sets.begin_create_or_update(c.place.group, "s", body).result()
    empty = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8}
    disk = {"location": c.place.location, "properties": empty}
    made = c.compute.disks.begin_create_or_update(c.place.group, "of-instance", disk).result()
    instances = c.compute.virtual_machine_scale_set_vms
    change = instances.begin_attach_detach_data_disks
    attached = change(c.place.group, "s", "0", {"dataDisksToAttach": [{"diskId": made.id}]}).result()
    assert [item.lun for item in attached.data_disks] == [0]
    assert c.compute.disks.get(c.place.group, "of-instance").managed_by.endswith("/virtualMachines/0")
    assert not change(c.place.group, "s", "0", {"dataDisksToDetach": [{"diskId": made.id}]}).result().data_disks
    assert c.compute.disks.get(c.place.group, "of-instance").managed_by is None
    c.compute.virtual_machine_scale_sets.begin_delete(c.place.group, "s").result()
    c.compute.disks.begin_delete(c.place.group, "of-instance").result()


@_operation("compute snapshots.list")
def _(c: Any) -> None:
    body = {
        "location": c.place.location,
        "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8, "incremental": True},
    }
    made = c.compute.snapshots.begin_create_or_update(c.place.group, "snap", body).result()
    assert (made.disk_size_gb, made.provisioning_state) == (8, "Succeeded")
    assert [item.name for item in c.compute.snapshots.list()] == ["snap"]
    c.compute.snapshots.begin_delete(c.place.group, "snap").result()


@_operation("compute ssh_public_keys.list")
def _(c: Any) -> None:
    c.compute.ssh_public_keys.create(c.place.group, "key", {"location": c.place.location})
    pair = c.compute.ssh_public_keys.generate_key_pair(c.place.group, "key")
    assert pair.public_key.startswith("ssh-rsa ")
    [found] = c.compute.ssh_public_keys.list_by_resource_group(c.place.group)
    assert found.public_key == pair.public_key


@_operation("compute capacity_reservation_groups.list")
def _(c: Any) -> None:
    c.compute.capacity_reservation_groups.create_or_update(
        c.place.group, "crg", {"location": c.place.location, "zones": ["1"]}
    )
    [found] = c.compute.capacity_reservation_groups.list_by_resource_group(c.place.group)
    assert (found.name, found.zones) == ("crg", ["1"])


@_operation("compute proximity_placement_groups.list")
def _(c: Any) -> None:
    c.compute.proximity_placement_groups.create_or_update(c.place.group, "ppg", {"location": c.place.location})
    [found] = c.compute.proximity_placement_groups.list_by_resource_group(c.place.group)
    assert found.proximity_placement_group_type == "Standard"
