// Helm itself, but for chance.
package main

import (
	"errors"
	"fmt"
	"os"

	"fitout.dev/testbed/oracle/still"
	helmcmd "helm.sh/helm/v4/pkg/cmd"
)

func main() {
	still.Stand()
	command, err := helmcmd.NewRootCmd(os.Stdout, os.Args[1:], helmcmd.SetupLogging)
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
	if err := command.Execute(); err != nil {
		if refused, ok := errors.AsType[helmcmd.CommandError](err); ok {
			os.Exit(refused.ExitCode)
		}
		os.Exit(1)
	}
}
