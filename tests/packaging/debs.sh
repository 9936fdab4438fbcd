#!/usr/bin/env bash
# Checks the Debian packages with lintian, then installs and uses them in an empty root:
# debs.sh <directory of packages>
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packaging/root.sh
. tests/packaging/root.sh

debs=${1:?usage: debs.sh <directory of packages>}
say() { printf '== %s\n' "$*"; }
say "lintian"
lintian --fail-on error,warning "$debs"/*.deb
say "programs are built against libleapp-dev"
prefix=$PWD/build/roots/dev
rm -rf "$prefix" && mkdir -p "$prefix"
for deb in "$debs"/libleapp-runtime*.deb "$debs"/libleapp-dev*.deb; do dpkg -x "$deb" "$prefix"; done
cmake -G Ninja -S tests/install -B "$prefix/build" -DCMAKE_PREFIX_PATH="$prefix/usr" >/dev/null
cmake --build "$prefix/build" >/dev/null
for deb in "$debs"/libleapp-tools*.deb; do dpkg -x "$deb" "$prefix"; done
cmake -G Ninja -S tests/install -B "$prefix/tools" -DCMAKE_PREFIX_PATH="$prefix/usr" -DCOMPONENT=tools >/dev/null
cmake --build "$prefix/tools" >/dev/null
libraries=$(dirname "$(find "$prefix/usr/lib" -name 'libleapp_runtime.so')")
flags=$(PKG_CONFIG_PATH="$libraries/pkgconfig" pkg-config --cflags --libs leapp_runtime)
# shellcheck disable=SC2086
cc tests/install/runtime.c -o "$prefix/build/c_consumer" $flags
say "installed and used in an empty root"
root=build/roots/debs
bare_root "$root"
cp "$debs"/*.deb "$root/given/"
cp -r "$prefix/build/consumer" "$prefix/build/c_consumer" tests/data/bundles/leapp-cpp-0.1/walker "$root/given/"
# The root has no network, so the dependencies of the packages are copied into it.
depends=$(dpkg-deb -f "$debs"/libleapp-runtime*.deb Depends | grep -o 'libyaml-cpp[0-9.]*')
(cd "$root/given" && apt-get download -qq "$depends")
in_root "$root" "dpkg -i /given/*.deb >/dev/null && leapp --version && leapp inspect /given/walker/walker.yaml >/dev/null
  /given/consumer && /given/c_consumer && test -e /usr/share/man/man1/leapp.1.gz
  if leapp check /given/walker/walker.yaml 2>error; then exit 1; fi; grep -q 'LEAPP_ONNXRUNTIME\|LIBTORCH' error || { cat error; exit 1; }
  dpkg -P leapp libleapp-tools-dev libleapp-tools0.1 libleapp-dev libleapp-runtime0.1 >/dev/null && test ! -e /usr/bin/leapp"
rm -rf "$root" "$prefix"
