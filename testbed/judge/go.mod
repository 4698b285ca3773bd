module fitout.dev/testbed/judge

go 1.26.0

require (
	github.com/Masterminds/semver/v3 v3.5.0
	sigs.k8s.io/yaml v1.6.0
)

require go.yaml.in/yaml/v2 v2.4.2 // indirect
