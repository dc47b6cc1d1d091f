package main

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/karpenter/pkg/controllers/node/legacyrepair"
)

// repairNode runs the controller that replaces unhealthy Nodes; since repair became a method of disruption it runs with `--legacy-node-repair` only.
func repairNode(w *world, node *corev1.Node) (reconcile.Result, error) {
	return legacyrepair.NewController(w.c, w.cp, w.clk, w.rec).Reconcile(w.ctx, node)
}
