#!/usr/bin/env bash
# A resource file with every kind of fault gets all of them in one go, each with file and path, and nothing
# of it is applied.
source "$(dirname "$0")/lib.sh"

lab up "$two_tenants"
before=$(lab exec controller kasanectl get all -o json | jq -cS '[.. | .id? // empty] | sort')

file=$top/tests/e2e/bad_input.yaml
if lab exec controller kasanectl apply -f "$file" >"$work/out" 2>&1; then fail "it was applied"; fi
cat "$work/out"

# expect_fault PATH WORDS: on one line, after the file's name.
expect_fault() {
  grep -F "$file" "$work/out" | grep -F "$1" | grep -qiE "$2" || fail "no fault at $1 that says \"$2\""
}
expect_fault 'networks[0].colour' 'no known field'
expect_fault 'networks[2].id' 'also the id of networks\[0*1\]'
expect_fault 'subnets[2].cidr' '10\.2\.0\.0/33'
expect_fault 'subnets[3].network_id' '0000000000ff'
expect_fault 'ports[0].fixed_ips[0].ip_address' '10\.1\.0\.0/24'
expect_fault 'ports[1].mac_address' 'fa:16:3e:00:00:01'
expect_fault 'ports[3]' 'overlap'
grep -qx '7 faults; nothing was applied' "$work/out" || fail "it does not say that there are 7 faults and nothing was applied"

after=$(lab exec controller kasanectl get all -o json | jq -cS '[.. | .id? // empty] | sort')
[ "$before" = "$after" ] || fail "something of it was stored"
