package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	fakecr "sigs.k8s.io/controller-runtime/pkg/client/fake"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	ps "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// solve runs
//
//	oracle solve INSTANCE_TYPES.json NODEPOOL.json PODS.json WORKERS DETERMINISTIC(0|1) [RESULT.json|- [ignore-preferences]]
//
// and times one NewTopology+NewScheduler+Solve, wired as core's scheduling benchmark is (no existing nodes, no daemonsets, empty client).
func solve(args []string) {
	if len(args) < 5 || len(args) > 7 {
		fmt.Fprintln(os.Stderr, "usage: oracle solve INSTANCE_TYPES.json NODEPOOL.json PODS.json WORKERS DETERMINISTIC(0|1) [RESULT.json|- [ignore-preferences]]")
		os.Exit(2)
	}
	var itj []itJSON
	var np karpv1.NodePool
	var pods []*corev1.Pod
	for i, v := range []any{&itj, &np, &pods} {
		must(json.Unmarshal(readFile(args[i]), v))
	}
	workers := lo.Must(strconv.Atoi(args[3]))
	scheduling.Deterministic = args[4] == "1"
	opts := workerOptions(workers)
	if len(args) > 6 {
		opts = append(opts, ps.IgnorePreferences)
	}
	its := lo.Map(itj, func(j itJSON, _ int) *cloudprovider.InstanceType { return j.build() })
	defaultNodePool(&np)
	ctx := coreCtx(schedOptions{})
	c := fakecr.NewFakeClient()
	cp := &listOnly{all: its}
	cluster := state.NewCluster(clock.RealClock{}, c, cp)
	byPool := map[string][]*cloudprovider.InstanceType{np.Name: its}
	nps := []*karpv1.NodePool{&np}
	cpu0 := cpuTime()
	t0 := time.Now()
	s := newScheduler(ctx, c, cluster, nps, byPool, pods, opts...)
	t1 := time.Now()
	cpu1 := cpuTime()
	results := lo.Must(s.Solve(ctx, pods))
	t2 := time.Now()
	cpu2 := cpuTime()
	scheduled, cost := 0, 0.0
	sizes := map[int]int{}
	var ru syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &ru))
	for _, n := range results.NewNodeClaims {
		scheduled += len(n.Pods)
		sizes[len(n.Pods)]++
	}
	scheduling.Deterministic = true
	rj := resultsJSON(results)
	for _, n := range rj["nodeclaims"].([]J) {
		cost += n["cheapest_price"].(float64)
	}
	if len(args) > 5 && args[5] != "-" {
		must(os.WriteFile(args[5], []byte(mustJSON(rj)), 0o644))
	}
	fmt.Println(mustJSON(J{"pods": len(pods), "instance_types": len(its), "workers": workers, "setup_s": t1.Sub(t0).Seconds(), "setup_cpu_s": cpu1 - cpu0, "solve_s": t2.Sub(t1).Seconds(), "solve_cpu_s": cpu2 - cpu1,
		"pods_per_s": float64(len(pods)) / t2.Sub(t1).Seconds(), "pods_per_cpu_s": float64(len(pods)) / (cpu2 - cpu1), "nodeclaims": len(results.NewNodeClaims), "scheduled": scheduled, "errors": len(results.PodErrors), "cheapest_cost_per_hour": cost, "maxrss_mib": ru.Maxrss / 1024}))
}

// readFile reads a plain or a gzipped file.
func readFile(name string) []byte {
	b, err := os.ReadFile(name)
	must(err)
	if strings.HasSuffix(name, ".gz") {
		r := lo.Must(gzip.NewReader(bytes.NewReader(b)))
		b = lo.Must(io.ReadAll(r))
	}
	return b
}

func cpuTime() float64 {
	var ru syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &ru))
	return float64(ru.Utime.Sec+ru.Stime.Sec) + float64(ru.Utime.Usec+ru.Stime.Usec)/1e6
}
