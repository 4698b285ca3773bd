module fitout.dev/testbed/tools

go 1.26.0
