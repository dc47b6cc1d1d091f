// Writes go_schedules.jsonl, when schedules come next as robfig/cron says: schedule, moment, the next hit (empty: never); or the error.
// Run it in a module that has github.com/robfig/cron/v3:
//
//	go run go_schedules.go > go_schedules.jsonl
//
//go:build ignore

package main

import (
	"encoding/json"
	"os"
	"time"

	"github.com/robfig/cron/v3"
)

var schedules = []string{
	"* * * * *", "0 * * * *", "59 23 31 12 *", "0 0 29 2 *", "0 0 30 2 *", "*/7 * * * *", "1-59/13 */5 * * *", "5/20 3,4 * * *", "0 0 * * 0", "0 0 * * 6",
	"0 0 * * sun", "0 0 * * SAT-SAT", "0 12 1 * *", "0 12 1 * 1", "0 12 */2 * 1", "0 12 */1 * 1", "0 12 1 * */1", "0 12 1 * */2", "0 12 ? * 3", "15 6 * jan,mar *",
	"15 6 * 1-3/2 *", "0 0 31 * *", "0 0 31 4,6 *", "30 4 1,15 * 5", "0-0 0-0 1-1 1-1 *", "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly",
	"@annually", "@every 90m", "@every 1s", "@every 1500ms", "@every 100ms", "@every 36h15m", "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *",
	"* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * 0 *", "* * * * 7", "5-2 * * * *", "1-2-3 * * * *", "*/2/3 * * * *", "*/0 * * * *", "x * * * *", "* * * foo *",
	"@never", "@every", "@every soon", "@every -5m", "-1 * * * *", ",,1 * * * *", "1,, * * * *", ", * * * *", "*-5 * * * *", "5-* * * * *", "*/60 * * * *", "0/1 * * * *",
}

var moments = []string{
	"2026-01-01T00:00:00Z", "2026-01-07T10:30:00Z", "2026-01-07T10:30:59Z", "2026-01-31T23:59:30Z", "2026-02-28T12:00:01Z", "2026-03-01T06:15:00Z",
	"2026-12-31T23:59:00Z", "2028-02-29T00:00:00Z", "2026-04-30T23:59:59.5Z",
}

func main() {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for _, text := range schedules {
		schedule, err := cron.ParseStandard("TZ=UTC " + text) // as Karpenter asks
		if err != nil {
			encoder.Encode([]any{text, nil, err.Error()})
			continue
		}
		for _, each := range moments {
			moment, _ := time.Parse(time.RFC3339, each)
			next := ""
			if found := schedule.Next(moment); !found.IsZero() {
				next = found.Format(time.RFC3339Nano)
			}
			encoder.Encode([]any{text, each, next})
		}
	}
}
