package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"github.com/samber/lo"
	"sigs.k8s.io/yaml"

	"github.com/Azure/karpenter-provider-azure/pkg/fake"
)

type locationData struct {
	SKUs       any                `json:"skus"`
	Prices     map[string]float64 `json:"prices"`
	SpotPrices map[string]float64 `json:"spot_prices"`
}

// printData writes to stdout, as JSON, what the answers of `instance_types` and `labels` take from the release itself: the SKU lists of
// the provider's fake, and the prices that the provider has for their locations before any price update.
func printData() {
	locations := map[string]locationData{}
	for name, skus := range fake.ResourceSkus {
		p := staticPrices(name)
		l := locationData{SKUs: plain(reflect.ValueOf(skus)), Prices: map[string]float64{}, SpotPrices: map[string]float64{}}
		names := p.InstanceTypes() // all that have a price
		for _, s := range skus {
			names = append(names, *s.Name)
		}
		for _, n := range names {
			l.Prices[n], _ = p.OnDemandPrice(n)
			l.SpotPrices[n], _ = p.SpotPrice(n)
		}
		locations[name] = l
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	lo.Must0(enc.Encode(J{"release": release, "locations": locations}))
}

// printCRDs writes the CRDs to stdout as one JSON list.
func printCRDs() {
	list := []any{}
	for _, f := range lo.Must(fs.Glob(crdDir(), "*.yaml")) {
		var crd any
		must(yaml.Unmarshal(lo.Must(fs.ReadFile(crdDir(), f)), &crd))
		list = append(list, crd)
	}
	fmt.Println(mustJSON(list))
}

// plain is v without the SDK's MarshalJSON methods, which leave all read-only properties out; field names are those of the JSON tags.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		return plain(v.Elem())
	case reflect.Struct:
		out := J{}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if f := v.Field(i); name != "" && name != "-" && !f.IsZero() {
				out[name] = plain(f)
			}
		}
		return out
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plain(v.Index(i))
		}
		return out
	default:
		return v.Interface()
	}
}
