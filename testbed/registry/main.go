// Registry is Distribution with storage in files and nothing that calls home.
package main

import (
	"context"
	"log"
	"os"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry"

	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	// Traces would go to a collector on this machine.
	if err := os.Setenv("OTEL_TRACES_EXPORTER", "none"); err != nil {
		log.Fatal(err)
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	config, err := configuration.Parse(file)
	if err != nil {
		log.Fatal(err)
	}
	served, err := registry.NewRegistry(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(served.ListenAndServe())
}
