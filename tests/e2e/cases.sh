#!/usr/bin/env bash
# All cases on sim and on real switches; that they can fail, and that nothing is left when they are interrupted.
source "$(dirname "$0")/lib.sh"

# Much of a case is waiting for programs.
"$bin/kasane-lab" run "$top"/tests/cases/*.yaml --datapath sim,ovs --jobs $(($(nproc) * 2))

# A wrong expectation fails on both datapaths.
wrong=$work/wrong.yaml
cp -r "$top/tests/cases/topologies" "$work/"
sed 's/to: r2}/to: r2, answered_by: nobody}/' "$top/tests/cases/ping_across_hosts.yaml" >"$wrong"
if "$bin/kasane-lab" run "$wrong" --datapath sim,ovs -o json >"$work/wrong.json"; then fail "a wrong case passed"; fi
[ "$(jq '[.results[] | select(.failure.seen == "answered by r2")] | length' "$work/wrong.json")" = 2 ] ||
  fail "not both datapaths say who answered: $(cat "$work/wrong.json")"

# A flow that nobody wants is found at the end of a case.
lab up "$two_tenants"
lab exec hv1 kasanectl compare >"$work/compare"
lab exec hv1 ovs-ofctl -O OpenFlow15 add-flow br-int table=7,priority=7,actions=drop
if lab exec hv1 kasanectl compare >"$work/compare"; then fail "kasanectl compare does not see a foreign flow"; fi
grep -q '^extra' "$work/compare" || fail "no extra flow in: $(cat "$work/compare")"

# An interrupted run leaves no lab.
"$bin/kasane-lab" run "$top/tests/cases/garp_is_delivered.yaml" --datapath ovs >"$work/interrupted" &
runner=$!
wait_for 20 compgen -G "/run/netns/kl-c${runner}_*" >/dev/null
kill -TERM "$runner"
status=0
wait "$runner" || status=$?
[ "$status" = 130 ] || fail "an interrupted run exits with $status: $(cat "$work/interrupted")"
expect_nothing_left "c${runner}_0"
