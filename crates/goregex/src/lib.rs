//! Go's `regexp`: patterns are accepted and refused as Go does, and match what they match in Go.
