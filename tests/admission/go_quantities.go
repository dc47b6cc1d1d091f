// Writes go_quantities.jsonl, what apimachinery makes of quantities: text, how it prints, whole units rounded up, and how it prints without
// a suffix (AsDec); or the error.
// Run it in a module that has k8s.io/apimachinery:
//
//	go run go_quantities.go > go_quantities.jsonl
//
//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	"k8s.io/apimachinery/pkg/api/resource"
)

var texts = []string{
	"0", "00", "+0", "-0", "0.0", ".0", "0.", "0m", "0Ki", "1", "+1", "-1", "1.", ".5", "-.5", "00012", "0.10", "1.10", "10.0", "1.0Ki", "1.5Ki",
	"0.5Ki", "0.001Ki", "1e", "1E", "1e0", "1e3", "1E3", "1e-3", "1e+3", "1e10", "1e18", "1e19", "1e-9", "1e-10", "12e4", "100e4", "1500e-3", "1n",
	"1u", "1m", "1k", "1M", "1G", "1T", "1P", "1Ei", "1Pi", "1Ti", "1Gi", "1Mi", "1Ki", "7Ei", "8Ei", "9Ei", "7.9Ei", "0.3Gi", "1.7Ti", "2047Ki",
	"2048Ki", "3072Ki", "1000Ki", "999999Ki", "1024Mi", "1536Mi", "123456789Ki", "999999999999Ki", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "-9223372036854775809", "9223372036854775807m", "9223372036854775807Ki", "99999999999999999999", "999999999999999999",
	"1000000000000000000", "1000000000000000000000", "0.1n", "0.9n", "1.1n", "-0.1n", "-1.1n", "0.0000000001", "0.9999999999", "1.0000000001",
	"3.0001", "1000", "1000m", "1001m", "1000000m", "1000k", "1200k", "1234567890123456789", "0.000000001", "0.0001k", "1ki", "1KI", "1mi", "1gi",
	"1i", "1mm", "m", "Ki", ".", "-", "+", "--1", "1-", "e3", "1e1.5", "1 ", " 1", "1_000", "1,5", "0x10", "Inf", "NaN", "１",
	"0e999999999", "-0.0e999999999", "1e4294967296", "1e4294967297", "25e-4294967298", "7e2147483648000000002", "5e00000000000000000003",
	"1e9223372036854775807", "1e9223372036854775808", "1e-9223372036854775808", "1e-9223372036854775809", "1e4294967299.5",
}

func main() {
	random := rand.New(rand.NewSource(1))
	suffixes := []string{"", "", "", "m", "u", "n", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-2", "E6"}
	for range 500 {
		text := []string{"", "", "", "", "-", "+", "0"}[random.Intn(7)]
		text += fmt.Sprint(random.Int63n(1 << (1 + random.Intn(62))))
		if random.Intn(2) == 0 {
			text += fmt.Sprintf(".%0*d", 1+random.Intn(12), random.Int63n(1<<(1+random.Intn(30))))
		}
		texts = append(texts, text+suffixes[random.Intn(len(suffixes))])
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for _, text := range texts {
		if found, err := resource.ParseQuantity(text); err != nil {
			encoder.Encode([]any{text, nil, err.Error()})
		} else {
			encoder.Encode([]any{text, found.String(), found.Value(), found.AsDec().String()})
		}
	}
}
