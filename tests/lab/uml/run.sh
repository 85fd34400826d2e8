#!/usr/bin/env bash
# Runs a command under a second kernel, user-mode Linux, which has the kernel datapath of Open vSwitch.
#
#   tests/lab/uml/run.sh OUT_DIR COMMAND [ARGUMENT...]
#
# The command sees this machine's file system read-only, as root, with an empty /tmp and /run of its own; OUT_DIR
# (existing) is writable and is where results go. What the command prints comes out as it is printed; its exit status is
# this script's. 125: the kernel did not boot or did not come to an end.
set -euo pipefail

die() {
  echo "uml: $*" >&2
  exit 125
}

[ $# -ge 2 ] || die "usage: tests/lab/uml/run.sh OUT_DIR COMMAND [ARGUMENT...]"
out=$(cd "$1" && pwd) || die "$1 is not a directory"
shift
kernel=$(command -v linux.uml) || die "linux.uml is missing: apt-get install user-mode-linux (deploy/install-deps.sh does)"
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
top=$(cd "$here/../../.." && pwd)

# What the script inside needs to know, in a file: the kernel's command line is short.
{
  printf 'top=%q\nmemory_tmp=256m\nworking_directory=%q\ncommand=(' "$top" "$PWD"
  printf '%q ' "$@"
  printf ')\n'
} >"$out/uml.env"
rm -f "$out/uml.status"
: >"$out/uml.output"

# umid: a name of its own, so that several run at once. HOME must be writable for ~/.uml.
HOME=$out timeout --kill-after=10 "${KASANE_UML_TIMEOUT:-3600}" "$kernel" rootfstype=hostfs rootflags=/ ro \
  mem="${KASANE_UML_MEMORY:-1536M}" quiet umid="kasane-$$" init="$here/init.sh" kasane_out="$out" con=null con0=fd:0,fd:1 \
  </dev/null >"$out/uml.log" 2>&1 &
booted=$!
trap 'kill "$booted" 2>/dev/null; wait "$booted" || true; exit 130' HUP INT TERM
tail --pid="$booted" -n +1 -s 0.2 -f "$out/uml.output" &
wait "$booted" || true
wait
[ -s "$out/uml.status" ] || die "it ended without a result; see $out/uml.log"
exit "$(cat "$out/uml.status")"
