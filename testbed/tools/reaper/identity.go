package main

import (
	"fmt"
	"os"
	"strings"
)

// identity is a process id with its start time: together they name one process
// for as long as the machine runs.
type identity struct {
	pid   int
	start string
}

func (p identity) String() string { return fmt.Sprintf("%d %s", p.pid, p.start) }

func self() identity { return process(os.Getpid()) }

// process is the identity of the process that has this id now.
func process(pid int) identity {
	_, start := status(pid)
	return identity{pid, start}
}

// parse reads "PID START …", and is the zero identity for anything else.
func parse(line string) identity {
	var p identity
	if n, _ := fmt.Sscanf(line, "%d %s", &p.pid, &p.start); n != 2 {
		return identity{}
	}
	return p
}

// alive is false for a zombie too: it runs no more and holds nothing.
func (p identity) alive() bool {
	state, start := status(p.pid)
	return start != "" && start == p.start && state != "Z" && state != "X"
}

// status reads state and start time, fields 3 and 22 of the kernel's line. The
// second field is the program's name, which may itself contain anything.
func status(pid int) (state, start string) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", ""
	}
	fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
	if len(fields) < 20 {
		return "", ""
	}
	return fields[0], fields[19]
}
