// Answers what kube-scheduler says of the questions of kube_scheduler_cases.py: a line of JSON in, a line of JSON out.
//
// The answer has for each node that the filters of the default profile refuse their reasons, for the others the weighted score of each
// plugin. k8s.io/kubernetes is no module for others, so its parts have to be named in a go.mod of its own (of a temporary folder):
//
//	module answers
//	require k8s.io/kubernetes v1.36.3
//	replace (
//		k8s.io/api => k8s.io/api v0.36.3
//		...  // and each other line of `grep staging` in Kubernetes' own go.mod
//	)
//
//	python -m tests.scheduling.kube_scheduler_cases 400 7 > questions
//	go run -mod=mod kube_scheduler.go < questions > answers
//	python -m tests.scheduling.kube_scheduler_cases --record questions answers 1.36.3
//
//go:build ignore

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

type question struct {
	Nodes       []*v1.Node
	Pods        []*v1.Pod
	Namespaces  []*v1.Namespace
	Services    []*v1.Service
	ReplicaSets []*apps.ReplicaSet
	Claims      []*v1.PersistentVolumeClaim
	Volumes     []*v1.PersistentVolume
	Pod         *v1.Pod
}

type answer struct {
	Refused map[string][]string         `json:"refused"`
	Scores  map[string]map[string]int64 `json:"scores"`
}

// silent are plugins that have nothing to say about what the cases hold, and want more of a cluster than there is here.
var silent = map[string]bool{
	"NodeVolumeLimits": true, "DynamicResources": true, "NodeDeclaredFeatures": true, "GangScheduling": true,
	"TopologyPlacementGenerator": true, "PodGroupPodsCount": true,
}

func decide(asked question) answer {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var objects []runtime.Object
	for _, each := range asked.Namespaces {
		objects = append(objects, each)
	}
	for _, each := range asked.Services {
		objects = append(objects, each)
	}
	for _, each := range asked.ReplicaSets {
		objects = append(objects, each)
	}
	for _, each := range asked.Claims {
		objects = append(objects, each)
	}
	for _, each := range asked.Volumes {
		objects = append(objects, each)
	}
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	defaults, err := latest.Default()
	must(err)
	profile := defaults.Profiles[0]
	kept := profile.Plugins.MultiPoint.Enabled[:0]
	for _, each := range profile.Plugins.MultiPoint.Enabled {
		if !silent[each.Name] {
			kept = append(kept, each)
		}
	}
	profile.Plugins.MultiPoint.Enabled = kept
	scheduler, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &profile,
		frameworkruntime.WithClientSet(client), frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(cache.NewSnapshot(asked.Pods, asked.Nodes)))
	must(err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	state := framework.NewCycleState()
	found := answer{Refused: map[string][]string{}, Scores: map[string]map[string]int64{}}
	result, status, deciding := scheduler.RunPreFilterPlugins(ctx, state, asked.Pod)
	all, err := scheduler.SnapshotSharedLister().NodeInfos().List()
	must(err)
	var fitting []fwk.NodeInfo
	for _, node := range all {
		name := node.Node().Name
		if !status.IsSuccess() {
			found.Refused[name] = status.Reasons()
			continue
		}
		if !result.AllNodes() && !result.NodeNames.Has(name) {
			found.Refused[name] = []string{fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(deciding)), "helpless"}
			continue
		}
		if refused := scheduler.RunFilterPlugins(ctx, state, asked.Pod, node); !refused.IsSuccess() {
			reasons := refused.Reasons()
			if refused.Code() == fwk.UnschedulableAndUnresolvable {
				reasons = append(reasons, "helpless")
			}
			found.Refused[name] = reasons
			continue
		}
		fitting = append(fitting, node)
	}
	if len(fitting) == 0 {
		return found
	}
	if status := scheduler.RunPreScorePlugins(ctx, state, asked.Pod, fitting); !status.IsSuccess() {
		panic(status.Message())
	}
	scores, status := scheduler.RunScorePlugins(ctx, state, asked.Pod, fitting)
	if !status.IsSuccess() {
		panic(status.Message())
	}
	for _, node := range scores {
		found.Scores[node.Name] = map[string]int64{}
		for _, each := range node.Scores {
			found.Scores[node.Name][each.Name] = each.Score
		}
	}
	return found
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	metrics.Register()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		must(json.Unmarshal(lines.Bytes(), &asked))
		must(out.Encode(decide(asked)))
	}
}
