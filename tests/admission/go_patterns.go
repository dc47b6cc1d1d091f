// Writes go_patterns.jsonl, what Go's regexp package says of patterns, and which of the texts each is found in:
//
//	go run go_patterns.go > go_patterns.jsonl
//
//go:build ignore

package main

import (
	"encoding/json"
	"math/rand"
	"os"
	"regexp"
	"strings"
)

var texts = []string{
	"", "a", "A", "b", "ab", "ba", "aa", "aaa", "abab", "a\n", "\n", "a\nb", "a b", "a\tb", "\v", "k", "K", "\u212a", "s", "\u017f", "é", "É",
	"e", "٣", "3", "42", "_", "-", "[", "]", "^", "&", "&&", "~", "{", "}", "{2}", "a{,2}", ".", "\\", "|", "(", ")", "$", "*", "+", "?",
	"Ω", "ω", "я", "日本", "😀", "foo-bar", "foo.bar/baz", "eastus-1", "1h30m", "\x00", "\x7f", "#", " ", "a.b", "axb", "\u00a0", "\u2028",
	"\r\n", "Standard_D2s_v5", "g", "G", "z", "Z", "0", "7", "<", ">", "=", ",", ":", "a-b", "q",
}

var patterns = []string{
	"", "a", "^a$", "a$", "(?m)^b", "(?m)a$", `a\z`, `\Aa`, `a\Z`, `\d`, `\D`, `\w`, `\W`, `\s`, `\S`, `[\d]`, `[\D]`, `[^\d]`, `[^\D]`, `[\w-]`, `[\s\d]`,
	`[^\s]`, `\b`, `\B`, `\bb`, `a\b`, `\Ba`, `é\b`, `\bé`, "(?i)k", "(?i)s", "(?i)É", "(?i)[a-z]", "(?i)[^a-z]", `(?i)\w`, `(?i)\W`, "(?i)ω", ".", "(?s).", "a.b", "(?s)a.b",
	"(?i:A)b", "(?-i)a", "(?i-s)A", "(?is-m:A.)", "(?ii)a", "(?)a", "(?:a)", "(?i-)a", "(?i--s)a", "(?x)a b", "(?u)a", "(?U)a+", "(?U:a+?)b",
	"[", "[a", "[]", "[]a]", "[^]a]", "[a-]", "[-a]", "[a-c-e]", "[--/]", "[a-z&&b]", "[a--b]", "[z-a]", "[[a]]", "[[]", `[\]]`, `[\[]`, "[&&]", "[a~~b]",
	"[[:alpha:]]", "[[:^alpha:]]", "[^[:space:]]", "[[:foo:]]", "[[:word:]-]", "[:alpha:]", "[[:alpha:]", `[a-\d]`, `[\d-a]`, `[\d-]`, `[\pL]`, `[^\pL]`, `[\b]`, `[\a\f\n\r\t\v]`, "[.]", "[$^]",
	"[*+?{}()|]", "[#]", "[ ]", `[\x41-\x{43}]`, `[\Q]`, "[^a]", "[^\n]", `\pL`, `\PL`, `\p{L}`, `\p{Greek}`, `\p{^Greek}`, `\P{^Greek}`, `\p{Lu}`, `\p{Any}`, `\p{Nope}`,
	`\pX`, `\p`, `\p{L`, `\p{}`, `(?i)\p{Lu}`, `\p{Han}`, `\p{Nd}`,
	"a*", "a+b", "a?b", "a*?b", "a+?", "a??", "a**", "a*+", "a++", "a?+", "a+*", "a???", "*", "+a", "?", "(*a)", "(|a)", "a|*", "|", "a||b", "()", "(?:)", "^*", "$+", `\b+`, "(?i)*",
	"a{2}", "a{2,}", "a{1,2}", "a{,2}", "a{2", "a{x}", "a{2}?", "a{2}{3}", "a{2}*", "a{02}", "a{1001}", "a{1000}", "a{2,1}", "{2}", "a{0}", "a{0,0}b", "a{-1}", "a{1,2,3}", "a{ 1}",
	"(a{100}){10}", "(a{100}){11}", "((a{10}){10}){10}", "((a{10}){10}){11}", "(a{500}|b){2}", "(a|b{501}){2}", "(a{0}){2000}", "(?:a{3}){333}", "(?:a{3}){334}", "(a{400}){1,}", "(a{1000})+",
	"(a{99999})", "a{99999999999999999999}", "(x{1000}y{1000}){1}", "(x{500}y{501}){2}",
	"(", ")", "(a", "a)", "((a)", "(a))", "(?P<n>a)", "(?<n>a)", "(?P<n>a)(?P<n>b)", "(?P<>a)", "(?P<n", "(?P<n-m>a)", "(?P=n)", "(?'n'a)", "(?P>n)", "(?P<é>a)",
	"(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(?>a)", "(?#a)", "(?(1)a)", "(?|a)", "(?", "(?i", "(?:", "(?i:a", `(a)\1`, `\8`, `\k<n>`, `\g1`, `\12`, `\012`, `\0`, `\141`, `\1411`, `\377`, `\400`, `\777`,
	`\`, `a\`, `[\`, `\x61`, `\x{61}`, `\x`, `\x6`, `\x{110000}`, `\x{10FFFF}`, `\x{}`, `\x{0000000000061}`, `\u0061`, `\a`, `\f`, `\n`, `\r`, `\t`, `\v`, `\e`, `\cA`, `\C`, `\X`, `\R`, `\h`, `\N`, `\G`, `\K`, `\_`, `\-`, `\.`,
	`\/`, `\ `, `\#`, `\é`, `\<`, `\>`, `\b{start}`, `\{`, `\}`, `\^`, `\$`, `\|`, `\&`, `\~`, `\"`, `\'`, `\:`, `\,`, `\=`, `\Qa.b\E`, `\Qa.b`, `\Qa+\E+`, `\Q\E*`, `\Q\\E`, `a\E`, `\Qé[\E`,
	"#", "a b", " ", "é", "[é]", "[à-ü]", "日", "[^日]", "😀", "a&&b", "a-b", "~", "<", ">", "/", "]", "}", "{", "]a", "a}", "]*", "}{2}",
	`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, `^(@(annually|hourly))|((.+)\s(.+)\s(.+))$`, `^(([0-9]+(s|m|h))+|Never)$`, `(a+)+$`, `(a|a)*b`, `(?:a?){20}b`, `^Standard_D\d+s_v5$`, `(^|x)a($|y)`, `a(?m)$`, `((?m)a$)b`,
	strings.Repeat("(", 199) + strings.Repeat(")", 199), strings.Repeat("a", 500),
}

func main() {
	random := rand.New(rand.NewSource(1))
	parts := []string{"a", "b", ".", "^", "$", "*", "+", "?", "|", "(", ")", "[", "]", "[^", "-", "{2}", "{,3}", "{1,", "}", "(?:", "(?i)", "(?s:", `\d`, `\W`, `\b`, `\.`, `\`,
		"[a-c]", "[[:digit:]]", `\pL`, `\x41`, `\101`, "é", "&&", "0", ",", ":", "k", " ", "\n", `\Q`, `\E`, "(?P<n>", `\s`, "~", "#"}
	for range 1500 {
		text := ""
		for range 1 + random.Intn(7) {
			text += parts[random.Intn(len(parts))]
		}
		patterns = append(patterns, text)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.Encode(texts)
	for _, pattern := range patterns {
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			encoder.Encode([]any{pattern, err.Error()})
			continue
		}
		found := []int{}
		for number, text := range texts {
			if compiled.MatchString(text) {
				found = append(found, number)
			}
		}
		encoder.Encode([]any{pattern, found})
	}
}
