// The stopwatch of commands: how long one takes, and how much memory. It is a program of its own and small, because what a
// process uses is counted from the moment at which it still is the one that starts it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// An answer has the time in nanoseconds and the most memory in kilobytes, or why there is none.
type answer struct {
	Wall   int64  `json:"wall"`
	Memory int64  `json:"memory"`
	Error  string `json:"error,omitempty"`
}

func run(words []string) (answer, error) {
	command := exec.Command(words[0], words[1:]...)
	start := time.Now()
	err := command.Run()
	wall := time.Since(start)
	// A chart that is refused takes its time as well.
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return answer{}, err
	}
	used, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return answer{}, errors.New("what a process used is not known here")
	}
	return answer{Wall: wall.Nanoseconds(), Memory: used.Maxrss}, nil
}

// Each line of the input is a JSON array of commands, which are arrays of words.
func main() {
	input := bufio.NewScanner(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for input.Scan() {
		var commands [][]string
		if err := json.Unmarshal(input.Bytes(), &commands); err != nil {
			fmt.Fprintln(os.Stderr, "oracle:", err)
			os.Exit(1)
		}
		answers := make([]answer, len(commands))
		for i, words := range commands {
			var err error
			if answers[i], err = run(words); err != nil {
				answers[i].Error = err.Error()
			}
		}
		if err := output.Encode(answers); err != nil {
			os.Exit(1)
		}
	}
}
