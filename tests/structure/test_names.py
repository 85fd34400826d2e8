#!/usr/bin/env python3
"""Test suites are named for what they test, with "Test" behind it: TEST(VniTest, RejectsZero)."""
import re
import sys

from sources import code_of, sources

SUITE = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*(\w+)")


def main():
    faults = []
    suites = set()
    for name in sources("*_test.cc"):
        for suite in sorted(set(SUITE.findall(code_of(name)))):
            suites.add(suite)
            if not re.fullmatch(r"[A-Z]\w*Test", suite):
                faults.append(f"{name}: the suite {suite} should be {suite}Test")
    print("\n".join([*faults, f"{len(suites)} suites, {len(faults)} with another name"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
