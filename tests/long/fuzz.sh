#!/usr/bin/env bash
# Each fuzzer in tests/fuzz runs for KASANE_FUZZ_SECONDS (10, 600 for the long form) from its corpus and finds nothing.
# What it finds stays in build-fuzz/found/NAME/; the input that shows the fault belongs into the corpus with the fix.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${KASANE_FUZZ_SECONDS:-10}

cmake --preset fuzz >/dev/null
cmake --build build-fuzz --target fuzzers

# run NAME: prints libFuzzer's last line, which counts the inputs.
run() {
  local name=$1 log=build-fuzz/$1.log
  mkdir -p "build-fuzz/corpus/$name" "build-fuzz/found/$name"
  if "build-fuzz/bin/${name}_fuzz" -max_total_time="$seconds" -max_len=4096 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="build-fuzz/found/$name/" "build-fuzz/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, none wrong"
  else
    tail -n 40 "$log"
    echo "FAIL: $name"
    return 1
  fi
}

running=()
for fuzzer in build-fuzz/bin/*_fuzz; do
  run "$(basename "$fuzzer" _fuzz)" &
  running+=($!)
done
failed=0
for pid in "${running[@]}"; do wait "$pid" || failed=1; done
exit "$failed"
