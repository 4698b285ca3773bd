// Helm's reading of an index: how long it takes, how much memory, and what it finds.
//
// With a second argument it prints the entries too.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"helm.sh/helm/v4/pkg/repo/v1"
)

// An answer has the time in nanoseconds and the most memory of the process in kilobytes.
type answer struct {
	Time     int64 `json:"time"`
	Memory   int64 `json:"memory"`
	Charts   int   `json:"charts"`
	Versions int   `json:"versions"`

	Entries map[string]repo.ChartVersions `json:"entries,omitempty"`
}

func main() {
	if err := run(os.Args[1], len(os.Args) > 2); err != nil {
		fmt.Fprintln(os.Stderr, "oracle-index:", err)
		os.Exit(1)
	}
}

func run(path string, entries bool) error {
	start := time.Now()
	index, err := repo.LoadIndexFile(path)
	if err != nil {
		return err
	}
	result := answer{Time: time.Since(start).Nanoseconds(), Charts: len(index.Entries)}
	for _, versions := range index.Entries {
		result.Versions += len(versions)
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return err
	}
	result.Memory = used.Maxrss
	if entries {
		result.Entries = index.Entries
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}
