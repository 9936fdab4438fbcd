#!/usr/bin/env bash
# Runs every fuzzer of a build tree for some seconds: fuzz.sh <build> <seconds>
# New inputs are stored in <build>/corpus, failing ones in <build>/crashes.
set -euo pipefail

build=${1:?usage: fuzz.sh <build> <seconds>}
seconds=${2:?usage: fuzz.sh <build> <seconds>}
mkdir -p "$build/crashes"
for fuzzer in "$build"/bin/*_fuzz; do
  name=$(basename "$fuzzer")
  found="$build/corpus/$name"
  mkdir -p "$found"
  echo "== $name, $seconds s"
  "$fuzzer" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$build/crashes/$name-" "$found" "fuzz/corpus/${name%_fuzz}" 2>&1 | grep -v "# Uses: \|recommended dictionary"
done
