#!/bin/sh
# precompile.sh <header.gch> <compile command...>: runs the command. Where it makes the precompiled
# header, the checksum of what goes in, macros and all, is left beside it in <header.gch>.sum, which
# ccache hashes in its place (CCACHE_PCH_EXTSUM): GCC writes other bytes each time.
set -e
header=$1
shift
case " $* " in
  *" -x c++-header "*)
    rm -f "$header"
    "$@" -E -P -dD -Wno-invalid-pch  # its text goes where the header will be
    sha256sum < "$header" > "$header.sum"
    rm "$header"
    # A precompiled header contains checksums of the headers in it, comments included: if a comment
    # changed, ccache must not return the former one.
    export CCACHE_COMMENTS=1
    ;;
esac
"$@"
