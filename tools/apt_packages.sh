#!/usr/bin/env bash
# Installs the missing Debian packages that LEAPP is built with: apt_packages.sh [docs] [fuzz] [coverage] [aarch64] [deb]
set -euo pipefail

missing=()   # cannot do without
optional=()  # can
# Checks for headers and programs, not for packages, because other distributions use other package names.
need_command() { command -v "$2" >/dev/null || missing+=("$1"); }
need_header() { echo "#include <$2>" | g++ -std=c++20 -E -x c++ - >/dev/null 2>&1 || missing+=("$1"); }
need_library() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q "install ok" || missing+=("$1"); }
want_command() { command -v "$2" >/dev/null || optional+=("$1"); }
want_library() { PATH="$PATH:/sbin" ldconfig -p 2>/dev/null | grep -q "$2" || optional+=("$1"); }

need_command g++ g++
need_command cmake cmake
need_command ninja-build ninja
need_command python3 python3
need_command binutils readelf
need_header libyaml-cpp-dev yaml-cpp/yaml.h
need_header nlohmann-json3-dev nlohmann/json.hpp
need_header libprotozero-dev protozero/pbf_reader.hpp
need_header zlib1g-dev zlib.h
need_header libcli11-dev CLI/CLI.hpp
need_header libgtest-dev gtest/gtest.h
need_header libgmock-dev gmock/gmock.h
need_header libbenchmark-dev benchmark/benchmark.h
want_command ccache ccache        # avoids compiling the same source twice
want_library graphviz libgvc.so   # draws bundles
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then missing+=(python3-venv); fi
if ! python3 -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
  2>/dev/null; then missing+=(python3-dev); fi
for group in "$@"; do
  case $group in
    docs) need_command doxygen doxygen ;;
    fuzz) need_command clang clang++; need_library libclang-rt-dev ;;
    coverage) need_command clang clang++; need_library libclang-rt-dev; need_command llvm llvm-cov ;;
    aarch64) need_command g++-aarch64-linux-gnu aarch64-linux-gnu-g++; need_command qemu-user qemu-aarch64 ;;
    deb) need_command lintian lintian; need_command dpkg-dev dpkg-shlibdeps; need_command debootstrap debootstrap ;;
    *) echo "unknown group of packages: $group" >&2; exit 2 ;;
  esac
done

all=("${missing[@]}" "${optional[@]}")
[ ${#all[@]} -eq 0 ] && exit 0

# Optional packages may be missing.
give_up() {
  [ ${#missing[@]} -gt 0 ] || { echo "Going on without ${optional[*]}." >&2; exit 0; }
  echo "$*" >&2
  exit 1
}
echo "apt packages: ${all[*]}"
command -v apt-get >/dev/null ||
  give_up "There is no apt-get here: install what Debian calls ${missing[*]}, then run this again."
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    give_up "Installing them needs root: run 'apt-get install ${all[*]}' as root, then this again."
  as_root=(sudo)
fi
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
install "${all[@]}" 2>/dev/null || { "${as_root[@]}" apt-get update -qq && install "${all[@]}"; } ||
  { [ ${#optional[@]} -gt 0 ] && [ ${#missing[@]} -gt 0 ] && install "${missing[@]}"; } ||
  give_up "apt-get could not install ${all[*]}: is the network there?"
