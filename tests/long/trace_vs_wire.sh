#!/usr/bin/env bash
# What `kasanectl trace` says of random packets in the recorded two-tenant cloud is what the wire then shows.
source "$(dirname "$0")/../e2e/lib.sh"

lab trace-check "$shop_ads" --packets 500 --seed "${KASANE_SEED:-$(date +%s)}"
expect_nothing_left "$lab"
