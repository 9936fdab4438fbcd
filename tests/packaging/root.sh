#!/usr/bin/env bash
# A minimal Debian system with Python and make, for tests of packages. Source this file, then call
#
#   bare_root <directory>            copies one to <directory>; .cache/roots keeps the original
#   in_root <directory> <command>    runs a shell command in it, without network; /given has the files of `give`
#
# Needs root and debootstrap; without them the tests are skipped with a message.
set -euo pipefail

pattern=.cache/roots/python
left_out() { echo "left out: $*"; exit 0; }
[ "$(id -u)" -eq 0 ] || left_out "an empty root can only be made by root."

bare_root() {
  if [ ! -e "$pattern/.done" ]; then
    command -v debootstrap >/dev/null || left_out "debootstrap is not installed."
    rm -rf "$pattern"
    mkdir -p "$pattern"
    # shellcheck source=/dev/null
    debootstrap --variant=minbase --include=make,python3,python3-venv,ca-certificates \
      "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$pattern" >"$pattern.log" 2>&1 ||
      { tail -5 "$pattern.log" >&2; exit 1; }
    touch "$pattern/.done"
  fi
  rm -rf "$1"
  mkdir -p "$(dirname "$1")"
  cp -a "$pattern" "$1"
  mkdir -p "$1/given"
}

in_root() {
  # shellcheck disable=SC2016
  unshare --mount --net bash -ec 'mount -t proc proc "$0/proc"; exec chroot "$0" env -i \
    PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 bash -ec "$1"' "$1" "$2"
}
