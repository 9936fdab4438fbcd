#!/usr/bin/env bash
# Builds the wheels leapp-runtime and leapp from nothing, as pip does, for the torch of <python>: wheels.sh <python> <folder>
#
# Their names say on which systems they run: auditwheel finds out, and takes in what those do not have, yaml-cpp. libtorch
# comes with the package torch, and leapp's runtime with leapp-runtime.
set -euo pipefail

python=${1:?usage: wheels.sh <python> <folder>}
folder=${2:?usage: wheels.sh <python> <folder>}
bin=$(cd "$(dirname "$python")" && pwd)
rm -rf build/wheel build/wheel-runtime "$folder"
# The compiler by the name that CMake uses by itself, so that ccache knows what the build tree has compiled.
CC=cc CXX=c++ "$python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$folder/plain" ./python/runtime .
for wheel in "$folder"/plain/*.whl; do
  PATH="$bin:$PATH" "$python" -m auditwheel repair -w "$folder" --exclude 'libtorch*' --exclude 'libc10*' \
    --exclude 'libleapp_runtime*' --exclude 'libleapp_tools*' "$wheel" >"$folder/auditwheel.log" 2>&1 || { cat "$folder/auditwheel.log" >&2; exit 1; }
done
rm -r "$folder/plain" "$folder/auditwheel.log"
(cd "$folder" && du -h --apparent-size -- *.whl)
