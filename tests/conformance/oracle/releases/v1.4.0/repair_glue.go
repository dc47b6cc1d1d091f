package main

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
)

// repairNode runs the controller that replaces unhealthy Nodes.
func repairNode(w *world, node *corev1.Node) (reconcile.Result, error) {
	return health.NewController(w.c, w.cp, w.clk, w.rec).Reconcile(w.ctx, node)
}
