#!/usr/bin/env bash
# A controller that comes back with another database is refused, forwarding goes on, and the operator may accept it.
source "$(dirname "$0")/lib.sh"

lab up "$two_tenants"
status() { lab exec hv1 kasanectl status -o json; }
flows() { status | jq -e '.flows'; }
before=$(flows)

lab exec hv1 kasanectl accept 2>"$work/early" && fail "accepted without a refusal"
grep -q "there is nothing to accept" "$work/early" || fail "no reason: $(cat "$work/early")"

# The controller again, on a new database.
controller=$(pgrep -f "kasane-controller .*/run/kasane-lab/$lab/")
mapfile -d '' -t command <"/proc/$controller/cmdline"
kill "$controller"
gone() { ! kill -0 "$controller" 2>/dev/null; }
wait_for 20 gone
rm "/run/kasane-lab/$lab"/controller/store.db*
lab exec controller "${command[@]}" >"$work/controller.log" 2>&1 &
trap 'kill %1 || true; clean_up' EXIT

refused() { status | jq -e '.problems[] | select(.message | contains("does not know timeline") and contains("kasanectl accept"))'; }
wait_for 30 refused >/dev/null
[ "$(flows)" = "$before" ] || fail "forwarding changed before the operator spoke: $before flows, now $(flows)"

lab exec hv1 kasanectl accept
empty() { status | jq -e '.synced and .local_ports == 0 and ([.problems[] | select(.subject | startswith("controller"))] | length) == 0'; }
wait_for 60 empty >/dev/null
lab exec hv1 kasanectl compare

# What was accepted is what a restart finds.
lab restart-agent hv1 --kill
wait_for 30 empty >/dev/null
