// Standin takes the place of any image in a test.
//
//	standin serve …     answer every probe: HTTP, HTTPS and gRPC on each port
//	standin exit …      end with 0 at once, as a Job does
//	standin pause       hold a pod's namespaces
//	standin dial ADDR…  say of each tcp:HOST:PORT or udp:HOST:PORT whether it answers
//
// What follows `serve` and `exit` are the arguments of the program it stands in
// for. Every number in them and in PORTS that can be a port is served, beside
// the ports that charts commonly probe.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	mode, args := "serve", []string(nil)
	if len(os.Args) > 1 {
		mode, args = os.Args[1], os.Args[2:]
	}
	switch mode {
	case "serve":
		serve(ports(append(args, os.Getenv("PORTS"))))
		awaitEnd()
	case "pause":
		awaitEnd()
	case "dial":
		os.Exit(dial(args))
	case "exit":
	default:
		fmt.Fprintf(os.Stderr, "standin: %q is not serve, exit, pause or dial\n", mode)
		os.Exit(2)
	}
}

// awaitEnd also reaps: as the first process of a pod that shares its process
// namespace, orphans come to it.
func awaitEnd() {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGINT, syscall.SIGTERM)
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	for {
		select {
		case <-ends:
			return
		case <-children:
			for pid := 1; pid > 0; {
				pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			}
		}
	}
}
