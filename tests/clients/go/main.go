// Package main tries the Azure SDK for Go against a served cloud. Run by tests/clients/run.py; writes one line of JSON for each operation.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork"
)

var (
	ctx          = context.Background()
	subscription = os.Getenv("AZURE_SUBSCRIPTION_ID")
	group        = os.Getenv("AZURE_NODE_RESOURCE_GROUP")
	location     = os.Getenv("LOCATION")
	often        = &runtime.PollUntilDoneOptions{Frequency: time.Second}
)

func clientOptions() *arm.ClientOptions {
	var described struct{ ResourceManagerEndpoint, TokenAudience string }
	content, err := os.ReadFile(os.Getenv("AZURE_ENVIRONMENT_FILEPATH"))
	if err == nil {
		err = json.Unmarshal(content, &described)
	}
	if err != nil {
		panic(err)
	}
	service := cloud.ServiceConfiguration{Endpoint: described.ResourceManagerEndpoint, Audience: described.TokenAudience}
	services := map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: service}
	return &arm.ClientOptions{ClientOptions: policy.ClientOptions{Cloud: cloud.Configuration{Services: services}}}
}

// expect is an error that names what was wanted and what was found; nil if they are the same.
func expect[T comparable](what string, found, wanted T) error {
	if found != wanted {
		return fmt.Errorf("wrong: %s is %v, not %v", what, found, wanted)
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

func nicBody() armnetwork.Interface {
	return armnetwork.Interface{
		Location: to.Ptr(location),
		Properties: &armnetwork.InterfacePropertiesFormat{IPConfigurations: []*armnetwork.InterfaceIPConfiguration{{
			Name: to.Ptr("ip"),
			Properties: &armnetwork.InterfaceIPConfigurationPropertiesFormat{
				Subnet: &armnetwork.Subnet{ID: to.Ptr(os.Getenv("VNET_SUBNET_ID"))},
			},
		}}},
	}
}

func vmBody(nic, size string) armcompute.VirtualMachine {
	return armcompute.VirtualMachine{
		Location: to.Ptr(location),
		Zones:    []*string{to.Ptr("1")},
		Properties: &armcompute.VirtualMachineProperties{
			HardwareProfile: &armcompute.HardwareProfile{VMSize: to.Ptr(armcompute.VirtualMachineSizeTypes(size))},
			StorageProfile: &armcompute.StorageProfile{
				ImageReference: &armcompute.ImageReference{Publisher: to.Ptr("Canonical"), Offer: to.Ptr("ubuntu-24_04-lts"),
					SKU: to.Ptr("server"), Version: to.Ptr("latest")},
				OSDisk: &armcompute.OSDisk{Name: to.Ptr("go-os"), CreateOption: to.Ptr(armcompute.DiskCreateOptionTypesFromImage),
					DeleteOption: to.Ptr(armcompute.DiskDeleteOptionTypesDelete)},
			},
			NetworkProfile: &armcompute.NetworkProfile{NetworkInterfaces: []*armcompute.NetworkInterfaceReference{{
				ID:         to.Ptr(nic),
				Properties: &armcompute.NetworkInterfaceReferenceProperties{DeleteOption: to.Ptr(armcompute.DeleteOptionsDelete)},
			}}},
		},
	}
}

func main() {
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		panic(err)
	}
	factory, err := armcompute.NewClientFactory(subscription, credential, clientOptions())
	if err != nil {
		panic(err)
	}
	nics, err := armnetwork.NewInterfacesClient(subscription, credential, clientOptions())
	if err != nil {
		panic(err)
	}
	vms, disks := factory.NewVirtualMachinesClient(), factory.NewDisksClient()
	var nic string
	try("resource SKUs", func() error {
		count := 0
		pager := factory.NewResourceSKUsClient().NewListPager(&armcompute.ResourceSKUsClientListOptions{
			Filter: to.Ptr(fmt.Sprintf("location eq '%s'", location))})
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				return err
			}
			count += len(page.Value)
		}
		return expect("more than a thousand sizes", count > 1000, true)
	})
	try("usages", func() error {
		page, err := factory.NewUsageClient().NewListPager(location, nil).NextPage(ctx)
		if err != nil {
			return err
		}
		return expect("name", *page.Value[1].Name.Value, "cores")
	})
	try("NIC create", func() error {
		poller, err := nics.BeginCreateOrUpdate(ctx, group, "go", nicBody(), nil)
		if err != nil {
			return err
		}
		made, err := poller.PollUntilDone(ctx, often)
		if err != nil {
			return err
		}
		nic = *made.ID
		return expect("address", made.Properties.IPConfigurations[0].Properties.PrivateIPAddress != nil, true)
	})
	try("VM create", func() error {
		poller, err := vms.BeginCreateOrUpdate(ctx, group, "go", vmBody(nic, "Standard_D2s_v5"), nil)
		if err != nil {
			return err
		}
		made, err := poller.PollUntilDone(ctx, often)
		if err != nil {
			return err
		}
		return expect("state", *made.Properties.ProvisioningState, "Succeeded")
	})
	try("VM bad size", func() error {
		_, err := vms.BeginCreateOrUpdate(ctx, group, "bad", vmBody(nic, "Standard_Nope"), nil)
		return refusal(err, "InvalidParameter")
	})
	try("VM get with instance view", func() error {
		found, err := vms.Get(ctx, group, "go", &armcompute.VirtualMachinesClientGetOptions{Expand: to.Ptr(armcompute.InstanceViewTypesInstanceView)})
		if err != nil {
			return err
		}
		return expect("power", *found.Properties.InstanceView.Statuses[1].Code, "PowerState/running")
	})
	try("VM list", func() error {
		page, err := vms.NewListPager(group, nil).NextPage(ctx)
		if err != nil {
			return err
		}
		return expect("count", len(page.Value), 1)
	})
	try("VM resize", func() error {
		size := armcompute.VirtualMachineSizeTypes("Standard_D4s_v5")
		update := armcompute.VirtualMachineUpdate{Properties: &armcompute.VirtualMachineProperties{HardwareProfile: &armcompute.HardwareProfile{VMSize: &size}}}
		poller, err := vms.BeginUpdate(ctx, group, "go", update, nil)
		if err != nil {
			return err
		}
		made, err := poller.PollUntilDone(ctx, often)
		if err != nil {
			return err
		}
		return expect("size", *made.Properties.HardwareProfile.VMSize, size)
	})
	try("VM restart", func() error {
		poller, err := vms.BeginRestart(ctx, group, "go", nil)
		if err != nil {
			return err
		}
		_, err = poller.PollUntilDone(ctx, often)
		return err
	})
	try("NIC delete in use", func() error {
		_, err := nics.BeginDelete(ctx, group, "go", nil)
		return refusal(err, "NicInUse")
	})
	try("VM delete", func() error {
		poller, err := vms.BeginDelete(ctx, group, "go", &armcompute.VirtualMachinesClientBeginDeleteOptions{ForceDeletion: to.Ptr(true)})
		if err != nil {
			return err
		}
		_, err = poller.PollUntilDone(ctx, often)
		return err
	})
	try("VM get after delete", func() error {
		_, err := vms.Get(ctx, group, "go", nil)
		return refusal(err, "ResourceNotFound")
	})
	try("disk create", func() error {
		body := armcompute.Disk{Location: to.Ptr(location), Properties: &armcompute.DiskProperties{DiskSizeGB: to.Ptr(int32(64)),
			CreationData: &armcompute.CreationData{CreateOption: to.Ptr(armcompute.DiskCreateOptionEmpty)}}}
		poller, err := disks.BeginCreateOrUpdate(ctx, group, "go-data", body, nil)
		if err != nil {
			return err
		}
		made, err := poller.PollUntilDone(ctx, often)
		if err != nil {
			return err
		}
		return expect("state", *made.Properties.DiskState, armcompute.DiskStateUnattached)
	})
}

func try(operation string, run func() error) {
	start, state, said := time.Now(), "works", ""
	if err := run(); err != nil {
		said, state = err.Error(), "missing"
		if len(said) > 6 && said[:6] == "wrong:" {
			state = "wrong"
		}
	}
	line, _ := json.Marshal([]any{"Go SDK", operation, state, said, time.Since(start).Seconds()})
	fmt.Println(string(line))
}
