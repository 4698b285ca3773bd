// The oracle of our YAML: answers how Kubernetes' own library reads and writes what it is given.
//
// It reads a JSON array of questions from its input and writes a JSON array with an answer to each.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"sigs.k8s.io/yaml"
)

// A question is a text to read ("from", "strict") or a value to write ("to").
type question struct {
	Op    string          `json:"op"`
	Text  string          `json:"text"`
	Value json.RawMessage `json:"value"`
}

// An answer has exactly one of the three.
type answer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Text  *string         `json:"text,omitempty"`
	Error *string         `json:"error,omitempty"`
}

func ask(q question) (a answer) {
	// The library panics on some input. That is a refusal as well.
	defer func() {
		if cause := recover(); cause != nil {
			a = refused(fmt.Errorf("panic: %v", cause))
		}
	}()
	switch q.Op {
	case "from":
		return value(yaml.YAMLToJSON([]byte(q.Text)))
	case "strict":
		return value(yaml.YAMLToJSONStrict([]byte(q.Text)))
	case "to":
		return write(q.Value)
	}
	return refused(fmt.Errorf("unknown question %q", q.Op))
}

// write keeps what the value says of its numbers: whole ones stay whole, all others are floats.
func write(raw json.RawMessage) answer {
	var decoded any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&decoded); err != nil {
		return refused(err)
	}
	return text(yaml.Marshal(numbers(decoded)))
}

func numbers(decoded any) any {
	switch decoded := decoded.(type) {
	case map[string]any:
		for key, value := range decoded {
			decoded[key] = numbers(value)
		}
	case []any:
		for i, value := range decoded {
			decoded[i] = numbers(value)
		}
	case json.Number:
		if whole, err := strconv.ParseInt(decoded.String(), 10, 64); err == nil {
			return whole
		}
		if whole, err := strconv.ParseUint(decoded.String(), 10, 64); err == nil {
			return whole
		}
		float, _ := decoded.Float64()
		return float
	}
	return decoded
}

func value(read []byte, err error) answer {
	if err != nil {
		return refused(err)
	}
	return answer{Value: read}
}

func text(written []byte, err error) answer {
	if err != nil {
		return refused(err)
	}
	whole := string(written)
	return answer{Text: &whole}
}

func refused(err error) answer {
	reason := err.Error()
	return answer{Error: &reason}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle-yaml:", err)
		os.Exit(1)
	}
}

func run() error {
	var questions []question
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		return fmt.Errorf("read the questions: %w", err)
	}
	answers := make([]answer, len(questions))
	for i, q := range questions {
		answers[i] = ask(q)
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}
