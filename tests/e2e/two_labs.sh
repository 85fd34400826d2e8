#!/usr/bin/env bash
# Two labs at once, with the same addresses and host names, do not notice each other.
source "$(dirname "$0")/lib.sh"

other=${lab}b
labs+=("$other")

"$bin/kasane-lab" --name "$other" up "$two_tenants" &
other_up=$!
lab up "$shop_ads"
wait "$other_up"

lab matrix --expect "$(expect_of "$shop_ads")" | tail -n 1
"$bin/kasane-lab" --name "$other" matrix --expect "$(expect_of "$two_tenants")" | tail -n 1
"$bin/kasane-lab" --name "$other" down
expect_nothing_left "$other"
lab matrix --expect "$(expect_of "$shop_ads")" | tail -n 1
