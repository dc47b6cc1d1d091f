package main

import (
	"context"
	"encoding/json"

	"github.com/samber/lo"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakecr "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	coreoptions "sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/Azure/karpenter-provider-azure/pkg/test"
)

func init() {
	overlay = applyOverlays
	overlayLaunch = applyOverlaysToLaunch
	moreOps["launch"] = opLabels
}

// applyOverlays lets the real controller look at the NodeOverlays once; from then on the cloud provider's instance types are those of its store.
func applyOverlays(ctx context.Context, clk clock.Clock, cp *listOnly, cluster *state.Cluster, in *schedIn) (J, error) {
	store := nodeoverlay.NewInstanceTypeStore()
	told, err := evaluateOverlays(ctx, clk, cp, store, cluster, in.NodePools, in.NodeOverlays)
	if err != nil {
		return nil, err
	}
	cp.overlaid = func(np *karpv1.NodePool, its []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error) {
		return store.ApplyAll(np.Name, its)
	}
	return told, nil
}

// applyOverlaysToLaunch opens the gate and evaluates the NodeOverlays into the store that the provider reads when it launches.
func applyOverlaysToLaunch(ctx context.Context, env *test.Environment, c client.Client, cp cloudprovider.CloudProvider, np *karpv1.NodePool, overlays []json.RawMessage) (J, error) {
	coreoptions.FromContext(ctx).FeatureGates.NodeOverlay = true
	clk := clock.RealClock{}
	return evaluateOverlays(ctx, clk, cp, env.InstanceTypeStore, state.NewCluster(clk, c, cp), lo.Compact([]*karpv1.NodePool{np}), overlays)
}

// evaluateOverlays fills the store, and returns the conditions of the NodeOverlays.
func evaluateOverlays(ctx context.Context, clk clock.Clock, cp cloudprovider.CloudProvider, store *nodeoverlay.InstanceTypeStore, cluster *state.Cluster, nps []*karpv1.NodePool, overlays []json.RawMessage) (J, error) {
	b := fakecr.NewClientBuilder().WithScheme(scheme.Scheme).WithStatusSubresource(&v1alpha1.NodeOverlay{})
	for _, np := range nps {
		b = b.WithObjects(np.DeepCopy())
	}
	for _, raw := range overlays {
		one := &v1alpha1.NodeOverlay{}
		if err := json.Unmarshal(raw, one); err != nil {
			return nil, err
		}
		b = b.WithObjects(one)
	}
	c := b.Build()
	if _, err := newOverlays(clk, c, cp, store, cluster).Reconcile(ctx, reconcile.Request{}); err != nil {
		return nil, err
	}
	found := &v1alpha1.NodeOverlayList{}
	if err := c.List(ctx, found, &client.ListOptions{}); err != nil {
		return nil, err
	}
	told := J{}
	for i := range found.Items {
		conds := J{}
		for _, one := range found.Items[i].StatusConditions().List() {
			conds[one.Type] = J{"status": one.Status, "reason": one.Reason, "message": one.Message}
		}
		told[found.Items[i].Name] = conds
	}
	return told, nil
}
