// Writes go_sort.jsonl, where Go's sort.Slice leaves elements with equal keys:
//
//	go run go_sort.go > go_sort.jsonl
//
//go:build ignore

package main

import (
	"encoding/json"
	"math/rand"
	"os"
	"sort"
)

// shapes are lists of n keys; `distinct` is how many different ones there may be.
var shapes = []func(r *rand.Rand, n, distinct int) []int{
	func(r *rand.Rand, n, distinct int) []int { // any order
		keys := make([]int, n)
		for i := range keys {
			keys[i] = r.Intn(distinct)
		}
		return keys
	},
	func(_ *rand.Rand, n, distinct int) []int { // rising
		keys := make([]int, n)
		for i := range keys {
			keys[i] = i * distinct / n
		}
		return keys
	},
	func(_ *rand.Rand, n, distinct int) []int { // falling
		keys := make([]int, n)
		for i := range keys {
			keys[i] = distinct - i*distinct/n
		}
		return keys
	},
	func(r *rand.Rand, n, distinct int) []int { // rising, but for a few
		keys := make([]int, n)
		for i := range keys {
			keys[i] = i * distinct / n
		}
		for range 1 + r.Intn(4) {
			i := r.Intn(n)
			keys[i] = r.Intn(distinct)
		}
		return keys
	},
	func(_ *rand.Rand, n, distinct int) []int { // up and down again
		keys := make([]int, n)
		for i := range keys {
			keys[i] = min(i, n-i) % distinct
		}
		return keys
	},
	func(_ *rand.Rand, n, distinct int) []int { // teeth
		keys := make([]int, n)
		for i := range keys {
			keys[i] = i % distinct
		}
		return keys
	},
}

// killer is a list that is as bad for quicksort as can be: an adversary gives the keys while they are compared (McIlroy 1999), and not in order,
// which Go would notice.
func killer(n int) []int {
	gas, solid, candidate, asked := n, 0, 0, 0
	value, items := make([]int, n), make([]int, n)
	for i := range value {
		value[i], items[i] = gas, i
	}
	sort.Slice(items, func(a, b int) bool {
		x, y := items[a], items[b]
		if value[x] == gas && value[y] == gas {
			asked++
			if x == candidate || y != candidate && asked%2 == 1 {
				value[x], solid = solid, solid+1
			} else {
				value[y], solid = solid, solid+1
			}
		}
		if value[x] == gas {
			candidate = x
		} else if value[y] == gas {
			candidate = y
		}
		return value[x] < value[y]
	})
	return value
}

func main() {
	r := rand.New(rand.NewSource(1))
	encoder := json.NewEncoder(os.Stdout)
	write := func(keys []int) {
		order := make([]int, len(keys))
		for i := range order {
			order[i] = i
		}
		sort.Slice(order, func(a, b int) bool { return keys[order[a]] < keys[order[b]] })
		encoder.Encode([][]int{keys, order})
	}
	for _, n := range []int{0, 1, 2, 12, 13, 14, 15, 16, 20, 25, 31, 32, 49, 50, 51, 64, 90, 150} {
		for _, shape := range shapes {
			for _, distinct := range []int{2, 5, n/2 + 1, max(n, 2)} {
				if n > 0 {
					write(shape(r, n, distinct))
				}
			}
		}
	}
	for n := 40; n < 200; n += 7 {
		write(shapes[0](r, n, n/3))
		write(killer(n))
	}
	// Rare paths leave a trace only where keys are equal: quicksort's bad lists, and falling ones with a few keys elsewhere.
	for n := 40; n < 340; n += 9 {
		for _, equal := range []int{2, 3, 8} {
			keys := killer(n)
			for i := range keys {
				keys[i] /= equal
			}
			write(keys)
			falling := shapes[2](r, n, n/equal)
			for range r.Intn(4) {
				falling[r.Intn(n)] = r.Intn(n / equal)
			}
			write(falling)
		}
	}
	// Sorted but for some neighbours, and for the greatest key, which belongs at the end: as much as Go repairs, and more.
	for n := 50; n < 90; n += 5 {
		for swapped := range 6 {
			for from := 2; from < 5; from++ {
				rising := shapes[1](r, n, n/2)
				for range swapped {
					i := 2 * r.Intn(n/2-4)
					rising[i+1], rising[i+2] = rising[i+2], rising[i+1]
				}
				rising[n-from] = n
				write(rising)
			}
		}
	}
	// The same with the greatest key before the last two, which are equal, as the last that Go repairs.
	for n := 51; n < 90; n += 4 {
		rising := make([]int, n)
		for i := range rising {
			rising[i] = i / 2
		}
		for place := range 4 {
			i := 9 + 4*place
			rising[i], rising[i+1] = rising[i+1], rising[i]
		}
		rising[n-3], rising[n-1] = rising[n-1], rising[n-3]
		write(rising)
	}
	// Parts that differ so much that they just count as balanced, or just not.
	r = rand.New(rand.NewSource(6))
	for range 60 {
		write(shapes[0](r, 48, 24))
	}
}
