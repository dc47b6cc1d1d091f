// Command oracle answers, from the real code of karpenter core and karpenter-provider-azure, one JSON request per stdin line
// with one JSON answer per stdout line (see ../PROTOCOL.md).
//
//	oracle              answers until its input ends
//	oracle data         prints the SKU lists and prices that the release's answers rest on
//	oracle crds         prints the release's CRDs
//	oracle solve ...    times one run of the scheduler
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/Azure/karpenter-provider-azure/pkg/fake"
)

// set by the linker
var release, coreVersion string

// J is a JSON object.
type J = map[string]any

var ops = map[string]func(json.RawMessage) (any, error){
	"info":              opInfo,
	"requirements":      opRequirements,
	"schedule":          opSchedule,
	"instance_types":    opInstanceTypes,
	"catalog":           opCatalog,
	"validate_nodepool": opValidateNodePool,
	"labels":            opLabels,
}

// opInfo says what answers.
func opInfo(json.RawMessage) (any, error) {
	names := J{}
	for _, n := range []string{"requirements", "schedule", "instance_types", "catalog", "validate_nodepool", "labels"} {
		names[n] = true
	}
	return J{"release": release, "core": coreVersion, "ops": scheduling.DetKeys(names), "region": fake.Region, "region_non_zonal": fake.RegionNonZonal}, nil
}

func handle(line []byte) (out any) {
	var req struct {
		Op string          `json:"op"`
		ID json.RawMessage `json:"id"`
	}
	defer func() {
		if r := recover(); r != nil {
			out = J{"id": req.ID, "panic": fmt.Sprint(r)}
			if os.Getenv("ORACLE_STACK") != "" {
				debug.PrintStack()
			}
		}
	}()
	if err := json.Unmarshal(line, &req); err != nil {
		return J{"id": nil, "fatal": err.Error()}
	}
	f, ok := ops[req.Op]
	if !ok {
		return J{"id": req.ID, "fatal": "unknown op " + req.Op}
	}
	ans, err := f(line)
	if err != nil {
		return J{"id": req.ID, "fatal": err.Error()}
	}
	return J{"id": req.ID, "answer": ans}
}

func main() {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	registerNormalization()
	scheduling.Deterministic, scheduling.MarkRandom = true, true
	if len(os.Args) > 1 {
		command(os.Args[1], os.Args[2:])
		return
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			must(enc.Encode(handle(line)))
			must(out.Flush())
		}
		if err == io.EOF {
			return
		}
		must(err)
	}
}

func command(name string, args []string) {
	switch name {
	case "data":
		printData()
	case "crds":
		printCRDs()
	case "solve":
		solve(args)
	default:
		fmt.Fprintf(os.Stderr, "oracle: unknown command %s (data, crds, solve)\n", name)
		os.Exit(2)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
