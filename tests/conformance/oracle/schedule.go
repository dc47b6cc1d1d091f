package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	clocktest "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakecr "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	ps "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	coreoptions "sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/Azure/karpenter-provider-azure/pkg/apis/v1beta1"
)

// listOnly is a cloud provider that only lists instance types.
type listOnly struct {
	cloudprovider.CloudProvider
	byPool map[string][]*cloudprovider.InstanceType
	all    []*cloudprovider.InstanceType
}

func (l *listOnly) GetInstanceTypes(_ context.Context, np *karpv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if its, ok := l.byPool[np.Name]; ok {
		return its, nil
	}
	return l.all, nil
}
func (l *listOnly) Name() string { return "azure" }
func (l *listOnly) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&v1beta1.AKSNodeClass{}}
}
func (l *listOnly) RepairPolicies() []cloudprovider.RepairPolicy { return nil }

type eventLog struct{ list []J }

func (e *eventLog) Publish(evts ...events.Event) {
	for _, v := range evts {
		o, _ := v.InvolvedObject.(client.Object)
		e.list = append(e.list, J{"reason": v.Reason, "type": v.Type, "message": v.Message, "object": strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")})
	}
}

type schedOptions struct {
	PreferencePolicy string `json:"preferencePolicy"`
	MinValuesPolicy  string `json:"minValuesPolicy"`
	CPURequests      int64  `json:"cpuRequests"`
	StableInflight   bool   `json:"stableInflightSort"` // stable sort of in-flight NodeClaims (see patches/determinism.patch)
	Variants         int    `json:"variants"`           // also run n times in Go map order and once with the stable sort
	Now              string `json:"now"`
	ReservationLabel string `json:"reservationLabel"` // switches the gate ReservedCapacity on; the label of offerings that names their reservation
}

type schedIn struct {
	Catalog                string                          `json:"catalog"`
	CatalogByNodePool      map[string]string               `json:"catalog_by_nodepool"`
	InstanceTypes          []itJSON                        `json:"instance_types"`
	NodePools              []*karpv1.NodePool              `json:"nodepools"`
	Pods                   []*corev1.Pod                   `json:"pods"` // pending (nodeName empty) and bound ones
	Nodes                  []*corev1.Node                  `json:"nodes"`
	NodeClaims             []*karpv1.NodeClaim             `json:"nodeclaims"`
	DaemonSets             []*appsv1.DaemonSet             `json:"daemonsets"`
	Namespaces             []*corev1.Namespace             `json:"namespaces"`
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim `json:"pvcs"`
	PersistentVolumes      []*corev1.PersistentVolume      `json:"pvs"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageclasses"`
	CSINodes               []*storagev1.CSINode            `json:"csinodes"`
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget `json:"pdbs"`
	Deleting               []string                        `json:"deleting"` // Nodes and NodeClaims that Karpenter has marked for deletion
	Options                schedOptions                    `json:"options"`
}

func opSchedule(raw json.RawMessage) (any, error) {
	var probe schedIn
	if err := json.Unmarshal(raw, &probe); err != nil {
		return nil, err
	}
	run := func(det, stable bool) (J, error) {
		var in schedIn // a fresh copy each time: the scheduler mutates pods
		must(json.Unmarshal(raw, &in))
		scheduling.Deterministic, ps.StableInflightSort = det, stable
		defer func() { scheduling.Deterministic, ps.StableInflightSort = true, false }()
		return schedule(&in)
	}
	ans, err := run(true, probe.Options.StableInflight)
	if err != nil || probe.Options.Variants == 0 {
		return ans, err
	}
	seen := map[string]bool{mustJSON(ans): true}
	var alts []J
	for i := 0; i <= probe.Options.Variants; i++ {
		det, stable, name := false, false, "go_map_order"
		if i == probe.Options.Variants {
			det, stable, name = true, true, "stable_inflight_sort"
		}
		alt, err := run(det, stable)
		if err != nil {
			return nil, err
		}
		if s := mustJSON(alt); !seen[s] {
			seen[s] = true
			alts = append(alts, J{"mode": name, "answer": alt})
		}
	}
	ans["variants"] = alts
	return ans, nil
}

func mustJSON(v any) string { b, err := json.Marshal(v); must(err); return string(b) }

func defaultNodePool(np *karpv1.NodePool) {
	if np.Spec.Template.Spec.NodeClassRef == nil {
		np.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.azure.com", Kind: "AKSNodeClass", Name: "default"}
	}
	if len(np.Status.Conditions) == 0 {
		np.StatusConditions().SetTrue(karpv1.ConditionTypeValidationSucceeded)
		np.StatusConditions().SetTrue(karpv1.ConditionTypeNodeClassReady)
	}
}

func newClient(objs []client.Object) client.Client {
	b := fakecr.NewClientBuilder().WithScheme(scheme.Scheme).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithIndex(&corev1.Node{}, "spec.providerID", func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }).
		WithIndex(&karpv1.NodeClaim{}, "status.providerID", func(o client.Object) []string { return []string{o.(*karpv1.NodeClaim).Status.ProviderID} })
	return b.WithObjects(objs...).WithInterceptorFuncs(interceptor.Funcs{Get: getInScope}).Build()
}

// getInScope ignores the namespace in the key of what has none, as the cache that Karpenter reads from does; the fake client finds nothing there.
func getInScope(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	switch obj.(type) {
	case *corev1.PersistentVolume, *storagev1.StorageClass, *storagev1.CSINode, *corev1.Node, *corev1.Namespace, *karpv1.NodePool, *karpv1.NodeClaim:
		key.Namespace = ""
	}
	return c.Get(ctx, key, obj, opts...)
}

func coreCtx(o schedOptions) context.Context {
	opts := coreOptions(o)
	opts.FeatureGates.ReservedCapacity = o.ReservationLabel != ""
	return coreoptions.ToContext(injection.WithControllerName(context.Background(), "provisioner"), opts)
}

func schedule(in *schedIn) (J, error) {
	ctx := coreCtx(in.Options)
	ps.ResetNodeID()
	if label := in.Options.ReservationLabel; label != "" {
		// What a provider with reserved capacity does at start-up; Azure's does not.
		cloudprovider.ReservationIDLabel = label
		karpv1.WellKnownLabels.Insert(label)
		defer karpv1.WellKnownLabels.Delete(label)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if in.Options.Now != "" {
		t, err := time.Parse(time.RFC3339, in.Options.Now)
		if err != nil {
			return nil, err
		}
		now = t
	}
	cp := &listOnly{byPool: map[string][]*cloudprovider.InstanceType{}}
	build := func(js []itJSON) (out []*cloudprovider.InstanceType) {
		for _, j := range js {
			out = append(out, j.build())
		}
		return
	}
	cp.all = build(append(append([]itJSON{}, catalogs[in.Catalog]...), in.InstanceTypes...))
	for np, c := range in.CatalogByNodePool {
		cp.byPool[np] = build(catalogs[c])
	}
	var objs []client.Object
	var pending []*corev1.Pod
	for _, np := range in.NodePools {
		defaultNodePool(np)
		objs = append(objs, np)
	}
	for _, p := range in.Pods {
		if p.Namespace == "" {
			p.Namespace = "default"
		}
		if p.UID == "" {
			p.UID = types.UID(p.Namespace + "/" + p.Name)
		}
		if p.Spec.NodeName == "" && len(p.Status.Conditions) == 0 {
			p.Status.Phase = corev1.PodPending
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		}
		if p.Spec.NodeName == "" {
			pending = append(pending, p)
		}
		objs = append(objs, p)
	}
	add(&objs, in.Nodes)
	add(&objs, in.NodeClaims)
	for _, d := range in.DaemonSets {
		if d.Namespace == "" {
			d.Namespace = "kube-system"
		}
	}
	for _, c := range in.PersistentVolumeClaims {
		if c.Namespace == "" {
			c.Namespace = "default"
		}
	}
	for _, b := range in.PodDisruptionBudgets {
		if b.Namespace == "" {
			b.Namespace = "default"
		}
	}
	add(&objs, in.DaemonSets)
	add(&objs, in.Namespaces)
	add(&objs, in.PersistentVolumeClaims)
	add(&objs, in.PersistentVolumes)
	add(&objs, in.StorageClasses)
	add(&objs, in.CSINodes)
	add(&objs, in.PodDisruptionBudgets)
	c := newClient(objs)
	clk := clocktest.NewFakeClock(now)
	cluster := state.NewCluster(clk, c, cp)
	for _, nc := range in.NodeClaims {
		cluster.UpdateNodeClaim(nc.DeepCopy())
	}
	for _, n := range in.Nodes {
		must(cluster.UpdateNode(ctx, n.DeepCopy()))
	}
	for _, p := range in.Pods {
		// Karpenter tries again later when it does not know the pod's node (yet).
		must(client.IgnoreNotFound(cluster.UpdatePod(ctx, p.DeepCopy())))
	}
	for _, d := range in.DaemonSets {
		must(cluster.UpdateDaemonSet(ctx, d.DeepCopy()))
	}
	cluster.MarkForDeletion(providerIDs(in)...)
	rec := &eventLog{}
	prov := newProvisioner(c, rec, cp, cluster, clk)
	ignored := J{}
	for _, p := range pending {
		if err := prov.Validate(ctx, p); err != nil {
			ignored[p.Namespace+"/"+p.Name] = err.Error()
		}
	}
	results, err := prov.Schedule(ctx)
	if err != nil {
		return J{"error": err.Error(), "ignored": ignored}, nil
	}
	out := resultsJSON(results)
	out["ignored"] = ignored
	var evs []J
	for _, e := range rec.list {
		if e["reason"] != "FailedScheduling" && e["reason"] != "Nominated" { // those repeat errors / placements
			evs = append(evs, e)
		}
	}
	evs = lo.UniqBy(evs, func(e J) string { return mustJSON(e) }) // Karpenter's own recorder drops repetitions
	sort.Slice(evs, func(i, j int) bool { return mustJSON(evs[i]) < mustJSON(evs[j]) })
	out["events"] = evs
	return out, nil
}

// providerIDs are those of the Nodes and NodeClaims that are marked for deletion.
func providerIDs(in *schedIn) (out []string) {
	marked := map[string]bool{}
	for _, name := range in.Deleting {
		marked[name] = true
	}
	for _, n := range in.Nodes {
		if marked[n.Name] {
			out = append(out, lo.CoalesceOrEmpty(n.Spec.ProviderID, n.Name))
		}
	}
	for _, n := range in.NodeClaims {
		if marked[n.Name] {
			out = append(out, n.Status.ProviderID)
		}
	}
	return
}

func add[T client.Object](objs *[]client.Object, list []T) {
	for _, o := range list {
		*objs = append(*objs, o)
	}
}

func podNames(pods []*corev1.Pod) []string {
	out := make([]string, len(pods))
	for i, p := range pods {
		out[i] = p.Namespace + "/" + p.Name
	}
	return out
}

func resultsJSON(results ps.Results) J {
	ncs := []J{}
	for _, n := range results.NewNodeClaims {
		type priced struct {
			name  string
			price float64
		}
		var its []priced
		for _, it := range n.InstanceTypeOptions {
			p := math.MaxFloat64
			for _, of := range it.Offerings {
				if of.Available && n.Requirements.IsCompatible(of.Requirements, scheduling.AllowUndefinedWellKnownLabels) && of.Price < p {
					p = of.Price
				}
			}
			its = append(its, priced{it.Name, p})
		}
		sort.Slice(its, func(i, j int) bool {
			if its[i].price != its[j].price {
				return its[i].price < its[j].price
			}
			return its[i].name < its[j].name
		})
		names := []string{}
		for _, it := range its {
			names = append(names, it.name)
		}
		d := J{"nodepool": n.NodePoolName, "pods": podNames(n.Pods), "requirements": sortedReqs(n.Requirements), "requirements_string": n.Requirements.String(),
			"requests": n.Spec.Resources.Requests, "instance_types": names}
		if len(its) > 0 {
			d["cheapest_price"] = its[0].price
		}
		nc := n.ToNodeClaim()
		reqs := nc.Spec.Requirements
		sort.SliceStable(reqs, func(i, j int) bool {
			return fmt.Sprint(reqs[i].Key, reqs[i].Operator) < fmt.Sprint(reqs[j].Key, reqs[j].Operator)
		})
		for i := range reqs {
			sort.Strings(reqs[i].Values)
		}
		nc.Spec.Requirements = nil
		d["nodeclaim"] = J{"metadata": J{"generateName": nc.GenerateName, "labels": nc.Labels, "annotations": nc.Annotations}, "spec": nc.Spec, "requirements": reqs}
		ncs = append(ncs, d)
	}
	existing := J{}
	for _, e := range results.ExistingNodes {
		if len(e.Pods) > 0 {
			existing[e.Name()] = podNames(e.Pods)
		}
	}
	errs := J{}
	for p, err := range results.PodErrors {
		errs[p.Namespace+"/"+p.Name] = err.Error()
	}
	return J{"nodeclaims": ncs, "existing": existing, "errors": errs}
}
