// Keeper sees to it that nothing of the testbed outlives its use.
//
// A bed is a directory that holds all there is of one cluster. Files in it say
// what else belongs to it:
//
//	owner      the process it lives for; absent: it stays until it is ended
//	processes  every process that was started for it
//	cgroup     the name of its control groups
//	link       the network link on the host's side
//
// A process is named by its id and its start time, so that an id the kernel
// has given to somebody else since is never mistaken for ours.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const usage = `reaper run BED NAME COMMAND...   become COMMAND, recorded in BED
reaper end BED                   end all that belongs to BED, and remove it
reaper sweep BEDS                end each bed in BEDS whose owner is gone
reaper watch BEDS                sweep BEDS when standard input closes
reaper init                      be the first process of a node
`

func main() {
	if err := act(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "reaper:", err)
		os.Exit(1)
	}
}

func act(args []string) error {
	switch {
	case len(args) >= 4 && args[0] == "run":
		return run(args[1], args[2], args[3:])
	case len(args) == 2 && args[0] == "end":
		return end(args[1], func(string) bool { return true })
	case len(args) == 2 && args[0] == "sweep":
		return sweep(args[1])
	case len(args) == 2 && args[0] == "watch":
		return watch(args[1])
	case len(args) == 1 && args[0] == "init":
		return initialise()
	}
	return errors.New("usage:\n" + usage)
}

// run records this process and then becomes the command: there is no moment at
// which the command runs and is not on record. Whoever ends the bed reads the
// record once, so it is written before that, or not at all: the lock is let go
// when the command takes over.
func run(bed, name string, command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	held, err := lock(bed, syscall.LOCK_SH)
	if err != nil {
		return err
	}
	if !isAt(held, bed) {
		return fmt.Errorf("%s has ended", bed)
	}
	record, err := os.OpenFile(filepath.Join(bed, "processes"), os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(record, "%s %s\n", self(), name); err != nil {
		return err
	}
	// A session of its own: what happens to the terminal it was started from is no business of its.
	_, _ = syscall.Setsid()
	return syscall.Exec(path, command, os.Environ())
}

// watch waits for its owner to go, however that happens: the kernel closes the
// pipe on a clean exit, a panic and a kill alike.
func watch(beds string) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	parent := process(os.Getppid())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	until(5*time.Second, func() bool { return !parent.alive() })
	return sweep(beds)
}

func sweep(beds string) error {
	entries, err := os.ReadDir(beds)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var failures []error
	for _, entry := range entries {
		bed := filepath.Join(beds, entry.Name())
		failures = append(failures, end(bed, abandoned))
	}
	// Only an empty directory can be removed this way; beds in use stay.
	_ = os.Remove(beds)
	return errors.Join(failures...)
}

// abandoned tells a bed whose owner is gone; one whose maker was gone before it
// could even write its name into it, which would have taken less than a moment;
// and what a tool wrote that went on after its bed had gone: whatever stays
// without an owner has processes.
func abandoned(bed string) bool {
	if owner := parse(read(bed, "owner")); owner.pid != 0 {
		return !owner.alive()
	}
	nobodys := strings.HasPrefix(filepath.Base(bed), ".") || read(bed, "processes") == ""
	info, err := os.Stat(bed)
	return err == nil && nobodys && time.Since(info.ModTime()) > time.Minute
}

// end ends what belongs to a bed, if it is to be ended, and removes it. Others
// may be about to do the same, and a free number is taken again at once: so the
// bed is locked before it is looked at, and gives its number back in one step,
// by changing its name.
func end(bed string, wanted func(bed string) bool) error {
	if !wanted(bed) {
		return nil
	}
	held, err := lock(bed, syscall.LOCK_EX)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer held.Close()
	if !isAt(held, bed) || !wanted(bed) {
		return nil
	}
	if err := endProcesses(bed); err != nil {
		return err
	}
	if name := read(bed, "cgroup"); name != "" {
		removeCgroups(name)
	}
	if link := read(bed, "link"); link != "" {
		// The link went with the node's network namespace, or never left ours.
		_ = exec.Command("ip", "link", "delete", link).Run()
	}
	gone := filepath.Join(filepath.Dir(bed), fmt.Sprintf(".gone-%s-%d", filepath.Base(bed), os.Getpid()))
	if err := os.Rename(bed, gone); err != nil {
		return err
	}
	return removeAll(gone)
}

func lock(dir string, how int) (*os.File, error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// isAt is false when a directory has been removed or renamed since it was opened.
func isAt(dir *os.File, path string) bool {
	opened, err := dir.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(path)
	return err == nil && os.SameFile(opened, found)
}

func endProcesses(bed string) error {
	var ours []identity
	for _, line := range strings.Split(read(bed, "processes"), "\n") {
		if p := parse(line); p.pid != 0 {
			ours = append(ours, p)
		}
	}
	for _, p := range ours {
		if p.alive() {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	for _, p := range ours {
		if !until(20*time.Second, func() bool { return !p.alive() }) {
			return fmt.Errorf("process %d of %s does not end", p.pid, bed)
		}
	}
	return nil
}

// removeAll tries for a while: a process that was just killed may still be
// letting go of its files.
func removeAll(dir string) error {
	var err error
	until(5*time.Second, func() bool { err = os.RemoveAll(dir); return err == nil })
	return err
}

// removeCgroups removes the groups called name, innermost first, in every
// hierarchy of control groups there is. A group can be removed once it holds
// no process.
func removeCgroups(name string) {
	groups, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup/*", name))
	groups = append(groups, filepath.Join("/sys/fs/cgroup", name))
	for _, group := range groups {
		var inner []string
		_ = filepath.WalkDir(group, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				inner = append(inner, path)
			}
			return nil
		})
		for i := len(inner) - 1; i >= 0; i-- {
			until(2*time.Second, func() bool {
				err := syscall.Rmdir(inner[i])
				return err == nil || errors.Is(err, syscall.ENOENT)
			})
		}
	}
}

// initialise does what the first process of a process namespace has to do:
// stay, and reap what others leave behind. Killing it ends the namespace.
func initialise() error {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP)
	children := make(chan os.Signal, 16)
	signal.Notify(children, syscall.SIGCHLD)
	fmt.Println("ready")
	for range children {
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
	return nil
}

// until polls: a process that is not a child of ours cannot be waited for.
func until(limit time.Duration, done func() bool) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		if done() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

func read(bed, name string) string {
	content, _ := os.ReadFile(filepath.Join(bed, name))
	return strings.TrimSpace(string(content))
}
