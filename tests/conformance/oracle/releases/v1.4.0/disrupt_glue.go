package main

// What differs between releases in disruption. The build adds the file of the release that it builds.

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/lifecycle"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	coreoptions "sigs.k8s.io/karpenter/pkg/operator/options"

	azcp "github.com/Azure/karpenter-provider-azure/pkg/cloudprovider"
)

type disruptGlue struct{}

func (g *disruptGlue) start(*world) {}

// methods are those of the controller, in its order.
func (g *disruptGlue) methods(w *world) []disruption.Method {
	c := disruption.MakeConsolidation(w.clk, w.cluster, w.c, w.prov, w.cp, w.rec, w.queue.Orchestration())
	disruption.OracleSkipsValidation = w.in.Options.SkipValidation
	single := disruption.NewSingleNodeConsolidation(c)
	single.PreviouslyUnseenNodePools = sets.New(w.in.Unseen...)
	return []disruption.Method{disruption.NewDrift(w.c, w.cluster, w.prov, w.rec), disruption.NewEmptiness(c), disruption.NewMultiNodeConsolidation(c), single}
}

func (g *disruptGlue) candidates(w *world, m disruption.Method, _ J) ([]*disruption.Candidate, error) {
	return disruption.GetCandidates(w.ctx, w.cluster, w.c, w.rec, w.clk, w.cp, m.ShouldDisrupt, m.Class(), w.queue.Orchestration())
}

func candidateExtras(*disruption.Candidate) J { return nil }

func computeCommands(ctx context.Context, m disruption.Method, budgets map[string]int, cs []*disruption.Candidate) ([]disruption.Command, error) {
	cmd, err := disruption.OracleCommand(ctx, m, budgets, cs)
	return []disruption.Command{cmd}, err
}

func commandExtras(disruption.Command) J { return nil }

func reconcileDisruption(w *world) (time.Duration, error) {
	r, err := disruption.NewController(w.clk, w.c, w.prov, w.cp, w.rec, w.cluster, w.queue.Orchestration()).OracleMethods(w.glue.methods(w)).Reconcile(w.ctx)
	return r.RequeueAfter, err
}

func moreGates(*coreoptions.Options) {}

// isNominated: this release asks the clock of the machine.
func isNominated(_ *world, n *state.StateNode) bool { return n.Nominated() }

func stateNodes(w *world) state.StateNodes { return w.cluster.Nodes() }

func finalizeNodeClaim(w *world, nc *karpv1.NodeClaim) (reconcile.Result, error) {
	return lifecycle.NewController(w.clk, w.c, w.cp, w.rec).Reconcile(w.ctx, nc)
}

// driftProvider: this release has no AKS machines.
func driftProvider(_ context.Context, c client.Client, rec *eventLog, _ map[string]machineJSON) *azcp.CloudProvider {
	return azcp.New(nil, nil, rec, c, nil)
}
