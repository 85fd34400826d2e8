#!/usr/bin/env bash
# Cases on the kernel's Open vSwitch, in one boot of user-mode Linux: a few, or all that are marked for it (--full).
source "$(dirname "$0")/lib.sh"

cases=("$top"/tests/cases/{ping_across_hosts,ns_is_answered_locally,tunnel_delivers_to_the_vni}.yaml)
[ -z "${KASANE_TEST_FULL:-}" ] || mapfile -t cases < <(grep -l '^datapaths:.*ovs-kernel' "$top"/tests/cases/*.yaml)

if ! "$bin/kasane-lab" run "${cases[@]}" --datapath ovs-kernel -o json >"$work/report"; then
  cat "$work/report"
  fail "cases failed"
fi
# That none ran must not look like success.
[ "$(jq .passed "$work/report")" = "${#cases[@]}" ] || fail "not every case ran: $(cat "$work/report")"
echo "${#cases[@]} cases in $(jq .seconds "$work/report") s"

# An interrupted run ends the second kernel.
kernels() { pgrep -f "linux.uml.*kasane_out=" | sort || true; }
before=$(kernels)
"$bin/kasane-lab" run "${cases[0]}" --datapath ovs-kernel >"$work/interrupted" &
runner=$!
booted() { [ "$(kernels)" != "$before" ]; }
wait_for 20 booted
interrupt "$runner" "$work/interrupted"
gone() { [ "$(kernels)" = "$before" ]; }
wait_for 20 gone
