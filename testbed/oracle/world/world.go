package world

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"
)

// Point is a pointer to a struct, with methods.
type Point struct {
	X, Y  int
	Label string
	Any   any
}

func (p *Point) Sum() int { return p.X + p.Y }

func (p *Point) Scale(by int) *Point {
	return &Point{X: p.X * by, Y: p.Y * by, Label: p.Label, Any: p.Any}
}

func (p *Point) Join(separator string, parts ...string) string {
	return strings.Join(parts, separator)
}

func (p *Point) Fail(reason string) (string, error) { return "", errors.New(reason) }

func (p *Point) Nothing() any { return nil }

// Pair is a struct without methods.
type Pair struct {
	Left, Right any
}

// Version has a text of its own.
type Version struct{ Major, Minor int }

func (v *Version) String() string { return fmt.Sprintf("v%d.%d", v.Major, v.Minor) }

// Names, Files, Span, Level and Word are named types of Go's own kinds.
type Names []string

func (n Names) Has(name string) bool {
	for _, one := range n {
		if one == name {
			return true
		}
	}
	return false
}

type Files map[string][]byte

func (f Files) Get(name string) string { return string(f[name]) }

type Span int64

func (s Span) String() string { return strconv.FormatInt(int64(s), 10) + "s" }

type Level int64

type Word string

// Problem is an error.
type Problem struct{ Code int }

func (p *Problem) Error() string { return "problem " + strconv.Itoa(p.Code) }

func hosts() map[string]any {
	return map[string]any{
		"point":   &Point{X: 1, Y: 2, Label: "p"},
		"pair":    Pair{Left: "l", Right: 7},
		"version": &Version{Major: 1, Minor: 2},
		"names":   Names{"a", "b"},
		"files":   Files{"f.txt": []byte("hello"), "g.txt": []byte{0, 255}},
		"span":    Span(5),
		"level":   Level(3),
		"word":    Word("w"),
		"problem": &Problem{Code: 4},
	}
}

func Functions(root *template.Template) template.FuncMap {
	return template.FuncMap{
		"add": func(a, b int) int { return a + b },
		"sum": func(all ...int) int {
			total := 0
			for _, one := range all {
				total += one
			}
			return total
		},
		"upper":  strings.ToUpper,
		"join":   func(separator string, parts ...string) string { return strings.Join(parts, separator) },
		"list":   func(items ...any) []any { return items },
		"dict":   dict,
		"set":    set,
		"fail":   func(reason string) (string, error) { return "", errors.New(reason) },
		"null":   func() any { return nil },
		"ident":  func(v any) any { return v },
		"typeof": func(v any) string { return fmt.Sprintf("%T", v) },
		"half":   func(f float64) float64 { return f / 2 },
		"flip":   func(b bool) bool { return !b },
		"tiny":   func(n int8) int8 { return n },
		"small":  func(n uint16) uint16 { return n },
		"single": func(f float32) float32 { return f },
		"strs":   func(list []string) int { return len(list) },
		"keys":   func(m map[string]any) int { return len(m) },
		"label":  func(p *Point) string { return p.Label },
		"left":   func(p Pair) any { return p.Left },
		"until": func(n int) []int {
			list := make([]int, max(n, 0))
			for i := range list {
				list[i] = i
			}
			return list
		},
		"include": func(name string, data any) (string, error) {
			var output strings.Builder
			err := root.ExecuteTemplate(&output, name, data)
			return output.String(), err
		},
		"tpl": func(text string, data any) (string, error) { return tpl(root, text, data) },
	}
}

func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("an odd number of arguments")
	}
	object := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		object[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return object, nil
}

func set(object map[string]any, key string, value any) (map[string]any, error) {
	if object == nil {
		return nil, errors.New("set on nil")
	}
	object[key] = value
	return object, nil
}

// tpl does what Helm's function of that name does.
func tpl(root *template.Template, text string, data any) (string, error) {
	inner, err := root.Clone()
	if err != nil {
		return "", err
	}
	inner.Funcs(Functions(inner))
	inner, err = inner.New("inner").Parse(text)
	if err != nil {
		return "", err
	}
	var output strings.Builder
	err = inner.Execute(&output, data)
	return output.String(), err
}
