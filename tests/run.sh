#!/usr/bin/env bash
# All tests: installs what is missing, builds, and runs everything that .ci/run runs.
#
#   tests/run.sh [--full] [PHASE...]
#
# Phases, all by default: build format structure unit lab tidy e2e. Unit tests are built and run with ASan and UBSan,
# and only so; the programs, which the lab and end-to-end tests run, as for release. --full repeats the
# end-to-end tests of crashes and restarts many times, lints each file by itself, and runs tests/long/ (the fuzzers,
# which as unit tests run their corpora and some thousand changes of them; the trace against the wire). The last line
# is "N passed, N failed"; the exit status is 0 only if none failed. The log of each phase is in build/test-logs/.
set -uo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top" || exit 1
logs=$top/build/test-logs
jobs=$(nproc)
passed=0
failed=0
failures=()
timings=()
e2e_timeout=900  # Seconds, for each end-to-end test.

die() {
  echo "run.sh: $*" >&2
  exit 1
}

pass() { passed=$((passed + ${1:-1})); }
fail() {
  failed=$((failed + 1))
  failures+=("$1")
}

seconds() { printf '%d.%01d' $(($1 / 1000000000)) $(($1 / 100000000 % 10)); }

# phase NAME FUNCTION: runs it, with its time. Phases count by pass and fail.
phase() {
  local name=$1 start took
  start=$(date +%s%N)
  echo "== $name"
  "$2"
  took=$(seconds $(($(date +%s%N) - start)))
  echo "   $name took $took s"
  timings+=("$name $took s")
}

# logged NAME COMMAND...: keeps the output; shows its end if the command fails.
logged() {
  local log=$logs/$1.log
  shift
  "$@" >"$log" 2>&1 && return
  grep -m 8 -A 4 -E 'error:|FAILED|\*\*\*Failed' "$log" || tail -n 25 "$log"
  echo "   all of it: $log"
  return 1
}

# configure_and_build PRESET FOLDER TARGET...
configure_and_build() {
  logged "$1-configure" cmake --preset "$1" && logged "$1-build" cmake --build "$2" --target "${@:3}"
}

# run_ctest FOLDER LABEL: counts each test by ctest's own report. That none ran is a failure too.
run_ctest() {
  local log=$logs/$(basename "$1")-$2.log
  ctest --test-dir "$1" -L "$2" -j "$jobs" --output-on-failure >"$log" 2>&1
  local status=$? name ok bad=0
  ok=$(grep -cE ' Test +#[0-9]+: .* Passed ' "$log")
  pass "$ok"
  while read -r name; do
    fail "$2: $name"
    bad=$((bad + 1))
  done < <(sed -nE 's/.* Test +#[0-9]+: ([^ ]+) .*\*\*\*.*/\1/p' "$log")
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    fail "$2: ctest exited with $status and names no test; see $log"
  elif [ "$ok" -eq 0 ]; then
    fail "$2: no test passed; see $log"
  fi
  tail -n 4 "$log" | grep -E 'tests passed|No tests' || true
  [ "$status" -eq 0 ] || sed -n '/\*\*\*/,/^ *[0-9]*\/[0-9]* Test/p' "$log" | head -n 80
}

phase_install() { deploy/install-deps.sh || die "the packages could not be installed"; }

phase_build() {
  configure_and_build release build programs lab_tests || die "the build failed"
  pass
}

# Asked of git's list and the files it does not know yet: a folder that is missing must not fail the pipes below.
our_sources() { git ls-files --cached --others --exclude-standard -- '*.h' '*.cc' '*.c'; }

phase_format() {
  if our_sources | xargs clang-format --dry-run -Werror >"$logs/format.log" 2>&1; then
    pass
  else
    grep -E '(error|warning):' "$logs/format.log" | cut -d: -f1 | sort -u | sed 's/^/   not formatted: /' ||
      tail -n 25 "$logs/format.log"
    fail "format: run clang-format -i on the files named above; see $logs/format.log"
  fi
}

# What the sources look like from above: folders, types, suites, headers.
phase_structure() {
  local check all=()
  [ -z "${KASANE_TEST_FULL:-}" ] || all=(--all)
  for check in "include_graph.py --draw build/structure" one_definition.py test_names.py "headers.py build ${all[*]}"; do
    # shellcheck disable=SC2086  # Its arguments are words.
    if tests/structure/$check >"$logs/structure.log" 2>&1; then
      pass
      tail -n 1 "$logs/structure.log" | sed 's/^/   /'
    else
      tail -n 30 "$logs/structure.log"
      fail "structure: ${check%% *}"
    fi
  done
}

phase_lab() { run_ctest build lab; }

phase_unit() {
  if configure_and_build asan build-asan unit_tests; then
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 \
      UBSAN_OPTIONS=print_stacktrace=1 run_ctest build-asan unit
  else
    fail "unit: the build failed"
  fi
}

phase_tidy() {
  local sources options=()
  # Each file by itself, which takes three times as long, also shows that what it includes is enough for it.
  [ -z "${KASANE_TEST_FULL:-}" ] || options=(--singly)
  # Tests are left out: gtest's macros take half of the time and none of the findings matter there.
  mapfile -t sources < <(our_sources | grep '\.cc$' | grep -vE '_test\.cc$|^tests/bench/')
  if tests/tidy.py build "$logs/tidy.log" --jobs "$jobs" "${options[@]}" "${sources[@]}"; then
    pass
  else
    grep -E '(error|warning):' "$logs/tidy.log" | sort -u | head -n 40
    fail "tidy: see $logs/tidy.log"
  fi
}

phase_e2e() {
  local test name start took
  if [ "$(id -u)" -ne 0 ]; then
    echo "   end-to-end tests make network namespaces: run tests/run.sh as root"
    fail "e2e: not root"
    return
  fi
  for test in tests/e2e/*.sh ${KASANE_TEST_FULL:+tests/long/*.sh}; do
    name=$(basename "$test" .sh)
    [ "$name" != lib ] || continue
    start=$(date +%s%N)
    if timeout "$e2e_timeout" "$test" >"$logs/e2e-$name.log" 2>&1; then
      took=$(seconds $(($(date +%s%N) - start)))
      echo "   passed: $name ($took s)"
      pass
    else
      echo "   FAILED: $name; $logs/e2e-$name.log ends with:"
      tail -n 25 "$logs/e2e-$name.log" | sed 's/^/      /'
      fail "e2e: $name"
    fi
  done
}

phases=()
for argument in "$@"; do
  case $argument in
    --full)
      export KASANE_TEST_FULL=1
      e2e_timeout=3600
      ;;
    -h | --help)
      sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    build | format | structure | unit | lab | tidy | e2e) phases+=("$argument") ;;
    *) die "unknown argument $argument; see tests/run.sh --help" ;;
  esac
done
[ "${#phases[@]}" -gt 0 ] || phases=(build format structure unit lab tidy e2e)

mkdir -p "$logs"
start=$(date +%s%N)
phase install phase_install
for name in "${phases[@]}"; do phase "$name" "phase_$name"; done

echo "== summary"
(
  IFS=,
  echo "   took $(seconds $(($(date +%s%N) - start))) s:${timings[*]/#/ }"
)
for failure in "${failures[@]}"; do echo "   failed: $failure"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
