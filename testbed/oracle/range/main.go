// The oracle of our version ranges: answers how the library that Helm uses understands what it is given.
//
// It reads a JSON array of questions from its input and writes a JSON array with an answer to each.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/Masterminds/semver/v3"
)

// A question is about one text (a version read leniently or strictly, a range) or about two (is the second, a version,
// in the first, a range; how do two versions compare).
type question struct {
	Op    string   `json:"op"`
	Texts []string `json:"texts"`
}

// An answer has exactly one of the two.
type answer struct {
	Value any     `json:"value,omitempty"`
	Error *string `json:"error,omitempty"`
}

func ask(q question) answer {
	value, err := answers(q)
	if err != nil {
		reason := err.Error()
		return answer{Error: &reason}
	}
	return answer{Value: value}
}

func answers(q question) (any, error) {
	switch {
	case q.Op == "lenient" && len(q.Texts) == 1:
		return written(semver.NewVersion(q.Texts[0]))
	case q.Op == "strict" && len(q.Texts) == 1:
		return written(semver.StrictNewVersion(q.Texts[0]))
	case q.Op == "range" && len(q.Texts) == 1:
		return written(semver.NewConstraint(q.Texts[0]))
	case q.Op == "matches" && len(q.Texts) == 2:
		return matches(q.Texts[0], q.Texts[1])
	case q.Op == "compare" && len(q.Texts) == 2:
		return compare(q.Texts[0], q.Texts[1])
	}
	return nil, fmt.Errorf("unknown question %q about %d texts", q.Op, len(q.Texts))
}

func written[T fmt.Stringer](read T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return read.String(), nil
}

func matches(constraint, text string) (any, error) {
	constraints, err := semver.NewConstraint(constraint)
	if err != nil {
		return nil, err
	}
	version, err := semver.NewVersion(text)
	if err != nil {
		return nil, err
	}
	return constraints.Check(version), nil
}

func compare(left, right string) (any, error) {
	one, err := semver.NewVersion(left)
	if err != nil {
		return nil, err
	}
	other, err := semver.NewVersion(right)
	if err != nil {
		return nil, err
	}
	return one.Compare(other), nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle-range:", err)
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
