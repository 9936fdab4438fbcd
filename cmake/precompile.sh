#!/bin/sh
# precompile.sh <header.gch> <compile command...>: runs the command. If it creates the precompiled
# header, the checksum of the preprocessed input, including macros, is written to <header.gch>.sum. ccache
# hashes this file instead of the header (CCACHE_PCH_EXTSUM), because GCC writes other bytes each time.
set -e
header=$1
shift
case " $* " in
  *" -x c++-header "*)
    rm -f "$header"
    "$@" -E -P -dD -Wno-invalid-pch  # write the preprocessed text to the header's path
    sha256sum < "$header" > "$header.sum"
    rm "$header"
    # A precompiled header contains checksums of the headers in it, comments included: if a comment
# changed, ccache must not return the previous one.
    export CCACHE_COMMENTS=1
    ;;
esac
"$@"
