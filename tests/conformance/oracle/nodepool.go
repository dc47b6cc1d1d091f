package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"sort"
	"strings"
	"sync"

	"github.com/samber/lo"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	crvalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/yaml"
)

// crd is one version of a definition, with what the API server itself does with writes to it.
type crd struct {
	gk         schema.GroupKind
	structural *structuralschema.Structural
	create     createStrategy
	updates    map[string]updateStrategy // by subresource, empty for the object itself
}

type createStrategy interface {
	Validate(context.Context, runtime.Object) field.ErrorList
}

type updateStrategy interface {
	PrepareForUpdate(context.Context, runtime.Object, runtime.Object)
	ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList
}

var crdOnce = sync.OnceValue(loadCRDs)

// the release's pkg/apis/crds, copied next to this file by the build
//
//go:embed crds/*.yaml
var crdFiles embed.FS

// crdDir is the embedded directory, or the one that ORACLE_CRDS names.
func crdDir() fs.FS {
	if d := os.Getenv("ORACLE_CRDS"); d != "" {
		return os.DirFS(d)
	}
	return lo.Must(fs.Sub(crdFiles, "crds"))
}

func loadCRDs() map[string]*crd {
	out := map[string]*crd{}
	dir := crdDir()
	for _, f := range lo.Must(fs.Glob(dir, "*.yaml")) {
		raw, err := fs.ReadFile(dir, f)
		must(err)
		var ext apiextv1.CustomResourceDefinition
		must(yaml.UnmarshalStrict(raw, &ext))
		var in apiextensions.CustomResourceDefinition
		apiextv1.SetDefaults_CustomResourceDefinition(&ext)
		must(apiextv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&ext, &in, nil))
		for _, v := range in.Spec.Versions {
			s := v.Schema
			if s == nil {
				s = in.Spec.Validation
			}
			sub := v.Subresources
			if sub == nil {
				sub = in.Spec.Subresources
			}
			st, err := structuralschema.NewStructural(s.OpenAPIV3Schema)
			must(err)
			sv, _, err := crvalidation.NewSchemaValidator(s.OpenAPIV3Schema)
			must(err)
			kind := schema.GroupVersionKind{Group: in.Spec.Group, Version: v.Name, Kind: in.Spec.Names.Kind}
			subresources := lo.FromPtrOr(sub, apiextensions.CustomResourceSubresources{})
			var statusSchema crvalidation.SchemaValidator
			if below, ok := s.OpenAPIV3Schema.Properties["status"]; ok && subresources.Status != nil {
				statusSchema, _, err = crvalidation.NewSchemaValidator(&below)
				must(err)
			}
			strategy := customresource.NewStrategy(nil, in.Spec.Scope == apiextensions.NamespaceScoped, kind, sv, statusSchema, st, subresources.Status, subresources.Scale, nil)
			one := &crd{gk: kind.GroupKind(), structural: st, create: strategy, updates: map[string]updateStrategy{"": strategy}}
			if subresources.Status != nil {
				one.updates["status"] = customresource.NewStatusStrategy(strategy)
			}
			out[in.Spec.Group+"/"+v.Name+"/"+in.Spec.Names.Kind] = one
		}
	}
	return out
}

// onCreate takes away what the API server does not take from whoever creates an object: the status (PrepareForCreate of
// apiextensions-apiserver/pkg/registry/customresource/strategy.go), and the fields' managers, of which it keeps its own list.
func onCreate(u *unstructured.Unstructured, c *crd) {
	if c.updates["status"] != nil {
		delete(u.Object, "status")
	}
	u.SetManagedFields(nil)
}

func crdOf(u *unstructured.Unstructured) (*crd, error) {
	c, ok := crdOnce()[u.GetAPIVersion()+"/"+u.GetKind()]
	if !ok {
		return nil, fmt.Errorf("no CRD for %s %s", u.GetAPIVersion(), u.GetKind())
	}
	return c, nil
}

// decoded does what the API server does to an object that it reads, from a request or from its storage: prune and default.
func (c *crd) decoded(u *unstructured.Unstructured) {
	pruning.Prune(u.Object, c.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, c.structural)
	defaulting.Default(u.Object, c.structural)
}

// refusal is what an API server answers: its errors, and the text for all of them.
func (c *crd) refusal(name string, errs field.ErrorList) J {
	list := []J{}
	for _, e := range inOrder(errs) {
		list = append(list, J{"type": e.Type, "field": e.Field, "detail": e.Detail, "text": e.Error()})
	}
	text := ""
	if len(errs) > 0 {
		text = errors.NewInvalid(c.gk, name, errs).Error()
	}
	return J{"errors": list, "message": text}
}

// crdValidate does what the API server does on create of a custom resource, and defaults the object.
func crdValidate(obj map[string]any) (J, error) {
	u := &unstructured.Unstructured{Object: obj}
	c, err := crdOf(u)
	if err != nil {
		return nil, err
	}
	onCreate(u, c)
	c.decoded(u)
	return c.refusal(u.GetName(), c.create.Validate(context.Background(), u)), nil
}

// inOrder sorts what a validation reports: it visits properties in Go map order.
func inOrder(errs field.ErrorList) field.ErrorList {
	sort.SliceStable(errs, func(i, j int) bool { return errs[i].Error() < errs[j].Error() })
	return errs
}

var bracketed = regexp.MustCompile(`not in \[[^\]]*\]`)

// orderFree is the same for texts that differ only in the order of their parts.
func orderFree(text string) string {
	text = bracketed.ReplaceAllStringFunc(text, func(s string) string {
		words := strings.Fields(s[len("not in [") : len(s)-1])
		sort.Strings(words)
		return "not in [" + strings.Join(words, " ") + "]"
	})
	parts := strings.Split(text, "; ")
	sort.Strings(parts)
	return strings.Join(parts, "; ")
}

// unordered runs f 1+n times and reports the smallest text; variants are the texts that differ from it by more than the order of their parts.
func unordered(n int, f func() error) J {
	first := f()
	if first == nil {
		return J{"error": nil}
	}
	set := map[string]bool{first.Error(): true}
	for range n {
		set[f().Error()] = true
	}
	texts := scheduling.DetKeys(set)
	out := J{"error": texts[0]}
	if others := lo.Filter(texts, func(t string, _ int) bool { return orderFree(t) != orderFree(texts[0]) }); len(others) > 0 {
		out["variants"] = others
	}
	return out
}

// opValidateNodePool: {"object": {...}|"yaml": "..."} for any kind of the CRDs that the provider ships; NodePools also get RuntimeValidate.
// {"labels": [...]} alone answers the label predicates.
func opValidateNodePool(raw json.RawMessage) (any, error) {
	var in struct {
		Object   json.RawMessage
		YAML     string
		Labels   []string
		Variants *int
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	n := lo.FromPtrOr(in.Variants, defaultVariants)
	out := J{}
	preds := J{}
	for _, l := range in.Labels {
		preds[l] = lo.Assign(J{"restricted": errText(karpv1.IsRestrictedLabel(l)), "well_known": karpv1.WellKnownLabels.Has(l)}, labelPredicates(l))
	}
	if len(in.Labels) > 0 {
		out["labels"] = preds
	}
	if in.YAML != "" {
		b, err := yaml.YAMLToJSON([]byte(in.YAML))
		if err != nil {
			return nil, err
		}
		in.Object = b
	}
	if len(in.Object) == 0 || string(in.Object) == "null" {
		return out, nil
	}
	normalized := map[string]any{} // int64 instead of float64, as the API server decodes
	if err := jsonInt(in.Object, &normalized); err != nil {
		return nil, err
	}
	b, err := stored(normalized)
	if err != nil {
		return nil, err
	}
	out["crd"], err = crdValidate(normalized)
	if err != nil {
		return nil, err
	}
	out["defaulted"] = normalized
	if normalized["kind"] == "NodePool" {
		np := &karpv1.NodePool{}
		if err := json.Unmarshal(b, np); err != nil {
			out["runtime_decode_error"] = err.Error()
		} else {
			out["runtime"] = unordered(n, func() error { return runtimeValidate(np) })
			reqs := []J{}
			for _, r := range np.Spec.Template.Spec.Requirements {
				reqs = append(reqs, J{"key": r.Key, "result": unordered(n, func() error { return validateRequirement(r) })})
			}
			out["requirements"] = reqs
			out["hash"] = np.Hash()
		}
	}
	return out, nil
}

// stored is what the API server would hand to Karpenter, were nothing defaulted or refused: without unknown fields, numbers as it writes
// them, and sorted keys, which decide what Go's decoder complains about first.
func stored(obj map[string]any) ([]byte, error) {
	u := (&unstructured.Unstructured{Object: obj}).DeepCopy()
	if c, ok := crdOnce()[u.GetAPIVersion()+"/"+u.GetKind()]; ok {
		onCreate(u, c)
		pruning.Prune(u.Object, c.structural, true)
	}
	return json.Marshal(u.Object)
}

func jsonInt(b []byte, into *map[string]any) error {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		return err
	}
	*into = u.Object
	return nil
}
