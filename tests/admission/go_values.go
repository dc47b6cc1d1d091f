// Writes go_values.jsonl, how Go prints JSON values: as JSON, in the error of a field, in its own syntax (%#v) and plainly (%v).
// Run it in a module that has k8s.io/apimachinery:
//
//	go run go_values.go > go_values.jsonl
//
//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kubejson "sigs.k8s.io/json"
)

var texts = []string{
	`null`, `true`, `false`, `0`, `-1`, `9223372036854775807`, `9223372036854775808`, `0.0`, `-0.0`, `1.0`, `1.5`, `-1.5`, `100.0`, `0.1`,
	`0.00001`, `0.0001`, `0.00012345`, `999999.0`, `1000000.0`, `123456.5`, `1234567.5`, `1e6`, `1e20`, `1e21`, `123e18`, `1.25e21`,
	`1e-6`, `1e-7`, `12e-7`, `1.5e-10`, `1e100`, `1e-100`, `1.7976931348623157e308`, `5e-324`, `0.3`, `10.25`, `1e15`, `1e16`, `123456789012345680.0`,
	`""`, `"a"`, `"é"`, `"a\"b\\c"`, `"<a>&b"`, `"\u2028\u2029"`, `"\u0000\u0001\u001f\u007f\b\f\n\r\t\u000b"`, `"😀"`, `"\u200b"`,
	`[]`, `{}`, `[null]`, `[1,"a",true,null,1.5]`, `{"b":1,"a":[{"c":null}]}`, `[[],{}]`, `{"<":"é"}`, `{"é":-0.0,"B":1e21,"a":"x y"}`,
	`[1e-7,0.5,100.0]`, `{"a":{"b":{"c":[1,[2,[3]]]}}}`,
}

func main() {
	r := rand.New(rand.NewSource(1))
	for range 200 {
		number := math.Ldexp(r.Float64(), r.Intn(140)-70)
		precision := []int{-1, 1, 3}[r.Intn(3)]
		texts = append(texts, strconv.FormatFloat(number, 'e', precision, 64))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for _, text := range texts {
		var value any
		if err := kubejson.UnmarshalCaseSensitivePreserveInts([]byte(text), &value); err != nil {
			panic(err)
		}
		written, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		refused := field.Invalid(field.NewPath("a"), value, "").Error()
		encoder.Encode([]string{text, string(written), refused, fmt.Sprintf("%#v", value), fmt.Sprintf("%v", value)})
	}
}
