#!/usr/bin/env bash
# Puts ONNX Runtime's C headers into <directory>/include: onnxruntime_headers.sh <directory>
# The runtime opens ONNX Runtime with dlopen, so a build needs only the headers. The C API is backward compatible:
# headers of an older release work with a newer library. In order: headers that the system already has, the system's
# own package, and on Debian 12, which has none, that of Debian 13, unpacked into <directory> (never installed).
set -euo pipefail

folder=${1:?usage: onnxruntime_headers.sh <folder>}
header=onnxruntime_c_api.h
say() { echo "onnxruntime headers: $*"; }
give_up() { say "$*" >&2; exit 1; }

# Links the directory of the header as <directory>/include.
take() {
  mkdir -p "$folder"
  ln -sfnr "$(dirname "$1")" "$folder/include"
  say "$folder/include -> $(dirname "$1")"
  exit 0
}

[ -f "$folder/include/$header" ] && exit 0

found=$(find /usr/include /usr/local/include /opt -name "$header" -print -quit 2>/dev/null || true)
[ -n "$found" ] && take "$found"

# A system with apt-get has dpkg-deb, which needs no separate xz.
unpack() {
  mkdir -p "$folder/package"
  dpkg-deb -x "$1" "$folder/package" || give_up "$1 could not be unpacked."
}

finish() {
  found=$(find "$folder/package" -name "$header" -print -quit)
  [ -n "$found" ] || give_up "the package libonnxruntime-dev holds no $header."
  take "$found"
}

# shellcheck source=/dev/null
. /etc/os-release 2>/dev/null || ID=unknown
if [ "${ID:-}" != debian ] && ! apt-cache show libonnxruntime-dev >/dev/null 2>&1; then
  give_up "install them (Fedora: onnxruntime-devel), or put the folder that holds $header in place as $folder/include:" \
    "the headers of any release from 1.20 on will do."
fi

mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
root=$(cd "$folder/apt" && pwd)
apt_options=()
if ! apt-cache show libonnxruntime-dev >/dev/null 2>&1; then
  # The machine's own Debian source with only the suite changed, in a separate list: the system's apt never reads it.
  codename=${VERSION_CODENAME:-}
  suite=trixie
  say "Debian '$codename' has no libonnxruntime-dev; unpacking the one of '$suite'"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] && grep -E "^deb .* $codename " "$file" | sed "s/ $codename / $suite /"
  done >"$root/sources.list" || true
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] && awk -v RS= -v codename="$codename" -v suite="$suite" '
      { kept = ""; wanted = 0
        count = split($0, line, "\n")
        for (i = 1; i <= count; i++) {
          if (line[i] ~ "^Suites:" && (line[i] " ") ~ "[ \t]" codename " ") { line[i] = "Suites: " suite; wanted = 1 }
          if (line[i] !~ /^#/) kept = kept line[i] "\n"
        }
        if (wanted) print kept }' "$file"
  done >"$root/debian.sources" || true
  mkdir -p "$root/parts"
  mv "$root/debian.sources" "$root/parts/debian.sources"
  [ -s "$root/sources.list" ] || [ -s "$root/parts/debian.sources" ] ||
    give_up "no apt source for Debian '$codename' found to derive '$suite' from."
  apt_options=(-o "Dir::Etc::sourcelist=$root/sources.list" -o "Dir::Etc::sourceparts=$root/parts"
    -o "Dir::State::lists=$root/lists" -o "Dir::Cache=$root/cache" -o APT::Sandbox::User=)
  apt-get "${apt_options[@]}" update -qq || give_up "apt-get update for '$suite' failed: is the network there?"
fi
(cd "$root" && apt-get "${apt_options[@]}" -o APT::Sandbox::User= download -qq libonnxruntime-dev) ||
  give_up "apt-get download libonnxruntime-dev failed: is the network there?"
unpack "$root"/libonnxruntime-dev_*.deb
rm -rf "$root"
finish
