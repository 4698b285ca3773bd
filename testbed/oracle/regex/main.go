// The oracle of our regular expressions: answers what Go's own make of a text.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fitout.dev/testbed/oracle/world"
)

// A question is about a pattern, mostly about a text as well, and about what takes the place of a match. Texts that are
// no UTF-8 are written as `{"$raw": …}`. "tables" asks which characters are in which class.
type question struct {
	Op    string            `json:"op"`
	Texts []json.RawMessage `json:"texts"`
	Limit int               `json:"limit"`
}

// An answer has exactly one of them.
type answer struct {
	Value  any     `json:"value,omitempty"`
	Error  any     `json:"error,omitempty"`
	Tables *tables `json:"tables,omitempty"`
}

// Ranges of characters by the name of their class, names for the same class, and characters that are equal but for case.
type tables struct {
	Classes map[string][][2]rune `json:"classes"`
	Aliases map[string]string    `json:"aliases"`
	Folds   [][]rune             `json:"folds"`
}

func ask(q question) answer {
	if q.Op == "tables" {
		return answer{Tables: tabulate()}
	}
	texts := make([]string, 3)
	for i, raw := range q.Texts {
		decoded, err := world.Decode(raw)
		if err != nil {
			return answer{Error: err.Error()}
		}
		texts[i] = decoded.(string)
	}
	if q.Op == "quote" {
		return answer{Value: encode(regexp.QuoteMeta(texts[0]))}
	}
	pattern, err := regexp.Compile(texts[0])
	if err != nil {
		return answer{Error: encode(err.Error())}
	}
	value, err := run(pattern, q, texts[1], texts[2])
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Value: value}
}

func run(pattern *regexp.Regexp, q question, text, replacement string) (any, error) {
	switch q.Op {
	case "compile":
		return pattern.NumSubexp(), nil
	case "match":
		return pattern.MatchString(text), nil
	case "find":
		return numbers(pattern.FindStringSubmatchIndex(text)), nil
	case "all":
		return encodeAll(pattern.FindAllString(text, q.Limit)), nil
	case "split":
		return encodeAll(pattern.Split(text, q.Limit)), nil
	case "replace":
		return encode(pattern.ReplaceAllString(text, replacement)), nil
	case "literal":
		return encode(pattern.ReplaceAllLiteralString(text, replacement)), nil
	}
	return nil, fmt.Errorf("unknown question %q", q.Op)
}

func numbers(found []int) []int {
	if found == nil {
		return []int{}
	}
	return found
}

func encode(text string) any {
	if utf8.ValidString(text) {
		return text
	}
	return map[string]string{"$raw": hex.EncodeToString([]byte(text))}
}

func encodeAll(texts []string) []any {
	encoded := make([]any, len(texts))
	for i, text := range texts {
		encoded[i] = encode(text)
	}
	return encoded
}

func tabulate() *tables {
	all := &tables{Classes: map[string][][2]rune{}, Aliases: map[string]string{}}
	for _, named := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts} {
		for name := range named {
			class(all, name, name)
		}
	}
	for _, name := range []string{"Any", "Assigned", "ASCII"} {
		class(all, name, name)
	}
	for alias, name := range unicode.CategoryAliases {
		all.Aliases[canonical(alias)] = canonical(name)
	}
	for first := rune(0); first <= unicode.MaxRune; first++ {
		orbit := []rune{first}
		for next := unicode.SimpleFold(first); next > first; next = unicode.SimpleFold(next) {
			orbit = append(orbit, next)
		}
		if last := orbit[len(orbit)-1]; len(orbit) > 1 && unicode.SimpleFold(last) == first {
			all.Folds = append(all.Folds, orbit)
		}
	}
	slices.SortFunc(all.Folds, func(a, b []rune) int { return int(a[0] - b[0]) })
	return all
}

func class(all *tables, name, written string) {
	parsed, err := syntax.Parse(`[\p{`+written+`}]`, syntax.Perl)
	if err != nil {
		// Not every name that Go has a class for is known to its patterns.
		return
	}
	ranges := [][2]rune{}
	switch parsed.Op {
	case syntax.OpCharClass:
		for i := 0; i < len(parsed.Rune); i += 2 {
			ranges = append(ranges, [2]rune{parsed.Rune[i], parsed.Rune[i+1]})
		}
	case syntax.OpLiteral:
		ranges = append(ranges, [2]rune{parsed.Rune[0], parsed.Rune[0]})
	case syntax.OpAnyChar:
		ranges = append(ranges, [2]rune{0, unicode.MaxRune})
	}
	all.Classes[canonical(name)] = ranges
}

// Names are the same but for case and what separates words.
func canonical(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

func main() {
	world.Serve(ask)
}
