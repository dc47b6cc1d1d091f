package main

import (
	staticdeprovisioning "sigs.k8s.io/karpenter/pkg/controllers/static/deprovisioning"
	staticprovisioning "sigs.k8s.io/karpenter/pkg/controllers/static/provisioning"
)

func staticProvisioning(w *world) *staticprovisioning.Controller {
	return staticprovisioning.NewController(w.c, w.cluster, w.rec, w.cp, w.prov, w.clk)
}

func staticDeprovisioning(w *world) *staticdeprovisioning.Controller {
	return staticdeprovisioning.NewController(w.c, w.cluster, w.cp, w.clk, w.rec)
}
