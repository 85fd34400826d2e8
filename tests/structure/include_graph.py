#!/usr/bin/env python3
"""Which folder includes which, held to the table in ARCHITECTURE.md.

    include_graph.py [--draw FOLDER]

A row's last column says what a folder may use; what that may use is allowed too. An include that is not allowed, a folder
that is in no row, and a circle are failures, also a circle between subfolders of one row, or between one and what stands
beside it. tests/ may use all, nothing else may use tests/, and its own folders form no circle. Unit tests, and what only
they use (test_*.h, testing/), are in no circle: they stand above the code beside them. --draw writes include_graph.txt and .dot (and .svg where Graphviz is installed) into FOLDER.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

from sources import TOP, sources

ROW = re.compile(r"^\| ((?:`[^`]+/`(?:, )?)+) \|.*\| ([^|]+) \|$")
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.MULTILINE)
GENERATED = "kasane/v1/"  # From proto/.


def read_table():
    """{folder: the folders that it may use}, closed."""
    allowed = {}
    for line in (TOP / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if not row:
            continue
        folders, column = re.findall(r"`([^`]+)/`", row[1]), row[2]
        words = [word.strip() for word in re.sub(r"[`/]|\(.*?\)", "", column).split(",")]
        uses = set()
        for word in words:
            if word == "–":
                continue
            if word.startswith("all"):
                uses.update(allowed)
                continue
            used = [name for name in allowed if name == word or name.endswith("/" + word)]
            if not used:
                sys.exit(f"ARCHITECTURE.md: {folders[0]}/ may use \"{word}\", which is no folder of a row above")
            uses.update(used)
        for used in list(uses):
            uses |= allowed[used]
        allowed.update({folder: uses for folder in folders})
    return allowed


def folder_of(path, table):
    """The longest row that holds `path`; a folder of tests/ is one by itself."""
    if path.startswith(GENERATED):
        return "proto"
    parts = pathlib.PurePath(path).parts
    if parts[0] == "tests" and len(parts) > 2:
        return "/".join(parts[:2])
    for length in range(len(parts) - 1, 0, -1):
        if "/".join(parts[:length]) in table:
            return "/".join(parts[:length])
    return None


def read_graph(table):
    """{(from, to): [(file, included)]} and the sources that are in no row."""
    arrows = collections.defaultdict(list)
    strays = []
    for name in sources("*.h", "*.cc", "*.c"):
        here = folder_of(name, table)
        if here is None:
            strays.append(name)
            continue
        for included in INCLUDE.findall((TOP / name).read_text(encoding="utf-8")):
            is_ours = included.startswith(GENERATED) or (TOP / included).is_file()
            there = folder_of(included, table) if is_ours else None
            if there is not None and there != here:
                arrows[here, there].append((name, included))
    return arrows, strays


def is_test(path):
    name = pathlib.PurePath(path)
    return path.startswith("tests/") or name.stem.endswith("_test") or name.stem.startswith("test") or "testing" in name.parts


def read_subfolders():
    """The arrows between all folders, as they are on disk."""
    arrows = collections.defaultdict(list)
    for name in sources("*.h", "*.cc", "*.c"):
        if is_test(name):
            continue
        for included in INCLUDE.findall((TOP / name).read_text(encoding="utf-8")):
            here, there = os.path.dirname(name), os.path.dirname(included)
            if here != there and not is_test(included) and (TOP / included).is_file():
                arrows[here, there].append((name, included))
    return arrows


def is_allowed(here, there, table):
    if here.startswith("tests/"):
        return True
    return not there.startswith("tests") and there in table[here]


def find_circles(arrows):
    """The strongly connected parts of more than one folder."""
    reach = collections.defaultdict(set)
    for here, there in arrows:
        reach[here].add(there)
    changed = True
    while changed:
        changed = False
        for here in list(reach):
            more = set().union(*(reach[there] for there in reach[here] if there in reach)) - reach[here]
            if more:
                reach[here] |= more
                changed = True
    rings = {frozenset(there for there in reach[here] if here in reach.get(there, ())) for here in reach}
    return [sorted(ring) for ring in rings if len(ring) > 1]


def draw(arrows, folder):
    os.makedirs(folder, exist_ok=True)
    base = pathlib.Path(folder) / "include_graph"
    uses = collections.defaultdict(list)
    for here, there in sorted(arrows):
        uses[here].append(f"{there} ({len(arrows[here, there])})")
    base.with_suffix(".txt").write_text("".join(f"{here}: {', '.join(there)}\n" for here, there in uses.items()))
    lines = [f'  "{here}" -> "{there}" [label={len(arrows[here, there])}];' for here, there in sorted(arrows)]
    base.with_suffix(".dot").write_text("digraph includes {\n  rankdir=BT; node [shape=box];\n" + "\n".join(lines) + "\n}\n")
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg", "-o", base.with_suffix(".svg"), base.with_suffix(".dot")], check=True)


def main():
    parser = argparse.ArgumentParser(description="Holds includes to the table in ARCHITECTURE.md.")
    parser.add_argument("--draw", metavar="FOLDER", help="write the graph there, as text and DOT")
    options = parser.parse_args()
    table = read_table()
    arrows, strays = read_graph(table)
    faults = [f"{name}: its folder is in no row of ARCHITECTURE.md" for name in strays]
    for (here, there), files in sorted(arrows.items()):
        if not is_allowed(here, there, table):
            faults += [f"{name}: includes {included}, but {here}/ may not use {there}/" for name, included in files]
    faults += [f"a circle of includes: {', '.join(ring)}" for ring in find_circles(arrows)]
    subfolders = read_subfolders()
    for ring in find_circles(subfolders):
        faults.append(f"a circle of includes between folders: {', '.join(ring)}")
        for (here, there), files in sorted(subfolders.items()):
            if here in ring and there in ring:
                faults.append(f"  {here}/ uses {there}/ by {len(files)}, as {files[0][0]} includes {files[0][1]}")
    if options.draw:
        draw(arrows, options.draw)
    for fault in faults:
        print(fault)
    print(f"{len(arrows)} arrows between {len({f for arrow in arrows for f in arrow})} folders, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
