package main

import (
	"encoding/json"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// Instance types as JSON, and named lists of them.

type itJSON struct {
	Name         string                         `json:"name"`
	Requirements []reqJSON                      `json:"requirements"`
	Capacity     corev1.ResourceList            `json:"capacity"`
	Overhead     map[string]corev1.ResourceList `json:"overhead"` // kubeReserved, systemReserved, evictionThreshold
	Allocatable  corev1.ResourceList            `json:"allocatable,omitempty"`
	Offerings    []offeringJSON                 `json:"offerings"`
	AttachLimits map[string]int                 `json:"attach_limits,omitempty"` // volumes by CSI driver
}
type offeringJSON struct {
	Requirements []reqJSON `json:"requirements"`
	Price        float64   `json:"price"`
	Available    bool      `json:"available"`
	Reservations int       `json:"reservation_capacity,omitempty"` // machines left in the capacity reservation of a reserved offering
}

func (j itJSON) build() *cloudprovider.InstanceType {
	it := &cloudprovider.InstanceType{Name: j.Name, VolumeAttachmentLimits: j.AttachLimits, Requirements: reqs(j.Requirements), Capacity: j.Capacity,
		Overhead: &cloudprovider.InstanceTypeOverhead{KubeReserved: j.Overhead["kubeReserved"], SystemReserved: j.Overhead["systemReserved"], EvictionThreshold: j.Overhead["evictionThreshold"]}}
	for _, o := range j.Offerings {
		it.Offerings = append(it.Offerings, &cloudprovider.Offering{Requirements: reqs(o.Requirements), Price: o.Price, Available: o.Available, ReservationCapacity: o.Reservations})
	}
	return it
}

func sortedReqs(rs scheduling.Requirements) []reqJSON {
	out := rs.NodeSelectorRequirements()
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Key != out[j].Key {
			return out[i].Key < out[j].Key
		}
		return out[i].Operator < out[j].Operator
	})
	return out
}

func itToJSON(it *cloudprovider.InstanceType) itJSON {
	j := itJSON{Name: it.Name, Requirements: sortedReqs(it.Requirements), Capacity: it.Capacity, Allocatable: it.Allocatable(),
		Overhead: map[string]corev1.ResourceList{"kubeReserved": it.Overhead.KubeReserved, "systemReserved": it.Overhead.SystemReserved, "evictionThreshold": it.Overhead.EvictionThreshold}}
	for _, o := range it.Offerings {
		j.Offerings = append(j.Offerings, offeringJSON{Requirements: sortedReqs(o.Requirements), Price: o.Price, Available: o.Available})
	}
	key := func(o offeringJSON) string {
		b, _ := json.Marshal(o.Requirements)
		return string(b)
	}
	sort.Slice(j.Offerings, func(a, b int) bool { return key(j.Offerings[a]) < key(j.Offerings[b]) })
	return j
}

var catalogs = map[string][]itJSON{}

// opCatalog registers a named list of instance types for later `schedule` requests ("catalog": name).
func opCatalog(raw json.RawMessage) (any, error) {
	var in struct {
		Name          string
		InstanceTypes []itJSON        `json:"instance_types"`
		From          json.RawMessage `json:"from"` // body of an instance_types request
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	if in.From != nil {
		its, err := azureInstanceTypes(in.From)
		if err != nil {
			return nil, err
		}
		for _, it := range its {
			in.InstanceTypes = append(in.InstanceTypes, itToJSON(it))
		}
	}
	catalogs[in.Name] = in.InstanceTypes
	return len(in.InstanceTypes), nil
}
