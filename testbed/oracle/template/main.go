// The oracle of our templates: answers what Go's text/template makes of what it is given.
//
// It stays for as long as it is asked.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"fitout.dev/testbed/oracle/world"
)

// A question is about a template "t" and others beside it ("run", "time"), or about the classes of characters
// ("classes").
type question struct {
	Op         string          `json:"op"`
	Text       string          `json:"text"`
	Others     [][2]string     `json:"others"`
	Data       json.RawMessage `json:"data"`
	MissingKey string          `json:"missingkey"`
	Times      int             `json:"times"`
}

// An answer has exactly one of them: a text, bytes that are no text, a reason why there is none, times, or ranges.
type answer struct {
	Text    *string             `json:"text,omitempty"`
	Hex     *string             `json:"hex,omitempty"`
	Error   *string             `json:"error,omitempty"`
	Nanos   *[2]int64           `json:"nanos,omitempty"`
	Classes map[string][][2]int `json:"classes,omitempty"`
}

func ask(q question) (a answer) {
	// What panics in the library is a refusal as well.
	defer func() {
		if cause := recover(); cause != nil {
			a = refused(fmt.Errorf("panic: %v", cause))
		}
	}()
	switch q.Op {
	case "run":
		return run(q)
	case "time":
		return timed(q)
	case "classes":
		return classes()
	}
	return refused(fmt.Errorf("unknown question %q", q.Op))
}

func parse(q question) (*template.Template, any, error) {
	data, err := world.Decode(q.Data)
	if err != nil {
		return nil, nil, err
	}
	// Nothing has this name: messages name it, as those of Helm do its own.
	root := template.New("root").Option("missingkey=" + q.MissingKey)
	root.Funcs(world.Functions(root))
	for _, other := range q.Others {
		if _, err := root.New(other[0]).Parse(other[1]); err != nil {
			return nil, nil, err
		}
	}
	_, err = root.New("t").Parse(q.Text)
	return root, data, err
}

func run(q question) answer {
	root, data, err := parse(q)
	if err != nil {
		return refused(err)
	}
	var output bytes.Buffer
	if err := root.ExecuteTemplate(&output, "t", data); err != nil {
		return refused(err)
	}
	if !utf8.Valid(output.Bytes()) {
		encoded := hex.EncodeToString(output.Bytes())
		return answer{Hex: &encoded}
	}
	text := output.String()
	return answer{Text: &text}
}

// timed says how long it takes on average to parse, and to execute what is parsed.
func timed(q question) answer {
	var nanos [2]int64
	start := time.Now()
	text := q
	text.Data = nil
	for range q.Times {
		if _, _, err := parse(text); err != nil {
			return refused(err)
		}
	}
	nanos[0] = time.Since(start).Nanoseconds() / int64(q.Times)
	root, data, err := parse(q)
	if err != nil {
		return refused(err)
	}
	start = time.Now()
	for range q.Times {
		var output bytes.Buffer
		if err := root.ExecuteTemplate(&output, "t", data); err != nil {
			return refused(err)
		}
	}
	nanos[1] = time.Since(start).Nanoseconds() / int64(q.Times)
	return answer{Nanos: &nanos}
}

// classes are ranges beyond ASCII: first and last.
func classes() answer {
	ranges := func(in func(rune) bool) (all [][2]int) {
		first := -1
		for r := 0x80; r <= unicode.MaxRune+1; r++ {
			is := r <= unicode.MaxRune && in(rune(r))
			if is && first < 0 {
				first = r
			}
			if !is && first >= 0 {
				all = append(all, [2]int{first, r - 1})
				first = -1
			}
		}
		return all
	}
	return answer{Classes: map[string][][2]int{
		"letter": ranges(unicode.IsLetter),
		"digit":  ranges(unicode.IsDigit),
		"print":  ranges(unicode.IsPrint),
	}}
}

func refused(err error) answer {
	reason := err.Error()
	return answer{Error: &reason}
}

func main() {
	world.Serve(ask)
}
