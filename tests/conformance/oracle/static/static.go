package main

import (
	"encoding/json"
	"sort"

	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

func init() { moreOps["static"] = opStatic }

// opStatic says of every NodePool which NodeClaims the two controllers of static NodePools create and delete, each on a fresh cluster.
func opStatic(raw json.RawMessage) (any, error) {
	var more struct {
		Replacing []string `json:"replacing"` // NodeClaims that a command of disruption is about
	}
	if err := json.Unmarshal(raw, &more); err != nil {
		return nil, err
	}
	in, err := newDisIn(raw)
	if err != nil {
		return nil, err
	}
	fresh := func(name string) (*world, *karpv1.NodePool, error) {
		w, err := newWorld(raw)
		if err != nil {
			return nil, nil, err
		}
		for _, nc := range w.in.NodeClaims {
			for _, one := range more.Replacing {
				if nc.Name == one {
					w.cluster.NodePoolState.MarkNodeClaimPendingDisruption(nc.Labels[karpv1.NodePoolLabelKey], nc.Name)
				}
			}
		}
		np := &karpv1.NodePool{}
		return w, np, w.c.Get(w.ctx, client.ObjectKey{Name: name}, np)
	}
	out := J{}
	for _, asked := range in.NodePools {
		w, np, err := fresh(asked.Name)
		if err != nil {
			return nil, err
		}
		before := w.claims()
		made, err := resultJSON(staticProvisioning(w).Reconcile(w.ctx, np))
		if err != nil {
			return nil, err
		}
		created := []J{}
		for name, nc := range w.claims() {
			if _, ok := before[name]; !ok {
				created = append(created, claimJSON(nc))
			}
		}
		sort.Slice(created, func(i, j int) bool { return mustJSON(created[i]) < mustJSON(created[j]) })
		made["created"] = created
		if w, np, err = fresh(asked.Name); err != nil {
			return nil, err
		}
		gone, err := resultJSON(staticDeprovisioning(w).Reconcile(w.ctx, np))
		if err != nil {
			return nil, err
		}
		after, deleted := w.claims(), []string{}
		for name, nc := range before {
			now, ok := after[name]
			if nc.DeletionTimestamp == nil && (!ok || now.DeletionTimestamp != nil) {
				deleted = append(deleted, name)
			}
		}
		sort.Strings(deleted)
		gone["deleted"] = deleted
		out[asked.Name] = J{"provisioning": made, "deprovisioning": gone}
	}
	return out, nil
}

// claims are the NodeClaims in the API server, by name.
func (w *world) claims() map[string]*karpv1.NodeClaim {
	list := &karpv1.NodeClaimList{}
	must(w.c.List(w.ctx, list))
	out := map[string]*karpv1.NodeClaim{}
	for i := range list.Items {
		out[list.Items[i].Name] = &list.Items[i]
	}
	return out
}
