#!/usr/bin/env bash
# The first `make` on a machine that lacks something: it succeeds, or ends with one sentence that
# says what to do.
# The root has Python and make, but no network and no compiler.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packaging/root.sh
. tests/packaging/root.sh

root=build/roots/first_run
bare_root "$root"
mkdir -p "$root/leapp"
git ls-files -z | xargs -0 cp --parents -t "$root/leapp"
in_root "$root" "useradd --create-home robot && chown -R robot /leapp"

# says <case> <words of the message> <command>: the command fails, and its last line contains the
# words.
says() {
  if in_root "$root" "cd /leapp && $3" >"$root/output" 2>&1; then
    echo "$1: it should have failed" >&2
    exit 1
  fi
  # The last line, without make's own line about the failed target.
  sentence=$(grep -v '^make' "$root/output" | tail -1)
  grep -qE "$2" <<<"$sentence" || { echo "$1: '$2' is not in:"; cat "$root/output"; exit 1; } >&2
  printf '%-22s %s\n' "$1:" "$sentence"
}

# without <file> <command>: runs the command while the file is moved away.
without='without() { mv "$1" /kept; status=0; bash -c "$2" || status=$?; mv /kept "$1"; return $status; }; without'

says "no root, no sudo" "apt-get install .*g\+\+" "su robot -s /bin/bash -c 'make build'"
says "no network" "is the network there" "make build"
says "no apt-get" "install what Debian calls .*g\+\+" "$without /usr/bin/apt-get 'make build'"
says "no Python" "install .* python3 " "$without /usr/bin/python3 'make build'"
says "ONNX Runtime's headers" "is the network there" "tools/onnxruntime_headers.sh /tmp/headers"
says "the same elsewhere" "put the folder that holds" \
  "sed -i s/ID=debian/ID=ubuntu/ /etc/os-release && tools/onnxruntime_headers.sh /tmp/headers"
in_root "$root" "mkdir -p /leapp/.cache/stamps && touch -d tomorrow /leapp/.cache/stamps/apt"
says "an old Python" "Python 3.10 or newer" "make .cache/venv-false/.stamp PYTHON=false"
says "no network for pip" "is the network there" "make .venv/.stamp"
says "no torch, from source" "pip install torch" \
  "PYTHONPATH=tools python3 -c 'import wheel_metadata; wheel_metadata.dynamic_metadata({}, {})'"
rm -rf "$root"
