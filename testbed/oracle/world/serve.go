package world

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Serve answers questions for as long as any are asked. Each line of the input is a JSON array of questions, and each
// line of the output an array with an answer to each.
func Serve[Question, Answer any](ask func(Question) Answer) {
	if err := serve(ask); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func serve[Question, Answer any](ask func(Question) Answer) error {
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for {
		line, err := input.ReadBytes('\n')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var questions []Question
		if err := json.Unmarshal(line, &questions); err != nil {
			return fmt.Errorf("read the questions: %w", err)
		}
		answers := make([]Answer, len(questions))
		for i, question := range questions {
			answers[i] = ask(question)
		}
		if err := output.Encode(answers); err != nil {
			return err
		}
	}
}
