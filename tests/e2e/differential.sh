#!/usr/bin/env bash
# Random clouds and random frames: Open vSwitch with Kasane's flows does what the reference says, byte for byte.
set -euo pipefail

bin=${KASANE_BIN:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/bin}
clouds=10
[ -z "${KASANE_TEST_FULL:-}" ] || clouds=300
"$bin/kasane-differential" --clouds "$clouds" --packets 200 --seed "${KASANE_SEED:-$(date +%s)}"
