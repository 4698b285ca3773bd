// Helm's reading of an index: how long it takes, how much memory, and how much it finds.
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
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "oracle-index:", err)
		os.Exit(1)
	}
}

func run(path string) error {
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
	return json.NewEncoder(os.Stdout).Encode(result)
}
