// Writes go_durations.jsonl, what Go's time package makes of texts:
//
//	go run go_durations.go > go_durations.jsonl
//
//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"time"
)

var texts = []string{
	"0", "-0", "+0", "", "+", "-", "1", "x", "5x", "é", "1h", "1h30m", "1.5h", ".5m", "5.s", ".s", "s", "1m1m", "1 h", " 1h", "1h ", "1d",
	"Never", "1H", "1us", "1µs", "1μs", "1ns", "0.1ns", "1.9ns", "-1h", "+1h", "--1h", "1h-1m", "9223372036854775807ns",
	"9223372036854775808ns", "-9223372036854775808ns", "-9223372036854775809ns", "2562047h47m16.854775807s", "2562047h47m16.854775808s",
	"2562048h", "0.3333333333333333333h", "0.000000000000000000001h", "0.100000000000000000000h", "0.830103483285477580700h",
	"9007199254740993.0ms", "1e3s", "0x1h", "1h30", "1_0s", "720h0m0s", "87600h", "99999999999999999999h", "99999999999999999999",
	"0.9223372036854775807h", "0.9223372036854775808h", "1\"h", "1\\h", "1\x7fh", "1éh", "3.9us", "1.0005ms", "12h34m56.789012345s",
	"1h1.1.1m", "-.5s", "-.s", "+.5s", "1.", "-0s", "007s",
	"5À", "5€h", "5 \x1f~h", "1\x00h",
	"0.544859351775833333333h", "0.885231585506944444445h",
}

func main() {
	random := rand.New(rand.NewSource(1))
	units := []string{"ns", "us", "µs", "ms", "s", "m", "h", "", "d"}
	for range 200 {
		text := []string{"", "", "", "-", "+"}[random.Intn(5)]
		for range 1 + random.Intn(3) {
			text += fmt.Sprint(random.Int63n(1 << random.Intn(30)))
			if random.Intn(2) == 0 {
				text += fmt.Sprintf(".%0*d", random.Intn(22), random.Int63n(1<<random.Intn(62)))
			}
			text += units[min(random.Intn(40), random.Intn(9))]
		}
		texts = append(texts, text)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for _, text := range texts {
		if found, err := time.ParseDuration(text); err != nil {
			encoder.Encode([]any{text, nil, err.Error()})
		} else {
			encoder.Encode([]any{text, found.Nanoseconds(), found.String()})
		}
	}
}
