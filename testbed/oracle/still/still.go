// Package still takes chance out of Helm.
package still

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	_ "unsafe"

	"fitout.dev/testbed/oracle/world"
	_ "github.com/Masterminds/sprig/v3"
	"github.com/google/uuid"
)

//go:linkname functions github.com/Masterminds/sprig/v3.genericMap
var functions map[string]any

// The clock stands at the beginning of 2026.
var now = time.Unix(1_767_225_600, 0)

type certificate struct {
	Cert string
	Key  string
}

func issued(sort, name string, ips, names []any, days int) certificate {
	text := fmt.Sprintf("%s|%s|%s|%s|%d", sort, name, joined(ips), joined(names), days)
	return certificate{Cert: "CERT|" + text + "\n", Key: "KEY|" + text + "\n"}
}

func joined(parts []any) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = fmt.Sprint(part)
	}
	return strings.Join(texts, ",")
}

// Stand makes chance stand still: random bytes are a stream that begins here, the clock is at the beginning of 2026, keys
// and certificates say what was asked for.
func Stand() {
	stream := &world.Stream{}
	rand.Reader = stream
	uuid.SetRand(stream)
	stubs := map[string]any{
		"now":           func() time.Time { return now },
		"genPrivateKey": func(kind string) string { return "KEY|" + kind + "\n" },
		"genCA": func(name string, days int) (certificate, error) {
			return issued("ca", name, nil, nil, days), nil
		},
		"genCAWithKey": func(name string, days int, key string) (certificate, error) {
			return issued("ca+"+key, name, nil, nil, days), nil
		},
		"genSelfSignedCert": func(name string, ips, names []any, days int) (certificate, error) {
			return issued("self", name, ips, names, days), nil
		},
		"genSelfSignedCertWithKey": func(name string, ips, names []any, days int, key string) (certificate, error) {
			return issued("self+"+key, name, ips, names, days), nil
		},
		"genSignedCert": func(name string, ips, names []any, days int, by certificate) (certificate, error) {
			return issued("signed by "+by.Cert, name, ips, names, days), nil
		},
		"genSignedCertWithKey": func(name string, ips, names []any, days int, by certificate, key string) (certificate, error) {
			return issued("signed by "+by.Cert+"+"+key, name, ips, names, days), nil
		},
		"bcrypt":   func(text string) string { return "BCRYPT|" + text },
		"htpasswd": func(name, text string) string { return name + ":BCRYPT|" + text },
	}
	for name, stub := range stubs {
		functions[name] = stub
	}
}
