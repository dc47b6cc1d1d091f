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
)

func init() { overlay = applyOverlays }

// applyOverlays lets the real controller look at the NodeOverlays once; from then on the cloud provider's instance types are those of its store.
func applyOverlays(ctx context.Context, clk clock.Clock, cp *listOnly, cluster *state.Cluster, in *schedIn) (J, error) {
	b := fakecr.NewClientBuilder().WithScheme(scheme.Scheme).WithStatusSubresource(&v1alpha1.NodeOverlay{})
	for _, np := range in.NodePools {
		b = b.WithObjects(np.DeepCopy())
	}
	for _, raw := range in.NodeOverlays {
		one := &v1alpha1.NodeOverlay{}
		if err := json.Unmarshal(raw, one); err != nil {
			return nil, err
		}
		b = b.WithObjects(one)
	}
	c, store := b.Build(), nodeoverlay.NewInstanceTypeStore()
	if _, err := newOverlays(clk, c, cp, store, cluster).Reconcile(ctx, reconcile.Request{}); err != nil {
		return nil, err
	}
	cp.overlaid = func(np *karpv1.NodePool, its []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error) {
		return store.ApplyAll(np.Name, its)
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
	return lo.Assign(told), nil
}
