#!/usr/bin/env python3
"""Test suites are named for what they test, with "Test" behind it: TEST(VniTest, RejectsZero).

    test_names.py [--fix]    --fix renames those that are not, with their fixtures
"""
import re
import sys

from sources import TOP, code_of, sources

SUITE = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*(\w+)")


def fix():
    for name in sources("*_test.cc"):
        path = TOP / name
        text = path.read_text(encoding="utf-8")
        changed = re.sub(r"(?m)^TEST\((\w+?)(?<!Test),", r"TEST(\1Test,", text)
        for fixture in set(re.findall(r"(?m)^TEST_[FP]\((\w+?)(?<!Test),", text)):
            changed = re.sub(rf"\b{fixture}\b", f"{fixture}Test", changed)
        if changed != text:
            path.write_text(changed, encoding="utf-8")


def main():
    if sys.argv[1:] == ["--fix"]:
        fix()
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
