// Writes go_times.jsonl, what Go makes of texts: the microseconds since 1970 that time.Parse reads in the layout time.RFC3339 or null, its
// error, and whether kube-openapi takes the text for a date-time.
// Run it in a module that has k8s.io/kube-openapi:
//
//	go run go_times.go > go_times.jsonl
//
//go:build ignore

package main

import (
	"encoding/json"
	"math/rand"
	"os"
	"time"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

var times = []string{
	"2026-01-08T02:00:00Z", "2026-01-08T02:03:30.5Z", "2026-01-08T12:00:00+10:30", "2024-02-29T23:59:59-05:00",
	"2026-12-31T23:59:59.999999999Z", "2026-01-08t02:00:00z",
}

var texts = []string{
	"0000-01-01T00:00:00Z", "2026-01-08T24:00:00Z", "2026-01-08T23:60:00Z", "2026-01-08T23:59:60Z", "2026-00-08T02:00:00Z",
	"2026-01-00T02:00:00Z", "2026-01-32T02:00:00Z", "2026-13-08", "2026-01-08T25", "2026-01-08T02:00:00+24:00",
	"2026-01-08T02:00:00+25:00", "2026-01-08T02:00:00+23:60", "2026-01-08T02:00:00+23:61", "2026-01-08T02:00:00,5Z",
	"2026-01-08T2:00:00Z", "2026-01-08T02:00:00ZTx", "2026-W01-1T02:00:00Z", "2026-02-30T02:00:00Zx", "2026-01-08T02:00:00.Z",
	"2026-01-08T02:00:61Zx", "9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "2026-01-08T02:00:00.5.5Z",
	"2026-01-08T02:00:00x5Z", "2026-01-08T23:59:59z", "2026-1-08T02:00:00Z", "2026-01-8T02:00:00Z", "20260108T020000Z",
	"2026-01-08 02:00:00Z", "2026-01-08T02:00:00é", "2026-01-08T02:00:00+0100", "2026-01-08T02:00:00+01", "2026-01-08T02:00:00 Z",
	"T", "t", "2026T", "2026-01-08TT", "2026-01-08T02:00:00-00:00", "2026-02-29T02:00:00Z", "2026-04-31T02:00:00Z",
	"2026-01-08T02:00:00Z\n", "20٢6-01-08T02:00:00Z",
}

const letters = "0123456789-:TZtz.+, x"

func main() {
	r := rand.New(rand.NewSource(1))
	for range 400 { // times with one or two mistakes
		text := []byte(times[r.Intn(len(times))])
		for range 1 + r.Intn(2) {
			place, letter := r.Intn(len(text)), letters[r.Intn(len(letters))]
			switch r.Intn(4) {
			case 0:
				text = append(text[:place], text[place+1:]...)
			case 1:
				text = append(text[:place], append([]byte{letter}, text[place:]...)...)
			default:
				text[place] = letter
			}
		}
		texts = append(texts, string(text))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for _, text := range append(times, texts...) {
		if moment, err := time.Parse(time.RFC3339, text); err != nil {
			encoder.Encode([]any{text, nil, err.Error(), strfmt.IsDateTime(text)})
		} else {
			encoder.Encode([]any{text, moment.UnixMicro(), "", strfmt.IsDateTime(text)})
		}
	}
}
