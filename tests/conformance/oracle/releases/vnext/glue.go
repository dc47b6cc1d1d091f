package main

// What differs between releases. The build adds the file of the release that it builds.

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	opstatus "github.com/awslabs/operatorpkg/status"
	"github.com/patrickmn/go-cache"
	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	ps "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	coreoptions "sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/Azure/karpenter-provider-azure/pkg/apis/v1beta1"
	"github.com/Azure/karpenter-provider-azure/pkg/auth"
	azurecache "github.com/Azure/karpenter-provider-azure/pkg/cache"
	azcp "github.com/Azure/karpenter-provider-azure/pkg/cloudprovider"
	"github.com/Azure/karpenter-provider-azure/pkg/fake"
	azoptions "github.com/Azure/karpenter-provider-azure/pkg/operator/options"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/instancetype"
	azlabels "github.com/Azure/karpenter-provider-azure/pkg/providers/labels"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/pricing"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/quota"
	"github.com/Azure/karpenter-provider-azure/pkg/test"
	"github.com/Azure/karpenter-provider-azure/pkg/utils/zones"
	"github.com/Azure/skewer"
)

const defaultKubernetesVersion = "1.34.0"

func init() { launchable = (*cloudprovider.Offering).Launchable }

// registerNormalization does what pkg/operator does at start-up.
func registerNormalization() { zones.RegisterCSIZoneNormalization() }

func runtimeValidate(np *karpv1.NodePool) error { return np.RuntimeValidate(context.Background()) }

func validateRequirement(r reqJSON) error {
	return karpv1.ValidateRequirement(context.Background(), r)
}

func labelPredicates(l string) J {
	return J{"kubelet_can_set": azlabels.CanKubeletSetLabel(l), "kubelet_managed": azlabels.IsLabelKubeletManaged(l)}
}

// requirementsExtras: what only older releases have.
func requirementsExtras(scheduling.Requirements) J { return nil }

func coreOptions(o schedOptions) *coreoptions.Options {
	opts := &coreoptions.Options{CPURequests: 1000, PreferencePolicy: coreoptions.PreferencePolicyRespect, MinValuesPolicy: coreoptions.MinValuesPolicyStrict,
		BatchMaxDuration: 10 * time.Second, BatchIdleDuration: time.Second, IgnoreDRARequests: true}
	if o.PreferencePolicy != "" {
		opts.PreferencePolicy = coreoptions.PreferencePolicy(o.PreferencePolicy)
	}
	if o.MinValuesPolicy != "" {
		opts.MinValuesPolicy = coreoptions.MinValuesPolicy(o.MinValuesPolicy)
	}
	if o.CPURequests > 0 {
		opts.CPURequests = o.CPURequests
	}
	if len(o.DefaultConstraints) > 0 {
		opts.SchedulerConfig = &coreoptions.SchedulerConfiguration{
			PodTopologySpread: &coreoptions.PodTopologySpreadConfig{DefaultConstraints: o.DefaultConstraints}}
	}
	return opts
}

func newProvisioner(c client.Client, rec *eventLog, cp cloudprovider.CloudProvider, cluster *state.Cluster, clk clock.Clock) *provisioning.Provisioner {
	return provisioning.NewProvisioner(c, rec, cp, cluster, clk, nil, nil)
}

func workerOptions(n int) []ps.Options { return []ps.Options{ps.NumConcurrentReconciles(n)} }

func newScheduler(ctx context.Context, c client.Client, cluster *state.Cluster, nps []*karpv1.NodePool, byPool map[string][]*cloudprovider.InstanceType, pods []*corev1.Pod, opts ...ps.Options) *ps.Scheduler {
	topology := lo.Must(ps.NewTopology(ctx, c, cluster, nil, nps, byPool, pods, opts...))
	return ps.NewScheduler(ctx, c, nps, cluster, nil, topology, byPool, nil, &eventLog{}, clock.RealClock{}, nil, nil, opts...)
}

// azureOptionDefaults are those of pkg/test.Options.
func azureOptionDefaults() *azoptions.Options {
	return &azoptions.Options{ClusterName: "test-cluster", ClusterEndpoint: "https://test-cluster", KubeletClientTLSBootstrapToken: "test-token",
		KubeletIdentityClientID: "61f71907-753f-4802-a901-47361c3664f2", SSHPublicKey: "test-ssh-public-key", LinuxAdminUsername: "azureuser",
		NetworkPlugin: "azure", NetworkPluginMode: "overlay", NetworkPolicy: "cilium", VnetGUID: "a519e60a-cac0-40b2-b883-084477fe6f5c",
		NetworkDataplane: "cilium", VMMemoryOverheadPercent: 0.075,
		SubnetID:          "/subscriptions/12345678-1234-1234-1234-123456789012/resourceGroups/test-resourceGroup/providers/Microsoft.Network/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet",
		NodeResourceGroup: "test-resourceGroup", ProvisionMode: "aksscriptless", AKSMachinesPoolName: "aksmanagedap"}
}

// staticPrices: a non-public cloud environment switches price polling off, so the static table of the location is used.
func staticPrices(location string) *pricing.Provider {
	env := lo.Must(auth.EnvironmentFromName("AzureUSGovernmentCloud"))
	return pricing.NewProvider(context.Background(), env, &fake.PricingAPI{}, location, make(chan struct{}))
}

// listInstanceTypes is what the provider makes of a list of SKUs.
func listInstanceTypes(ctx context.Context, in *itIn, skus skewer.ResourceClient) ([]*cloudprovider.InstanceType, error) {
	usage := &fake.UsageAPI{}
	for _, u := range in.Usages {
		usage.Usages.Append(&armcompute.Usage{Name: &armcompute.UsageName{Value: lo.ToPtr(u.Family)}, CurrentValue: lo.ToPtr(int32(u.Current)), Limit: lo.ToPtr(u.Limit)})
	}
	quotas := quota.NewProvider(usage, in.Location)
	if len(in.Usages) > 0 {
		if err := quotas.Update(ctx); err != nil {
			return nil, err
		}
	}
	unavailable := azurecache.NewUnavailableOfferings()
	p := instancetype.NewDefaultProvider(in.Location, cache.New(instancetype.InstanceTypesCacheTTL, azurecache.DefaultCleanupInterval), skus,
		staticPrices(in.Location), unavailable, quotas)
	if err := p.UpdateInstanceTypes(ctx); err != nil {
		return nil, err
	}
	for _, u := range in.Unavailable {
		sku, err := p.Get(ctx, u.SKU)
		if err != nil {
			return nil, err
		}
		unavailable.MarkUnavailable(ctx, "oracle", sku, u.Zone, u.CapacityType)
	}
	return p.List(ctx, &in.NodeClass)
}

func setKubernetesVersion(nc *v1beta1.AKSNodeClass, v string) { nc.Status.KubernetesVersion = &v }

func nodeClassConditions() []string {
	return []string{v1beta1.ConditionTypeImagesReady, v1beta1.ConditionTypeKubernetesVersionReady, opstatus.ConditionReady, v1beta1.ConditionTypeSubnetsReady,
		v1beta1.ConditionTypeValidationSucceeded, v1beta1.ConditionTypeLocalDNSReady}
}

func newCloudProvider(env *test.Environment, c client.Client, _ string) *azcp.CloudProvider {
	return azcp.New(env.InstanceTypesProvider, env.VMInstanceProvider, env.AKSMachineProvider, &eventLog{}, c, env.ImageProvider, env.InstanceTypeStore)
}

// createdMachine is the AKS Machine that the provider asked for, if it did.
func createdMachine(env *test.Environment) J {
	if env.AKSMachinesAPI.AKSMachineCreateOrUpdateBehavior.CalledWithInput.Len() == 0 {
		return nil
	}
	m := env.AKSMachinesAPI.AKSMachineCreateOrUpdateBehavior.CalledWithInput.Pop().AKSMachine
	return J{"node_labels": m.Properties.Kubernetes.NodeLabels, "mode": m.Properties.Mode, "taints": m.Properties.Kubernetes.NodeInitializationTaints,
		"priority": m.Properties.Priority, "zones": m.Zones, "tags": m.Properties.Tags}
}
