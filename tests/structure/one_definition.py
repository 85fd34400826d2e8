#!/usr/bin/env python3
"""No type is defined twice: neither in one program, where it would break the One Definition Rule unseen, nor in two.

Reads the sources, not the programs: a link with -Wodr needs LTO, which takes minutes here. Types of anonymous namespaces
and those within functions are the file's own.
"""
import collections
import re
import sys

from sources import code_of, sources

WORD = re.compile(
    r"\b(namespace)\b([^{};=]*)(?=[{;=])|"
    r"\b(enum\s+class|enum\s+struct|enum|struct|class|union)\b((?:\s*\[\[[^\]]*\]\]|\s+alignas\s*\([^)]*\))*)\s*"
    r"([A-Za-z_][\w:]*(?:\s*<[^{};()]*>)?)(\s+final)?\s*(:[^{};()]*)?(?=\{)|"
    r"[{}]")


def types_in(name):
    """Yields (qualified name, line) of each type that other files could see."""
    code = code_of(name)
    scopes = []  # A name; None: anonymous or a function, in which nothing counts.
    pending = ()
    for match in WORD.finditer(code):
        text = match.group()
        if text == "{":
            scopes.append(pending[0] if pending else None)
            pending = ()
        elif text == "}":
            if scopes:
                scopes.pop()
        elif match[1]:
            inner = re.sub(r"\binline\b|\s", "", match[2])
            pending = (inner or None,) if code[match.end()] == "{" else ()
        else:
            pending = (match[5].replace(" ", ""),)
            # A specialization is a type of its own, named with its arguments.
            if None not in scopes:
                yield "::".join([*scopes, pending[0]]), code.count("\n", 0, match.start()) + 1


def main():
    places = collections.defaultdict(list)
    for name in sources("*.h", "*.cc"):
        for qualified, line in types_in(name):
            places[qualified].append(f"{name}:{line}")
    faults = {qualified: at for qualified, at in places.items() if len(at) > 1}
    for qualified, at in sorted(faults.items()):
        print(f"{qualified} is defined {len(at)} times: {', '.join(at)}")
    print(f"{len(places)} types, {len(faults)} defined more than once")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
