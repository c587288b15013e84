#!/bin/sh
# In ssh's place for hosts that are network namespaces: netns_ssh.sh [options] HOST COMMAND.. As with ssh the words become one
# line for a shell there, whose environment is a fresh one, but for what HORNGATE_TEST_LOGIN sets.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
# shellcheck disable=SC2086
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp HORNGATE_TEST_LOGIN="$HORNGATE_TEST_LOGIN" $HORNGATE_TEST_LOGIN \
  ip netns exec "$host" unshare --uts sh -c 'hostname "$0" && cd /tmp && exec sh -c "$1"' "$host" "$*"
