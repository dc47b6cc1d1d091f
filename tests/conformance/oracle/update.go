package main

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// opUpdate: {"old": {...}, "object": {...}, "subresource": ""|"status"} replaces a stored object, which may be one that an older definition let
// pass. What a write takes over from the stored object whoever sends it (BeforeUpdate of apiserver/pkg/registry/rest/update.go) is the same in both.
func opUpdate(raw json.RawMessage) (any, error) {
	var in struct {
		Old         json.RawMessage
		Object      json.RawMessage
		Subresource string
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	old, u := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	for _, one := range []struct {
		from json.RawMessage
		into *unstructured.Unstructured
	}{{in.Old, old}, {in.Object, u}} {
		if err := jsonInt(one.from, &one.into.Object); err != nil {
			return nil, err
		}
		one.into.SetManagedFields(nil)
		one.into.SetUID(types.UID("uid"))
		one.into.SetResourceVersion("1")
		one.into.SetGeneration(1)
	}
	u.SetAPIVersion(old.GetAPIVersion()) // the path of the request names both, and the object
	u.SetKind(old.GetKind())
	u.SetName(old.GetName())
	c, err := crdOf(old)
	if err != nil {
		return nil, err
	}
	strategy, ok := c.updates[in.Subresource]
	if !ok {
		return nil, fmt.Errorf("%s has no subresource %s", c.gk.Kind, in.Subresource)
	}
	c.decoded(old)
	c.decoded(u)
	ctx := context.Background()
	strategy.PrepareForUpdate(ctx, u, old)
	refused := c.refusal(u.GetName(), strategy.ValidateUpdate(ctx, u, old))
	unstructured.RemoveNestedField(u.Object, "metadata", "generation")
	return J{"crd": refused, "stored": u.Object}, nil
}
