#!/usr/bin/env bash
# Installs the Debian packages LEAPP is built with, only those that are missing: apt_packages.sh [docs] [fuzz]
set -euo pipefail

missing=()
# A package is there when its command is (it may come from elsewhere), else when dpkg knows it.
need_command() { command -v "$2" >/dev/null || missing+=("$1"); }
need_library() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q "install ok" || missing+=("$1"); }

need_command g++ g++
need_command cmake cmake
need_command ninja-build ninja
need_command ccache ccache
need_command python3 python3
need_command binutils readelf
need_library libyaml-cpp-dev
need_library libssl-dev
need_library nlohmann-json3-dev
need_library libprotozero-dev
need_library zlib1g-dev
need_library libgvc6
need_library libcli11-dev
need_library libgtest-dev
need_library libgmock-dev
need_library libbenchmark-dev
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then missing+=(python3-venv); fi
if ! python3 -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
  2>/dev/null; then missing+=(python3-dev); fi
for group in "$@"; do
  case $group in
    docs) need_command doxygen doxygen ;;
    fuzz) need_command clang clang++; need_library libclang-rt-dev ;;
    *) echo "unknown group of packages: $group" >&2; exit 2 ;;
  esac
done

[ ${#missing[@]} -eq 0 ] && exit 0
echo "apt packages: ${missing[*]}"
command -v apt-get >/dev/null ||
  { echo "There is no apt-get here: install what these Debian packages hold, then run this again." >&2; exit 1; }
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    { echo "Installing them needs root: run 'apt-get install ${missing[*]}' as root, then this again." >&2; exit 1; }
  as_root=(sudo)
fi
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
install 2>/dev/null || { "${as_root[@]}" apt-get update -qq && install; } ||
  { echo "apt-get could not install ${missing[*]}: is the network there?" >&2; exit 1; }
