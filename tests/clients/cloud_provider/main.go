// Package main tries Kubernetes' cloud provider for Azure against a served cloud: the node manager by Azure Resource Manager and by the
// metadata service, routes, and the path by which disks are attached. Run by tests/clients/run.py; one line of JSON for each operation.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	armcompute "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	armnetwork "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v6"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
	"sigs.k8s.io/cloud-provider-azure/pkg/azclient"
	azcache "sigs.k8s.io/cloud-provider-azure/pkg/cache"
	"sigs.k8s.io/cloud-provider-azure/pkg/provider"
	"sigs.k8s.io/cloud-provider-azure/pkg/provider/config"
)

const size = "Standard_D2s_v5"

var (
	ctx      = context.Background()
	group    = os.Getenv("AZURE_NODE_RESOURCE_GROUP")
	location = os.Getenv("LOCATION")
	subnet   = os.Getenv("VNET_SUBNET_ID")
	most, _  = strconv.Atoi(os.Getenv("FAKEAZURE_CLIENT_OPERATIONS"))
	tried    int
)

func expect[T comparable](name string, value, wanted T) error {
	if value != wanted {
		return fmt.Errorf("wrong: %s is %v, not %v", name, value, wanted)
	}
	return nil
}

func refusal(err error, code string) error {
	var refused *azcore.ResponseError
	if !errors.As(err, &refused) {
		return fmt.Errorf("wrong: no refusal: %v", err)
	}
	return expect("code", refused.ErrorCode, code)
}

// first is the first error of several.
func first(results ...error) error {
	for _, err := range results {
		if err != nil {
			return err
		}
	}
	return nil
}

func try(operation string, run func() error) {
	start, state, message := time.Now(), "works", ""
	if err := recovered(run); err != nil {
		message, state = strings.Join(strings.Fields(err.Error()), " "), "missing"
		if strings.HasPrefix(message, "wrong:") {
			state = "wrong"
		}
	}
	line, _ := json.Marshal([]any{"cloud-provider-azure", operation, state, message[:min(300, len(message))], time.Since(start).Seconds()})
	fmt.Println(string(line))
	if tried++; tried == most {
		os.Exit(0)
	}
}

// recovered runs an operation; a panic, as of a null that is not looked for, is the error of that operation alone.
func recovered(run func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("wrong: panic: %v", reason)
		}
	}()
	return run()
}

// settings are what an azure.json of a cluster has; the environment file names the cloud that is served.
func settings() *config.Config {
	return &config.Config{
		AzureClientConfig: config.AzureClientConfig{
			ARMClientConfig: azclient.ARMClientConfig{Cloud: "AZURESTACKCLOUD", DisableAzureStackCloud: true, TenantID: os.Getenv("AZURE_TENANT_ID")},
			AzureAuthConfig: azclient.AzureAuthConfig{UseManagedIdentityExtension: true},
			SubscriptionID:  os.Getenv("AZURE_SUBSCRIPTION_ID"),
		},
		ResourceGroup: group, Location: location, VMType: "vmss", RouteTableName: "routes", RouteUpdateIntervalInSeconds: 1,
		VnetResourceGroup: group, VnetName: path.Base(path.Dir(path.Dir(subnet))), SubnetName: path.Base(subnet), SecurityGroupName: "nsg",
	}
}

// alone is the provider as it treats nodes that are VMs of their own, whose set it picks by node.
func alone() *provider.Cloud {
	standard := settings()
	standard.VMType = "standard"
	return cloudOf(standard, false)
}

func cloudOf(settings *config.Config, controllerManager bool) *provider.Cloud {
	made, err := provider.NewCloud(ctx, nil, settings, controllerManager)
	if err != nil {
		panic(err)
	}
	return made.(*provider.Cloud)
}

func node(name, providerID string) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.NodeSpec{ProviderID: providerID}}
}

func addresses(listed []v1.NodeAddress) map[v1.NodeAddressType]string {
	byType := map[v1.NodeAddressType]string{}
	for _, address := range listed {
		byType[address.Type] = address.Address
	}
	return byType
}

func main() {
	cloud := cloudOf(settings(), true)
	vms, sets := machines(cloud)
	instances(cloud, vms, "")
	instances(cloud, sets[0], "vmss")
	power(cloud, sets[1])
	metadataService(vms)
	routes(cloud, vms)
	disks(alone(), vms, "data", "")
	disks(cloud, sets[0], "set-data", "vmss")
	twice(cloud, alone(), vms, sets)
	gone(cloud, vms)
	os.Exit(0)
}

func image() *armcompute.StorageProfile {
	return &armcompute.StorageProfile{
		ImageReference: &armcompute.ImageReference{Publisher: to.Ptr("Canonical"), Offer: to.Ptr("ubuntu-24_04-lts"), SKU: to.Ptr("server"), Version: to.Ptr("latest")},
		OSDisk:         &armcompute.OSDisk{CreateOption: to.Ptr(armcompute.DiskCreateOptionTypesFromImage)},
	}
}

func keys() *armcompute.LinuxConfiguration {
	key := &armcompute.SSHPublicKey{Path: to.Ptr("/home/azureuser/.ssh/authorized_keys"), KeyData: to.Ptr("ssh-rsa AAAA somebody")}
	return &armcompute.LinuxConfiguration{DisablePasswordAuthentication: to.Ptr(true), SSH: &armcompute.SSHConfiguration{PublicKeys: []*armcompute.SSHPublicKey{key}}}
}

// machine is a node: the name that its kubelet registers, its provider id, and the zone that it is in.
type machine struct{ name, id, zone string }

func machines(cloud *provider.Cloud) (machine, []machine) {
	vm := machine{name: "aks-alone-1", zone: location + "-2"}
	try("NIC and VM", func() error {
		nic, err := cloud.NetworkClientFactory.GetInterfaceClient().CreateOrUpdate(ctx, group, vm.name, armnetwork.Interface{
			Location: to.Ptr(location), Properties: &armnetwork.InterfacePropertiesFormat{IPConfigurations: []*armnetwork.InterfaceIPConfiguration{{
				Name:       to.Ptr("ip"),
				Properties: &armnetwork.InterfaceIPConfigurationPropertiesFormat{Subnet: &armnetwork.Subnet{ID: to.Ptr(subnet)}},
			}}}})
		if err != nil {
			return err
		}
		made, err := cloud.ComputeClientFactory.GetVirtualMachineClient().CreateOrUpdate(ctx, group, vm.name, armcompute.VirtualMachine{
			Location: to.Ptr(location), Zones: []*string{to.Ptr("2")}, Properties: &armcompute.VirtualMachineProperties{
				HardwareProfile: &armcompute.HardwareProfile{VMSize: to.Ptr(armcompute.VirtualMachineSizeTypes(size))},
				StorageProfile:  image(),
				OSProfile:       &armcompute.OSProfile{ComputerName: to.Ptr(vm.name), AdminUsername: to.Ptr("azureuser"), LinuxConfiguration: keys()},
				NetworkProfile:  &armcompute.NetworkProfile{NetworkInterfaces: []*armcompute.NetworkInterfaceReference{{ID: nic.ID}}},
			}})
		if err != nil {
			return err
		}
		vm.id = "azure://" + *made.ID
		return expect("state", *made.Properties.ProvisioningState, "Succeeded")
	})
	var sets []machine
	try("scale set", func() error {
		configuration := &armcompute.VirtualMachineScaleSetNetworkConfiguration{Name: to.Ptr("nic"), Properties: &armcompute.VirtualMachineScaleSetNetworkConfigurationProperties{
			Primary: to.Ptr(true), IPConfigurations: []*armcompute.VirtualMachineScaleSetIPConfiguration{{
				Name: to.Ptr("ip"), Properties: &armcompute.VirtualMachineScaleSetIPConfigurationProperties{Subnet: &armcompute.APIEntityReference{ID: to.Ptr(subnet)}},
			}}}}
		profile := image()
		_, err := cloud.ComputeClientFactory.GetVirtualMachineScaleSetClient().CreateOrUpdate(ctx, group, "aks-pool-vmss", armcompute.VirtualMachineScaleSet{
			Location: to.Ptr(location), Zones: []*string{to.Ptr("1"), to.Ptr("2")},
			SKU: &armcompute.SKU{Name: to.Ptr(size), Tier: to.Ptr("Standard"), Capacity: to.Ptr(int64(2))},
			Properties: &armcompute.VirtualMachineScaleSetProperties{
				OrchestrationMode: to.Ptr(armcompute.OrchestrationModeUniform), UpgradePolicy: &armcompute.UpgradePolicy{Mode: to.Ptr(armcompute.UpgradeModeManual)},
				VirtualMachineProfile: &armcompute.VirtualMachineScaleSetVMProfile{
					StorageProfile: &armcompute.VirtualMachineScaleSetStorageProfile{ImageReference: profile.ImageReference,
						OSDisk: &armcompute.VirtualMachineScaleSetOSDisk{CreateOption: to.Ptr(armcompute.DiskCreateOptionTypesFromImage)}},
					OSProfile:      &armcompute.VirtualMachineScaleSetOSProfile{ComputerNamePrefix: to.Ptr("aks-pool-vmss"), AdminUsername: to.Ptr("azureuser"), LinuxConfiguration: keys()},
					NetworkProfile: &armcompute.VirtualMachineScaleSetNetworkProfile{NetworkInterfaceConfigurations: []*armcompute.VirtualMachineScaleSetNetworkConfiguration{configuration}},
				}}})
		if err != nil {
			return err
		}
		listed, err := cloud.ComputeClientFactory.GetVirtualMachineScaleSetVMClient().ListVMInstanceView(ctx, group, "aks-pool-vmss")
		if err != nil {
			return err
		}
		for _, instance := range listed {
			sets = append(sets, machine{name: strings.ToLower(*instance.Properties.OSProfile.ComputerName), id: "azure://" + *instance.ID, zone: location + "-" + *instance.Zones[0]})
		}
		return expect("instances", len(sets), 2)
	})
	if len(sets) == 0 {
		panic("there is no instance of a scale set to go on with")
	}
	return vm, sets
}

func instances(cloud *provider.Cloud, vm machine, kind string) {
	about := strings.TrimSpace("InstancesV2 " + kind)
	manager, _ := cloud.InstancesV2()
	for _, id := range []string{vm.id, ""} {
		by := map[bool]string{true: "provider id", false: "name"}[id != ""]
		try(about+" InstanceExists by "+by, func() error {
			exists, err := manager.InstanceExists(ctx, node(vm.name, id))
			return first(err, expect("it exists", exists, true))
		})
		try(about+" InstanceMetadata by "+by, func() error {
			metadata, err := manager.InstanceMetadata(ctx, node(vm.name, id))
			if err != nil {
				return err
			}
			given := addresses(metadata.NodeAddresses)
			return first(
				expect("provider id", strings.ToLower(metadata.ProviderID), strings.ToLower(vm.id)), expect("type", metadata.InstanceType, size),
				expect("zone", metadata.Zone, vm.zone), expect("region", metadata.Region, location),
				expect("host name", given[v1.NodeHostName], vm.name), expect("private address", strings.HasPrefix(given[v1.NodeInternalIP], "10."), true))
		})
	}
	try(about+" GetNodeNameByProviderID", func() error {
		name, err := cloud.VMSet.GetNodeNameByProviderID(ctx, vm.id)
		return first(err, expect("name", string(name), vm.name))
	})
	try(about+" GetZoneByProviderID", func() error {
		zone, err := cloud.GetZoneByProviderID(ctx, vm.id)
		return first(err, expect("zone", zone.FailureDomain, vm.zone))
	})
	try(about+" InstanceShutdown, it runs", func() error {
		stopped, err := manager.InstanceShutdown(ctx, node(vm.name, vm.id))
		return first(err, expect("it is shut down", stopped, false))
	})
	try(about+" GetPrimaryInterface", func() error {
		nic, err := cloud.VMSet.GetPrimaryInterface(ctx, vm.name)
		if err != nil {
			return err
		}
		return expect("primary configuration", *nic.Properties.IPConfigurations[0].Properties.Primary, true)
	})
	if kind != "" {
		try(about+" InstanceExists, another id", func() error {
			exists, err := manager.InstanceExists(ctx, node("nobody", strings.Replace(vm.id, group, group+"-x", 1)))
			return first(err, expect("it exists", exists, false))
		})
	}
}

// power is tried on an instance of a scale set: of a VM of its own this release asks for no instance view, so it never is shut down.
func power(cloud *provider.Cloud, vm machine) {
	manager, _ := cloud.InstancesV2()
	options, _, err := azclient.GetAzCoreClientOption(&cloud.ARMClientConfig)
	if err != nil {
		panic(err)
	}
	factory, err := armcompute.NewClientFactory(cloud.SubscriptionID, cloud.AuthProvider.GetAzIdentity(), &arm.ClientOptions{ClientOptions: *options})
	if err != nil {
		panic(err)
	}
	often := &runtime.PollUntilDoneOptions{Frequency: time.Second}
	set, instance := path.Base(path.Dir(path.Dir(vm.id))), path.Base(vm.id)
	try("InstancesV2 vmss InstanceShutdown, deallocated", func() error {
		poller, err := factory.NewVirtualMachineScaleSetVMsClient().BeginDeallocate(ctx, group, set, instance, nil)
		if err != nil {
			return err
		}
		if _, err = poller.PollUntilDone(ctx, often); err != nil {
			return err
		}
		if err = cloud.VMSet.DeleteCacheForNode(ctx, vm.name); err != nil {
			return err
		}
		stopped, err := manager.InstanceShutdown(ctx, node(vm.name, vm.id))
		return first(err, expect("it is shut down", stopped, true))
	})
	try("InstancesV2 vmss InstanceShutdown, started again", func() error {
		poller, err := factory.NewVirtualMachineScaleSetVMsClient().BeginStart(ctx, group, set, instance, nil)
		if err != nil {
			return err
		}
		if _, err = poller.PollUntilDone(ctx, often); err != nil {
			return err
		}
		if err = cloud.VMSet.DeleteCacheForNode(ctx, vm.name); err != nil {
			return err
		}
		stopped, err := manager.InstanceShutdown(ctx, node(vm.name, vm.id))
		return first(err, expect("it is shut down", stopped, false))
	})
}

// metadataService is how cloud-node-manager asks on a node: the metadata service of the VM that it runs on.
func metadataService(vm machine) {
	local := settings()
	local.UseInstanceMetadata = true
	cloud := cloudOf(local, false)
	service, err := provider.NewInstanceMetadataService(os.Getenv("FAKEAZURE_HTTP") + "/_fakeazure/vms/" + vm.name)
	if err != nil {
		panic(err)
	}
	cloud.Metadata = service
	try("cloud-node-manager NodeAddresses", func() error {
		listed, err := cloud.NodeAddresses(ctx, types.NodeName(vm.name))
		if err != nil {
			return err
		}
		given := addresses(listed)
		return first(expect("host name", given[v1.NodeHostName], vm.name), expect("private address", strings.HasPrefix(given[v1.NodeInternalIP], "10."), true))
	})
	try("cloud-node-manager InstanceID", func() error {
		id, err := cloud.InstanceID(ctx, types.NodeName(vm.name))
		return first(err, expect("id", strings.ToLower("azure://"+id), strings.ToLower(vm.id)))
	})
	try("cloud-node-manager InstanceType", func() error {
		instanceType, err := cloud.InstanceType(ctx, types.NodeName(vm.name))
		return first(err, expect("type", instanceType, size))
	})
	try("cloud-node-manager GetZone", func() error {
		zone, err := cloud.GetZone(ctx)
		return first(err, expect("zone", zone.FailureDomain, vm.zone), expect("region", zone.Region, location))
	})
	try("cloud-node-manager GetPlatformSubFaultDomain", func() error {
		domain, err := cloud.GetPlatformSubFaultDomain(ctx)
		return first(err, expect("domain", domain, ""))
	})
}

func routes(cloud *provider.Cloud, vm machine) {
	route := &cloudprovider.Route{TargetNode: types.NodeName(vm.name), DestinationCIDR: "10.244.3.0/24"}
	list := func() ([]*cloudprovider.Route, error) {
		cloud.RouteTableCacheTTLInSeconds = 0
		return cloud.ListRoutes(ctx, "c")
	}
	try("Routes CreateRoute", func() error { return cloud.CreateRoute(ctx, "c", "", route) })
	try("Routes ListRoutes", func() error {
		listed, err := list()
		if err != nil {
			return err
		}
		if err = expect("routes", len(listed), 1); err != nil {
			return err
		}
		return first(expect("node", string(listed[0].TargetNode), vm.name), expect("prefix", listed[0].DestinationCIDR, route.DestinationCIDR))
	})
	try("Routes DeleteRoute", func() error { return cloud.DeleteRoute(ctx, "c", route) })
	try("Routes ListRoutes, none", func() error {
		listed, err := list()
		return first(err, expect("routes", len(listed), 0))
	})
}

func disk(cloud *provider.Cloud, name, zone string) (*armcompute.Disk, error) {
	return cloud.ComputeClientFactory.GetDiskClient().CreateOrUpdate(ctx, group, name, armcompute.Disk{
		Location: to.Ptr(location), Zones: []*string{to.Ptr(strings.TrimPrefix(zone, location+"-"))},
		SKU: &armcompute.DiskSKU{Name: to.Ptr(armcompute.DiskStorageAccountTypesPremiumLRS)},
		Properties: &armcompute.DiskProperties{DiskSizeGB: to.Ptr(int32(64)),
			CreationData: &armcompute.CreationData{CreateOption: to.Ptr(armcompute.DiskCreateOptionEmpty)}}})
}

func diskID(name string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/disks/%s", os.Getenv("AZURE_SUBSCRIPTION_ID"), group, name)
}

func attach(cloud *provider.Cloud, vm machine, name string, lun int32) error {
	return cloud.VMSet.AttachDisk(ctx, types.NodeName(vm.name), map[string]*provider.AttachDiskOptions{
		diskID(name): {CachingMode: armcompute.CachingTypesReadOnly, DiskName: name, Lun: lun}})
}

func disks(cloud *provider.Cloud, vm machine, name, kind string) {
	about := strings.TrimSpace("disk " + kind)
	state := func(wanted armcompute.DiskState, owner string) error {
		disk, err := cloud.ComputeClientFactory.GetDiskClient().Get(ctx, group, name)
		if err != nil {
			return err
		}
		manager := ""
		if disk.ManagedBy != nil {
			manager = *disk.ManagedBy
		}
		return first(expect("state", *disk.Properties.DiskState, wanted), expect("owner", strings.ToLower(manager), strings.ToLower(owner)))
	}
	luns := func() (map[string]int32, error) {
		attached, _, err := cloud.VMSet.GetDataDisks(ctx, types.NodeName(vm.name), azcache.CacheReadTypeForceRefresh)
		byName := map[string]int32{}
		for _, disk := range attached {
			byName[*disk.Name] = *disk.Lun
		}
		return byName, err
	}
	owner := strings.TrimPrefix(vm.id, "azure://")
	attached := func() error {
		byName, err := luns()
		lun, there := byName[name]
		return first(err, expect("it is there", there, true), expect("lun", lun, 3), expect("disks", len(byName), 1), state(armcompute.DiskStateAttached, owner))
	}
	try(about+" create", func() error {
		made, err := disk(cloud, name, vm.zone)
		if err != nil {
			return err
		}
		return first(expect("size", *made.Properties.DiskSizeGB, 64), state(armcompute.DiskStateUnattached, ""))
	})
	try(about+" AttachDisk", func() error {
		return first(attach(cloud, vm, name, 3), state(armcompute.DiskStateAttached, owner))
	})
	try(about+" GetDataDisks", attached)
	try(about+" AttachDisk again", func() error { return first(attach(cloud, vm, name, 3), attached()) })
	try(about+" AttachDisk, lun in use", func() error {
		if _, err := disk(cloud, name+"-2", vm.zone); err != nil {
			return err
		}
		return refusal(attach(cloud, vm, name+"-2", 3), "InvalidParameter")
	})
	if kind != "" {
		try(about+" UpdateVM", func() error {
			return first(cloud.VMSet.UpdateVM(ctx, types.NodeName(vm.name)), attached())
		})
	}
	try(about+" DetachDisk", func() error {
		err := cloud.VMSet.DetachDisk(ctx, types.NodeName(vm.name), map[string]string{diskID(name): name}, false)
		return first(err, state(armcompute.DiskStateUnattached, ""))
	})
	try(about+" GetDataDisks, none", func() error {
		byName, err := luns()
		_, there := byName[name]
		return first(err, expect("it is there", there, false))
	})
	try(about+" delete", func() error { return cloud.ComputeClientFactory.GetDiskClient().Delete(ctx, group, name) })
}

// twice is what the driver meets after a node went away without a detach: Azure says who has the disk.
func twice(cloud, standard *provider.Cloud, holder machine, others []machine) {
	second := others[slices.IndexFunc(others, func(vm machine) bool { return vm.zone == holder.zone })]
	try("disk AttachDisk, attached elsewhere", func() error {
		if _, err := disk(cloud, "shared", holder.zone); err != nil {
			return err
		}
		if err := attach(standard, holder, "shared", 5); err != nil {
			return err
		}
		return refusal(attach(cloud, second, "shared", 5), "ConflictingUserInput")
	})
}

func gone(cloud *provider.Cloud, vm machine) {
	manager, _ := cloud.InstancesV2()
	try("InstancesV2 InstanceExists, deleted", func() error {
		if err := cloud.ComputeClientFactory.GetVirtualMachineClient().Delete(ctx, group, vm.name); err != nil {
			return err
		}
		if err := cloud.VMSet.DeleteCacheForNode(ctx, vm.name); err != nil {
			return err
		}
		exists, err := manager.InstanceExists(ctx, node(vm.name, vm.id))
		return first(err, expect("it exists", exists, false))
	})
}
