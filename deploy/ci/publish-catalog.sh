#!/bin/sh
# Checks and packages every chart and every extension of a repository, and publishes them where a registry is given.
#
#   publish-catalog.sh [CATALOG] [CHARTS]
#
#   CATALOG   the directory of definitions, EXTENSION/VERSION/definition.yaml   [default: catalog]
#   CHARTS    a directory with a chart in each directory                        [default: charts]
#
# Environment:
#   REGISTRY  the registry to push to, such as oci://registry.example/platform; without it, nothing is pushed
#   VERSION   the tag of the catalog in the registry                            [default: latest]
#   OUTPUT    the directory for archives                                        [default: dist]
#   STRICT    set to 1 to fail on warnings too
#   FITOUT    the program                                                       [default: fitout]
set -eu

catalog=${1:-catalog}
charts=${2:-charts}
output=${OUTPUT:-dist}
fitout=${FITOUT:-fitout}
strict=${STRICT:+--strict}

mkdir -p "$output"

if [ -d "$charts" ]; then
    for chart in "$charts"/*/; do
        [ -f "$chart/Chart.yaml" ] || continue
        # shellcheck disable=SC2086 # no word where it is empty
        "$fitout" chart lint $strict "$chart"
        "$fitout" chart package "$chart" --output-dir "$output"
    done
fi

if [ -d "$catalog" ]; then
    # The charts of this repository are known to the linter, so that definitions that refer to them are rendered.
    set --
    for archive in "$output"/*.tgz; do
        [ -f "$archive" ] || continue
        set -- "$@" --chart "$archive"
    done
    # shellcheck disable=SC2086
    "$fitout" extension lint $strict "$@" "$catalog"
    "$fitout" extension package "$catalog" --output-dir "$output"
fi

if [ -z "${REGISTRY:-}" ]; then
    echo "REGISTRY is not set: nothing is pushed"
    exit 0
fi

for archive in "$output"/*.tgz; do
    [ -f "$archive" ] || continue
    "$fitout" chart push "$archive" "$REGISTRY/charts"
done
for archive in "$output"/*.tar.gz; do
    [ -f "$archive" ] || continue
    "$fitout" extension push "$archive" "$REGISTRY/$(basename "$archive" .tar.gz):${VERSION:-latest}"
done
