#!/bin/sh
# Runs while the image is built: with DEBIAN_SNAPSHOT, Debian's packages are those of that time. The argument is apt's
# directory.
set -eu
archive=${DEBIAN_ARCHIVE:-}
time=${DEBIAN_SNAPSHOT:-}

fail() {
  echo "Cannot take Debian's packages from a snapshot: $1" >&2
  exit 1
}

[ -n "$archive$time" ] || exit 0
[ -n "$time" ] || fail "DEBIAN_ARCHIVE is set, so set DEBIAN_SNAPSHOT too, to a time such as 20261101T000000Z"
[ -n "$archive" ] || fail "DEBIAN_SNAPSHOT is set, so set DEBIAN_ARCHIVE too, to the address of an archive of snapshots"
expr "$time" : '[0-9]\{8\}T[0-9]\{6\}Z$' > /dev/null ||
  fail "DEBIAN_SNAPSHOT is \"$time\"; set it to a time such as 20261101T000000Z"
archive=${archive%/}

rm -f "$1"/sources.list.d/*
# A list of packages is valid for a week, and that of a snapshot is older.
how='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg check-valid-until=no'
cat > "$1/sources.list" << LIST
deb [$how] $archive/debian/$time bookworm main
deb [$how] $archive/debian/$time bookworm-updates main
deb [$how] $archive/debian-security/$time bookworm-security main
LIST
