// The oracle of charts: answers what Helm's own packages make of flags, files, archives, values and schemas.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing/fstest"

	"fitout.dev/testbed/oracle/world"
	charts "helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	loaders "helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/cli/values"
	"helm.sh/helm/v4/pkg/ignore"
	"helm.sh/helm/v4/pkg/strvals"
	"sigs.k8s.io/yaml"
)

type question struct {
	Op string `json:"op"`
	// "strvals": what is set, in which form, and into what.
	Text string          `json:"text"`
	Form string          `json:"form"`
	Into json.RawMessage `json:"into"`
	// Files of a chart, or those that a flag names: name and content.
	Files [][2]string `json:"files"`
	// An archive, in base64.
	Archive *string `json:"archive"`
	// "process": the user's values. "schema": the values.
	Values json.RawMessage `json:"values"`
	// "ignore": what is looked at, and whether it is a directory.
	Path string `json:"path"`
	Dir  bool   `json:"dir"`
	// "flags"
	Set map[string][]string `json:"set"`
}

// An answer has a value or an error, and what Helm said on the way.
type answer struct {
	Value    any      `json:"value,omitempty"`
	Error    *string  `json:"error,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

var said bytes.Buffer

func ask(q question) (a answer) {
	said.Reset()
	defer func() {
		if cause := recover(); cause != nil {
			a = refused(fmt.Errorf("panic: %v", cause))
		}
		for _, line := range strings.Split(said.String(), "\n") {
			if line != "" {
				a.Warnings = append(a.Warnings, line)
			}
		}
	}()
	value, err := dispatch(q)
	if err != nil {
		return refused(err)
	}
	return answer{Value: value}
}

func dispatch(q question) (any, error) {
	switch q.Op {
	case "strvals":
		return set(q)
	case "flags":
		return flags(q)
	case "values":
		return loaded(loader.LoadValues(strings.NewReader(q.Text)))
	case "ignore":
		rules, err := ignore.Parse(strings.NewReader(q.Text))
		if err != nil {
			return nil, err
		}
		rules.AddDefaults()
		return rules.Ignore(q.Path, entry(q.Dir)), nil
	case "load":
		c, err := load(q)
		if err != nil {
			return nil, err
		}
		return described(c), nil
	case "process":
		return settled(q)
	case "schema":
		given, err := table(q.Values)
		if err != nil {
			return nil, err
		}
		return validate(given, []byte(q.Text))
	}
	return nil, fmt.Errorf("unknown question %q", q.Op)
}

// validate asks more than once: of several things that make a schema none, the library names any.
func validate(values map[string]any, schema []byte) (any, error) {
	err := util.ValidateAgainstSingleSchema(values, schema)
	for range 8 {
		again := util.ValidateAgainstSingleSchema(values, schema)
		if first(err) != first(again) {
			return "chance", nil
		}
	}
	return true, err
}

// first is the first line of what makes a schema none; of what is wrong with values, any may come first.
func first(err error) string {
	if err == nil {
		return ""
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	if strings.HasPrefix(line, "- at ") {
		return "- at"
	}
	return line
}

func loaded(values map[string]any, err error) (any, error) {
	return tagged(values), err
}

func set(q question) (any, error) {
	into, err := table(q.Into)
	if err != nil {
		return nil, err
	}
	switch q.Form {
	case "typed":
		err = strvals.ParseInto(q.Text, into)
	case "string":
		err = strvals.ParseIntoString(q.Text, into)
	case "json":
		err = strvals.ParseJSON(q.Text, into)
	case "literal":
		err = strvals.ParseLiteralInto(q.Text, into)
	case "file":
		err = strvals.ParseIntoFile(q.Text, into, func(name []rune) (any, error) {
			for _, file := range q.Files {
				if file[0] == string(name) {
					return file[1], nil
				}
			}
			return nil, fmt.Errorf("open %s: no such file or directory", string(name))
		})
	}
	if err != nil {
		return nil, err
	}
	return tagged(into), nil
}

// flags are what `helm template` makes of all of them together.
func flags(q question) (any, error) {
	options := values.Options{
		ValueFiles: q.Set["files"], JSONValues: q.Set["json"], Values: q.Set["set"], StringValues: q.Set["string"],
		FileValues: q.Set["file"], LiteralValues: q.Set["literal"],
	}
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	for _, file := range q.Files {
		if err := os.WriteFile(file[0], []byte(file[1]), 0o600); err != nil {
			return nil, err
		}
	}
	merged, err := options.MergeValues(nil)
	return tagged(merged), err
}

func entry(dir bool) fs.FileInfo {
	mode := fs.FileMode(0o644)
	if dir {
		mode |= fs.ModeDir
	}
	info, _ := fs.Stat(fstest.MapFS{"x": {Mode: mode}}, "x")
	return info
}

func load(q question) (*chart.Chart, error) {
	if q.Archive != nil {
		raw, err := base64.StdEncoding.DecodeString(*q.Archive)
		if err != nil {
			return nil, err
		}
		c, err := loaders.LoadArchive(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		return sorted(c.(*chart.Chart)), nil
	}
	var files []*archive.BufferedFile
	for _, file := range q.Files {
		if file[0] == "Chart.yaml" {
			if err := detect(file[1]); err != nil {
				return nil, err
			}
		}
		files = append(files, &archive.BufferedFile{Name: file[0], Data: []byte(file[1])})
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, err
	}
	return sorted(c), nil
}

// sorted is the chart with the charts in it in the order of their folders, where Helm takes any order.
func sorted(c *chart.Chart) *chart.Chart {
	dependencies := slices.Clone(c.Dependencies())
	slices.SortFunc(dependencies, func(a, b *chart.Chart) int { return strings.Compare(a.Name(), b.Name()) })
	c.SetDependencies(dependencies...)
	for _, dependency := range dependencies {
		sorted(dependency)
	}
	return c
}

// chartBase is what Helm looks at in a directory before it decides who loads it.
type chartBase struct {
	APIVersion string `json:"apiVersion,omitempty"`
}

func detect(text string) error {
	base := new(chartBase)
	if err := yaml.Unmarshal([]byte(text), base); err != nil {
		return fmt.Errorf("cannot load Chart.yaml: %w", err)
	}
	switch base.APIVersion {
	case chart.APIVersionV1, chart.APIVersionV2, "":
		return nil
	}
	return errors.New("unsupported chart version")
}

// settled asks more than once, because Helm goes through maps as they come: what varies cannot be compared.
func settled(q question) (any, error) {
	first, err := process(q)
	wanted, _ := json.Marshal(first)
	for range 2 {
		again, err2 := process(q)
		got, _ := json.Marshal(again)
		if fmt.Sprint(err) != fmt.Sprint(err2) || !bytes.Equal(wanted, got) {
			return "chance", nil
		}
	}
	said.Reset()
	return process(q)
}

// process is what happens to values before templates see them: of each chart, its own.
func process(q question) (any, error) {
	c, err := load(q)
	if err != nil {
		return nil, err
	}
	given, err := table(q.Values)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependencies(c, given); err != nil {
		return nil, err
	}
	top, err := util.ToRenderValues(c, given, common.ReleaseOptions{Name: "r", Namespace: "n", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	all := map[string]any{"values": tagged(top["Values"].(common.Values).AsMap()), "shared": shared(top["Values"].(common.Values))}
	visit(c, func(c *chart.Chart) {
		seen, _ := all["charts"].([]any)
		all["charts"] = append(seen, map[string]any{
			"path": c.ChartFullPath(), "metadata": tagged(metadata(c)), "defaults": tagged(c.Values),
		})
	})
	return all, nil
}

func visit(c *chart.Chart, see func(*chart.Chart)) {
	see(c)
	for _, dependency := range c.Dependencies() {
		visit(dependency, see)
	}
}

// shared marks a table two levels down in the globals of each chart, and tells what all values look like then: what is
// shared is marked more than once.
func shared(values map[string]any) any {
	mark(values, "root")
	return tagged(values)
}

func mark(values map[string]any, name string) {
	for key, value := range values {
		inner, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if key == "global" {
			deep(inner, name)
		} else {
			mark(inner, name+"."+key)
		}
	}
}

func deep(table map[string]any, name string) {
	for key, value := range table {
		if inner, ok := value.(map[string]any); ok && key != "marks" {
			deep(inner, name)
		}
	}
	if _, marked := table["marks"]; !marked {
		table["marks"] = map[string]any{}
	}
	if marks, ok := table["marks"].(map[string]any); ok {
		marks[name] = true
	}
}

func described(c *chart.Chart) any {
	dependencies := map[string]any{}
	for _, dependency := range c.Dependencies() {
		dependencies[dependency.Name()] = described(dependency)
	}
	var crds []any
	for _, crd := range c.CRDObjects() {
		crds = append(crds, crd.Filename)
	}
	lock := any(nil)
	if c.Lock != nil {
		lock = map[string]any{"digest": c.Lock.Digest, "count": len(c.Lock.Dependencies)}
	}
	return map[string]any{
		"metadata": tagged(metadata(c)), "lock": lock, "values": tagged(c.Values), "schema": string(c.Schema),
		"templates": listed(c.Templates), "files": listed(c.Files), "raw": len(c.Raw), "path": c.ChartFullPath(),
		"dependencies": dependencies, "crds": len(crds),
	}
}

// metadata is `.Chart`.
func metadata(c *chart.Chart) map[string]any {
	accessor, err := charts.NewAccessor(c)
	if err != nil {
		panic(err)
	}
	return accessor.MetadataAsMap()
}

func listed(files []*common.File) any {
	list := []any{}
	for _, file := range files {
		list = append(list, []any{file.Name, string(file.Data)})
	}
	return list
}

func table(raw json.RawMessage) (map[string]any, error) {
	decoded, err := world.Decode(raw)
	if err != nil {
		return nil, err
	}
	if table, ok := decoded.(map[string]any); ok {
		return table, nil
	}
	return map[string]any{}, nil
}

// tagged is a value in which whole numbers of Go can be told from floats.
func tagged(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return map[string]any{}
		}
		object := map[string]any{}
		for key, inner := range value {
			object[key] = tagged(inner)
		}
		return object
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = tagged(item)
		}
		return list
	case int64:
		return map[string]any{"$int64": fmt.Sprint(value)}
	case int:
		return map[string]any{"$int": fmt.Sprint(value)}
	case map[string]string:
		return map[string]any{"$texts": value}
	}
	return value
}

func refused(err error) answer {
	reason := err.Error()
	return answer{Error: &reason}
}

func main() {
	log.SetFlags(0)
	log.SetOutput(&said)
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn})))
	log.SetFlags(0)
	log.SetOutput(&said)
	world.Serve(ask)
}
