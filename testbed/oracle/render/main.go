// The stopwatch of rendering: how long Helm's own packages take for a chart, in process.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fitout.dev/testbed/oracle/still"
	"fitout.dev/testbed/oracle/world"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

// A question is about the chart in a directory, which is rendered so many times.
type question struct {
	Chart string `json:"chart"`
	Times int    `json:"times"`
}

// An answer has the mean time of each step (loading from memory, values and templates, sorting what was rendered), or why
// there is none.
type answer struct {
	Load   int64  `json:"load"`
	Render int64  `json:"render"`
	Sort   int64  `json:"sort"`
	Error  string `json:"error,omitempty"`
}

func ask(q question) answer {
	a, err := render(q)
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func files(dir string) (files []*archive.BufferedFile, err error) {
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, &archive.BufferedFile{Name: name, Data: data})
		return err
	})
	return files, err
}

func render(q question) (a answer, err error) {
	files, err := files(q.Chart)
	if err != nil {
		return a, err
	}
	version, err := common.ParseKubeVersion("1.36.0")
	if err != nil {
		return a, err
	}
	capabilities := common.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	release := common.ReleaseOptions{Name: "release", Namespace: "space", IsInstall: true, Revision: 1}
	var load, rendering, sorting time.Duration
	for range q.Times {
		start := time.Now()
		chart, err := loader.LoadFiles(files)
		if err != nil {
			return a, err
		}
		load += time.Since(start)
		start = time.Now()
		values := map[string]any{}
		if err := chartutil.ProcessDependencies(chart, values); err != nil {
			return a, err
		}
		top, err := util.ToRenderValues(chart, values, release, capabilities)
		if err != nil {
			return a, err
		}
		rendered, err := engine.Render(chart, top)
		if err != nil {
			return a, err
		}
		rendering += time.Since(start)
		start = time.Now()
		for path := range rendered {
			if filepath.Base(path) == "NOTES.txt" {
				delete(rendered, path)
			}
		}
		if _, _, err := releaseutil.SortManifests(rendered, nil, releaseutil.InstallOrder); err != nil {
			return a, err
		}
		sorting += time.Since(start)
	}
	mean := func(total time.Duration) int64 { return total.Nanoseconds() / int64(q.Times) }
	return answer{Load: mean(load), Render: mean(rendering), Sort: mean(sorting)}, nil
}

func main() {
	still.Stand()
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "oracle: questions are read from the input")
		os.Exit(2)
	}
	world.Serve(ask)
}
