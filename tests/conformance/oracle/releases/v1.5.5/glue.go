package main

// What differs between releases. The build adds the file of the release that it builds.

import (
	"context"
	"time"

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
	azurecache "github.com/Azure/karpenter-provider-azure/pkg/cache"
	azcp "github.com/Azure/karpenter-provider-azure/pkg/cloudprovider"
	"github.com/Azure/karpenter-provider-azure/pkg/fake"
	azoptions "github.com/Azure/karpenter-provider-azure/pkg/operator/options"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/instancetype"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/pricing"
	"github.com/Azure/karpenter-provider-azure/pkg/test"
	"github.com/Azure/skewer"
)

const defaultKubernetesVersion = "1.34.0"

// registerNormalization does what pkg/operator does at start-up.
func registerNormalization() {
	karpv1.NormalizedLabels = lo.Assign(karpv1.NormalizedLabels, map[string]string{"topology.disk.csi.azure.com/zone": corev1.LabelTopologyZone})
}

func runtimeValidate(np *karpv1.NodePool) error { return np.RuntimeValidate(context.Background()) }

func validateRequirement(r reqJSON) error {
	return karpv1.ValidateRequirement(context.Background(), r)
}

func labelPredicates(l string) J {
	return J{"restricted_node_label": karpv1.IsRestrictedNodeLabel(l)}
}

// requirementsExtras: what only older releases have.
func requirementsExtras(rs scheduling.Requirements) J {
	return J{"labels_from_requirements": rs.Labels()}
}

// coreOptions: this release has no minValuesPolicy (it is ignored).
func coreOptions(o schedOptions) *coreoptions.Options {
	opts := &coreoptions.Options{CPURequests: 1000, PreferencePolicy: coreoptions.PreferencePolicyRespect,
		BatchMaxDuration: 10 * time.Second, BatchIdleDuration: time.Second}
	if o.PreferencePolicy != "" {
		opts.PreferencePolicy = coreoptions.PreferencePolicy(o.PreferencePolicy)
	}
	if o.CPURequests > 0 {
		opts.CPURequests = o.CPURequests
	}
	return opts
}

func newProvisioner(c client.Client, rec *eventLog, cp cloudprovider.CloudProvider, cluster *state.Cluster, clk clock.Clock) *provisioning.Provisioner {
	return provisioning.NewProvisioner(c, rec, cp, cluster, clk)
}

func workerOptions(n int) []ps.Options { return []ps.Options{ps.NumConcurrentReconciles(n)} }

func newScheduler(ctx context.Context, c client.Client, cluster *state.Cluster, nps []*karpv1.NodePool, byPool map[string][]*cloudprovider.InstanceType, pods []*corev1.Pod, opts ...ps.Options) *ps.Scheduler {
	topology := lo.Must(ps.NewTopology(ctx, c, cluster, nil, nps, byPool, pods, opts...))
	return ps.NewScheduler(ctx, c, nps, cluster, nil, topology, byPool, nil, &eventLog{}, clock.RealClock{}, opts...)
}

// azureOptionDefaults are those of pkg/test.Options.
func azureOptionDefaults() *azoptions.Options { return test.Options() }

// skuClient is what this release wants around a list of SKUs.
type skuClient struct{ skewer.ResourceClient }

func (s skuClient) GetInstance() skewer.ResourceClient { return s.ResourceClient }

// staticPrices: a context that has ended keeps price polling from starting, so the static table of the location is used.
func staticPrices(location string) *pricing.Provider {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return pricing.NewProvider(ctx, &fake.PricingAPI{}, location, make(chan struct{}))
}

// listInstanceTypes: this release has no quotas, usages are ignored.
func listInstanceTypes(ctx context.Context, in *itIn, skus skewer.ResourceClient) ([]*cloudprovider.InstanceType, error) {
	unavailable := azurecache.NewUnavailableOfferings()
	p := instancetype.NewDefaultProvider(in.Location, cache.New(instancetype.InstanceTypesCacheTTL, azurecache.DefaultCleanupInterval), skuClient{skus},
		staticPrices(in.Location), unavailable)
	for _, u := range in.Unavailable {
		unavailable.MarkUnavailable(ctx, "oracle", u.SKU, u.Zone, u.CapacityType)
	}
	return p.List(ctx, &in.NodeClass)
}

func setKubernetesVersion(nc *v1beta1.AKSNodeClass, v string) { nc.Status.KubernetesVersion = v }

func nodeClassConditions() []string {
	return []string{v1beta1.ConditionTypeImagesReady, v1beta1.ConditionTypeKubernetesVersionReady, opstatus.ConditionReady}
}

func newCloudProvider(env *test.Environment, c client.Client, nodeResourceGroup string) *azcp.CloudProvider {
	// later releases' pkg/test makes this one itself
	nsg := test.MakeNetworkSecurityGroup(nodeResourceGroup, "aks-agentpool-00000000-nsg")
	env.NetworkSecurityGroupAPI.NSGs.Store(lo.FromPtr(nsg.ID), nsg)
	return azcp.New(env.InstanceTypesProvider, env.InstanceProvider, &eventLog{}, c, env.ImageProvider)
}

// createdMachine: this release has no AKS Machine API.
func createdMachine(*test.Environment) J { return nil }
