package main

// What differs between releases in disruption. The build adds the file of the release that it builds.

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v9"
	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/lifecycle"
	"sigs.k8s.io/karpenter/pkg/controllers/pod/deletioncost"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	coreoptions "sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/cost"
	"sigs.k8s.io/karpenter/pkg/state/nodepoolhealth"

	azcp "github.com/Azure/karpenter-provider-azure/pkg/cloudprovider"
	"github.com/Azure/karpenter-provider-azure/pkg/providers/instance"
)

type disruptGlue struct{ cost *cost.ClusterCost }

// start does what the informers do with the cost of the cluster.
func (g *disruptGlue) start(w *world) {
	g.cost = cost.NewClusterCost(w.ctx, w.cp, w.c)
	for _, nc := range w.in.NodeClaims {
		_ = g.cost.UpdateNodeClaim(w.ctx, nc) // an unknown NodePool; the informer would try again
	}
}

func (g *disruptGlue) methods(w *world) []disruption.Method {
	ms := disruption.NewMethods(w.ctx, w.clk, w.cluster, w.c, w.prov, w.cp, w.rec, w.queue)
	if w.in.Options.SkipValidation {
		c := disruption.MakeConsolidation(w.clk, w.cluster, w.c, w.prov, w.cp, w.rec, w.queue)
		v := disruption.WithValidator(unchecked{})
		ms = []disruption.Method{disruption.NewEmptiness(c, v), disruption.NewStaticDrift(w.cluster, w.prov, w.cp, w.rec), disruption.NewDrift(w.c, w.cluster, w.prov, w.rec, w.clk),
			disruption.NewMultiNodeConsolidation(c, v), disruption.NewSingleNodeConsolidation(c, v)}
	}
	for _, m := range ms {
		if s, ok := m.(*disruption.SingleNodeConsolidation); ok {
			s.PreviouslyUnseenNodePools = sets.New(w.in.Unseen...)
		}
	}
	return ms
}

func (g *disruptGlue) candidates(w *world, m disruption.Method, out J) ([]*disruption.Candidate, error) {
	cs, totals, err := disruption.GetCandidatesWithTotals(w.ctx, w.cluster, w.c, w.rec, w.clk, w.cp, m.ShouldDisrupt, m.Class(), w.queue, g.cost)
	if setter, ok := m.(disruption.NodePoolTotalsSetter); ok && len(cs) > 0 {
		setter.SetNodePoolTotals(totals)
		out["totals"] = lo.MapValues(totals, func(t disruption.NodePoolTotals, _ string) J {
			return J{"cost": t.TotalCost, "disruption_cost": t.TotalDisruptionCost}
		})
	}
	return cs, err
}

func candidateExtras(c *disruption.Candidate) J {
	return J{"price": c.Price, "reschedule_cost": c.RescheduleDisruptionCost, "savings_ratio": c.SavingsRatio(), "empty": c.IsEmpty()}
}

func computeCommands(ctx context.Context, m disruption.Method, budgets map[string]int, cs []*disruption.Candidate) ([]disruption.Command, error) {
	return m.ComputeCommands(ctx, budgets, cs...)
}

func commandExtras(c disruption.Command) J {
	return J{"savings": c.EstimatedSavings(), "pool_costs": c.PoolDisruptionCosts, "string": c.String()}
}

func reconcileDisruption(w *world) (time.Duration, error) {
	r, err := disruption.NewController(w.ctx, w.clk, w.c, w.prov, w.cp, w.rec, w.cluster, w.queue, w.glue.cost, disruption.WithMethods(w.glue.methods(w)...)).Reconcile(w.ctx)
	return r.RequeueAfter, err
}

// moreGates: node repair is the older controller's, since core asks for repair policies that the provider has not.
func moreGates(o *coreoptions.Options) {
	o.FeatureGates.StaticCapacity, o.LegacyNodeRepair = true, true
}

func init() {
	openGates = func(o *coreoptions.Options, names []string) {
		o.FeatureGates.TerminateFirstDrift = lo.Contains(names, "TerminateFirstDrift")
		o.FeatureGates.PodDeletionCostManagement = lo.Contains(names, "PodDeletionCostManagement")
	}
	deletionCosts = func(w *world) (J, error) {
		queue := deletioncost.NewQueue(w.c)
		if _, err := deletioncost.NewController(w.clk, w.c, w.cp, w.cluster, queue).Reconcile(w.ctx); err != nil {
			return nil, err
		}
		pods, out := &corev1.PodList{}, J{}
		must(w.c.List(w.ctx, pods))
		for i := range pods.Items {
			p := &pods.Items[i]
			if _, err := queue.Reconcile(w.ctx, p.DeepCopy()); err != nil {
				return nil, err
			}
			must(w.c.Get(w.ctx, client.ObjectKeyFromObject(p), p))
			if v, ok := p.Annotations[corev1.PodDeletionCost]; ok {
				out[p.Namespace+"/"+p.Name] = v
			}
		}
		return out, nil
	}
}

func isNominated(w *world, n *state.StateNode) bool { return n.Nominated(w.clk) }

func stateNodes(w *world) state.StateNodes { return w.cluster.DeepCopyNodes() }

func finalizeNodeClaim(w *world, nc *karpv1.NodeClaim) (reconcile.Result, error) {
	return lifecycle.NewController(w.clk, w.c, w.cp, w.rec, w.cluster, nodepoolhealth.NewState(), nil).Reconcile(w.ctx, nc)
}

// machines are AKS machines of which only what they say about drift is known.
type machines struct {
	instance.AKSMachineProvider
	known map[string]machineJSON
}

func (m *machines) Get(_ context.Context, name string, _ ...instance.Option) (*armcontainerservice.Machine, error) {
	one, ok := m.known[name]
	if !ok {
		return nil, cloudprovider.NewNodeClaimNotFoundError(fmt.Errorf("no AKS machine %s", name))
	}
	status := &armcontainerservice.MachineStatus{}
	if one.Action != "" {
		status.DriftAction = lo.ToPtr(armcontainerservice.DriftAction(one.Action))
		status.DriftReason = lo.ToPtr(one.Reason)
	}
	return &armcontainerservice.Machine{Name: &name, Properties: &armcontainerservice.MachineProperties{Status: status}}, nil
}

func driftProvider(_ context.Context, c client.Client, rec *eventLog, known map[string]machineJSON) *azcp.CloudProvider {
	return azcp.New(nil, nil, &machines{known: known}, rec, c, nil, nil)
}
