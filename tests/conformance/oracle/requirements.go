package main

import (
	"encoding/json"
	"sort"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

type reqJSON = karpv1.NodeSelectorRequirementWithMinValues

func reqs(in []reqJSON) scheduling.Requirements {
	return scheduling.NewNodeSelectorRequirementsWithMinValues(in...)
}

// describe gives every observable of a Requirements value, per key.
func describe(rs scheduling.Requirements, probe []string) J {
	keys := J{}
	for k, r := range rs {
		has := J{}
		for _, p := range probe {
			has[p] = r.Has(p)
		}
		d := J{"string": r.String(), "operator": r.Operator(), "len": r.Len(), "values": sorted(r.Values()), "has": has,
			"node_selector": scheduling.Requirements{k: r}.NodeSelectorRequirements()}
		if r.Operator() == corev1.NodeSelectorOpIn || r.Operator() == corev1.NodeSelectorOpDoesNotExist {
			d["any"] = r.Any() // In: smallest value (Go picks at random); complements are random integers, not reported
		}
		keys[k] = d
	}
	return lo.Assign(J{"string": rs.String(), "keys": keys, "has_min_values": rs.HasMinValues()}, requirementsExtras(rs))
}

func sorted(s []string) []string { s = append([]string{}, s...); sort.Strings(s); return s }

func errText(err error) any {
	if err == nil {
		return nil
	}
	return err.Error()
}

// defaultVariants is how often a text that depends on Go's map order is asked for again, unless the request says otherwise.
const defaultVariants = 64

// variants runs f in sorted order first, then n times in Go map order, and reports the sorted-order text plus all distinct texts.
func variants(n int, f func() error) J {
	first := errText(f())
	if first == nil {
		return J{"error": nil}
	}
	set := map[string]bool{first.(string): true}
	scheduling.Deterministic = false
	for i := 0; i < n; i++ {
		set[f().Error()] = true
	}
	scheduling.Deterministic = true
	return J{"error": first, "variants": scheduling.DetKeys(set)}
}

func opRequirements(raw json.RawMessage) (any, error) {
	var in struct {
		A, B     []reqJSON
		Probe    []string
		Variants *int
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	n := lo.FromPtrOr(in.Variants, defaultVariants)
	a, b := reqs(in.A), reqs(in.B)
	merged := reqs(append(append([]reqJSON{}, in.A...), in.B...))
	overlap := J{}
	for k := range a {
		if b.Has(k) {
			overlap[k] = a.Get(k).HasIntersection(b.Get(k))
		}
	}
	return J{
		"a": describe(a, in.Probe), "b": describe(b, in.Probe), "intersection": describe(merged, in.Probe),
		"has_intersection":      overlap,
		"compatible":            variants(n, func() error { return a.Compatible(b) }),
		"compatible_well_known": variants(n, func() error { return a.Compatible(b, scheduling.AllowUndefinedWellKnownLabels) }),
		"intersects":            variants(n, func() error { return a.Intersects(b) }),
	}, nil
}
