// Writes anew what the API server's libraries make of each patch in go_patches.jsonl: lines of kind, object, patch and answer.
//
//	go run go_patches.go < go_patches.jsonl > new.jsonl
//
// in a module that requires k8s.io/api and k8s.io/apimachinery v0.36.3 and gopkg.in/evanphx/json-patch.v4 v4.13.0.
//
//go:build ignore

package main

import (
	"bufio"
	"encoding/json"
	"os"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

var kinds = map[string]any{
	"Deployment":          appsv1.Deployment{},
	"Node":                corev1.Node{},
	"Pod":                 corev1.Pod{},
	"PodDisruptionBudget": policyv1.PodDisruptionBudget{},
	"Service":             corev1.Service{},
}

func strategic(kind string, object, patch []byte) (any, error) {
	schema, err := strategicpatch.NewPatchMetaFromStruct(kinds[kind])
	if err != nil {
		return nil, err
	}
	var before, change map[string]any
	if err := json.Unmarshal(object, &before); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(patch, &change); err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(before, change, schema)
}

func operations(object, patch []byte) (any, error) {
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	made, err := decoded.Apply(object)
	return json.RawMessage(made), err
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var line []json.RawMessage
		var kind string
		if json.Unmarshal(lines.Bytes(), &line) != nil || json.Unmarshal(line[0], &kind) != nil {
			panic(lines.Text())
		}
		var answer any
		var err error
		if kind == "" {
			answer, err = operations(line[1], line[2])
		} else {
			answer, err = strategic(kind, line[1], line[2])
		}
		if err != nil {
			answer = err.Error()
		}
		if err := out.Encode([]any{line[0], line[1], line[2], answer}); err != nil {
			panic(err)
		}
	}
}
