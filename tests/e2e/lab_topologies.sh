#!/usr/bin/env bash
# Each recorded topology comes up in time, reaches exactly what it should, and leaves nothing behind.
source "$(dirname "$0")/lib.sh"

for topology in "$shop_ads" "$two_tenants"; do
  start=$(date +%s%3N)
  lab up "$topology"
  took=$(($(date +%s%3N) - start))
  # 3 hypervisors and 18 VMs in under 15 s.
  [ "$took" -lt 15000 ] || fail "$topology took $took ms to come up"
  lab matrix --expect "$(expect_of "$topology")"
  if lab up "$topology" 2>"$work/again"; then fail "a second up of a running lab succeeded"; fi
  grep -q 'is up already' "$work/again" || fail "a second up says: $(cat "$work/again")"
  lab status >/dev/null
  lab down
  expect_nothing_left "$lab"
done
