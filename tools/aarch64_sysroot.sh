#!/usr/bin/env bash
# Fills <directory> with the libraries of an aarch64 build with Debian's cross compiler: aarch64_sysroot.sh <directory>
#   <directory>/sysroot      libraries and headers from Debian's arm64 packages
#   <directory>/onnxruntime  ONNX Runtime, from its wheel on PyPI
# The packages are unpacked, never installed: the system's apt configuration stays unchanged, and no step
# needs root.
set -euo pipefail

folder=${1:?usage: aarch64_sysroot.sh <folder>}
python=${PYTHON:-python3}
give_up() { echo "aarch64: $*" >&2; exit 1; }
command -v apt-get >/dev/null || give_up "there is no apt-get here; the cross-build takes its libraries from Debian."

rm -rf "$folder"
mkdir -p "$folder/sysroot" "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
root=$(cd "$folder" && pwd)
options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= -o "Dir::State::lists=$root/apt/lists"
  -o "Dir::Cache=$root/apt/cache" -o Dir::State::status=/dev/null)
apt-get "${options[@]}" update -qq || give_up "apt-get update failed: is the network there?"
(cd "$root/apt" && apt-get "${options[@]}" download -qq libyaml-cpp-dev zlib1g-dev nlohmann-json3-dev libprotozero-dev libcli11-dev \
  libgtest-dev libgmock-dev googletest) || give_up "apt-get download failed: is the network there?"
for package in "$root"/apt/*.deb; do dpkg -x "$package" "$root/sysroot"; done
rm -rf "$root/apt"

version=1.20.1  # the oldest supported version: Debian 12's qemu crashes while it loads newer ones
"$python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --python-version 3.12 --implementation cp \
  -d "$root/wheel" "onnxruntime==$version" || give_up "pip could not download onnxruntime: is the network there?"
"$python" -m zipfile -e "$root"/wheel/*.whl "$root"
rm -rf "$root/wheel" "$root"/onnxruntime-*.dist-info
