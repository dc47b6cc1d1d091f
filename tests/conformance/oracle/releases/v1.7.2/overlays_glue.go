package main

import (
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
)

func newOverlays(_ clock.Clock, c client.Client, cp cloudprovider.CloudProvider, store *nodeoverlay.InstanceTypeStore, cluster *state.Cluster) *nodeoverlay.Controller {
	return nodeoverlay.NewController(c, cp, store, cluster)
}
