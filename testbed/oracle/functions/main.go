// The oracle of the functions: answers what Helm's own function map makes of a template.
//
// Clock, zone and entropy are part of a question, so that it has one answer.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"text/template"
	"time"
	"unicode/utf8"
	_ "unsafe"

	"fitout.dev/testbed/oracle/world"
	"github.com/google/uuid"
	"helm.sh/helm/v4/pkg/engine"
)

//go:linkname initialise helm.sh/helm/v4/pkg/engine.Engine.initFunMap
func initialise(engine.Engine, context.Context, *template.Template)

//go:linkname functions helm.sh/helm/v4/pkg/engine.funcMap
func functions() template.FuncMap

// A question is about a template "t" and others beside it ("run"), or which functions there are ("list").
type question struct {
	Op         string          `json:"op"`
	Text       string          `json:"text"`
	Others     [][2]string     `json:"others"`
	Data       json.RawMessage `json:"data"`
	MissingKey string          `json:"missingkey"`
	// Where the stream of random bytes begins.
	Seed uint64 `json:"seed"`
	// The name of the local zone: UTC, unless there is one.
	Zone string `json:"zone"`
	// What `now` says, in nanoseconds since 1970. Functions that ask the clock themselves are not told.
	Now int64 `json:"now"`
}

// An answer has exactly one of them: a text, bytes that are no text, a reason why there is none, or declarations.
type answer struct {
	Text      *string           `json:"text,omitempty"`
	Hex       *string           `json:"hex,omitempty"`
	Error     *string           `json:"error,omitempty"`
	Functions map[string]string `json:"functions,omitempty"`
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
	case "list":
		declared := map[string]string{}
		for name, function := range functions() {
			declared[name] = reflect.TypeOf(function).String()
		}
		return answer{Functions: declared}
	}
	return refused(fmt.Errorf("unknown question %q", q.Op))
}

func run(q question) answer {
	data, err := world.Decode(q.Data)
	if err != nil {
		return refused(err)
	}
	zone, err := time.LoadLocation(q.Zone)
	if err != nil {
		return refused(err)
	}
	time.Local = zone
	stream := &world.Stream{Seed: q.Seed}
	rand.Reader = stream
	uuid.SetRand(stream)
	root := template.New("gotpl").Option("missingkey=" + q.MissingKey)
	initialise(engine.Engine{}, context.Background(), root)
	root.Funcs(template.FuncMap{"now": func() time.Time { return time.Unix(0, q.Now) }})
	for _, other := range q.Others {
		if _, err := root.New(other[0]).Parse(other[1]); err != nil {
			return refused(err)
		}
	}
	if _, err = root.New("t").Parse(q.Text); err != nil {
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

func refused(err error) answer {
	reason := err.Error()
	return answer{Error: &reason}
}

func main() {
	world.Serve(ask)
}
