#!/usr/bin/env bash
# The first `make` of a stranger, where something is missing: each ends in success or in one sentence that says what to do.
#
#   first_run.sh [python]     the root has no network, no compiler and no PyTorch; <python> makes the environment of an old pip
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packaging/root.sh
. tests/packaging/root.sh

root=build/roots/first_run
bare_root "$root"
mkdir -p "$root/leapp"
git ls-files -z | xargs -0 cp --parents -t "$root/leapp"
in_root "$root" "useradd --create-home robot && chown -R robot /leapp"

# says <what it is about> <words of the sentence> <command>: it fails, and the last line says so.
says() {
  if in_root "$root" "cd /leapp && $3" >"$root/output" 2>&1; then
    echo "$1: it should have failed" >&2
    exit 1
  fi
  # Last but make's own line about the target that failed.
  sentence=$(grep -v '^make' "$root/output" | tail -1)
  grep -qE "$2" <<<"$sentence" || { echo "$1: '$2' is not in:"; cat "$root/output"; exit 1; } >&2
  printf '%-22s %s\n' "$1:" "$sentence"
}

as_user="su robot -s /bin/bash -c"
says "no root, no sudo" "apt-get install .*g\+\+" "$as_user 'make build'"
says "no network" "is the network there" "make build"
says "no apt-get" "install what Debian calls .*g\+\+" "mv /usr/bin/apt-get /usr/bin/kept && make build; mv /usr/bin/kept /usr/bin/apt-get; exit 1"
says "no Python" "python3" "chmod -x /usr/bin/python3.* && make build; chmod +x /usr/bin/python3.*; exit 1"
says "no torch, from source" "pip install torch" "PYTHONPATH=tools python3 -c 'import wheel_metadata; wheel_metadata.dynamic_metadata({}, {})'"
rm -rf "$root"
