#!/usr/bin/env python3
"""clang-tidy over the sources named on the command line, several at a time.

    tests/tidy.py BUILD LOG [--jobs N] [--singly] SOURCE...

BUILD is a configured build tree: its compile_commands.json says how each source is compiled. A file's headers
take most of its time, so sources are checked in groups: one translation unit that includes some of them, which
have no name in common. A group that does not compile, or in which anything is found, is checked again file by
file, and only what is found then counts: each finding is of a file as it is compiled, and none is lost. Findings
are written to LOG. Exits with 0 if there are none. --singly: every file by itself, which also shows whether each
includes what it uses.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

GROUP_SIZE = 16
TIDY = ["clang-tidy", "--quiet"]
# The compile commands are g++'s; clang does not know all of their warnings. Headers are read as they are written,
# not precompiled.
CLANG_FLAGS = ["-Wno-unknown-warning-option"]
LEFT_OUT = re.compile(r"-Winvalid-pch$|-c$")
# A definition at the beginning of a line: the last word before its bracket, brace, equals sign or semicolon.
NAME = re.compile(r"^(?!namespace|#|//|using namespace|\})[^\s{}()=;][^{}()=;\n]*?\b(\w+)(?:\[\w*\])?\s*[({=;]", re.M)


def flags_of(command):
    """The compiler's arguments of a compile command, without the output, the source and precompiled headers."""
    arguments = shlex.split(command)
    compiler = next(i for i, word in enumerate(arguments) if re.search(r"(^|/)(c\+\+|g\+\+|clang\+\+)[^/]*$", word))
    flags, words = [], iter(arguments[compiler + 1 : -1])  # The source is last.
    for word in words:
        if word == "-o":
            next(words)
        elif word == "-include":
            header = next(words)
            if not header.endswith("cmake_pch.hxx"):
                flags += [word, header]
        elif word == "-isystem":
            flags.append(word + next(words))  # One word: flags of a group are united word by word.
        elif not LEFT_OUT.match(word):
            flags.append(word)
    return flags


class Source:
    """What may keep a source from sharing a translation unit with another one."""

    def __init__(self, path):
        text = pathlib.Path(path).read_text(encoding="utf-8")
        parts = re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.M | re.S)
        self.path = path
        self.folder = path.split("/")[: 2 if path.startswith("tests/") else 1]
        self.borrowed = set(re.findall(r"^using ((?:\w+::)+\w+);", text, re.M))
        # Those of the unnamed namespaces, and where a program or fuzzer starts.
        self.names = {name for part in parts for name in NAME.findall(part)} - {last(name) for name in self.borrowed}
        self.names |= set(re.findall(r"^(?:extern \"C\" )?int (main|LLVMFuzzerTestOneInput)\(", text, re.M))
        self.words = set(re.findall(r"(?<![:\w])\w+", text))

    def clashes_with(self, other):
        borrowed = {last(name) for name in self.borrowed - other.borrowed} & other.words
        return bool(self.names & other.names or borrowed)


def last(name):
    return name.split("::")[-1]


def grouped(paths):
    """Groups of sources of one top folder, or of one of tests', that can be one translation unit."""
    groups = []
    for source in map(Source, sorted(paths)):
        for group in groups:
            if len(group) < GROUP_SIZE and group[0].folder == source.folder:
                if not any(a.clashes_with(source) or source.clashes_with(a) for a in group):
                    group.append(source)
                    break
        else:
            groups.append([source])
    return [[source.path for source in group] for group in groups]


def tidy(source, flags, *options):
    """None if nothing is found, else what clang-tidy says."""
    run = subprocess.run([*TIDY, *options, source, "--", *flags, *CLANG_FLAGS], capture_output=True, text=True)
    return None if run.returncode == 0 and not run.stdout.strip() else run.stdout + run.stderr


def check_group(folder, number, sources, flags):
    """The findings of a group, by source; first those of all at once, which are only a reason to look closer."""
    if len(sources) > 1:
        unit = folder / f"group{number}.cc"
        # NOLINT: that a source is included is what this file is for.
        unit.write_text("".join(f'#include "{source}"  // NOLINT\n' for source in sources), encoding="utf-8")
        united = list(dict.fromkeys(flag for source in sources for flag in flags[source]))
        options = ["--header-filter=/(agent|controller|vswitch|tests)/[^ ]*\\.(h|cc)$", "--config-file=.clang-tidy"]
        found = tidy(str(unit), united, *options)
        if found is None:
            return {}, None
        (folder / f"group{number}.log").write_text(found, encoding="utf-8")
    findings = {source: tidy(source, flags[source]) for source in sources}
    findings = {source: text for source, text in findings.items() if text is not None}
    return findings, None if len(sources) == 1 or findings else f"group{number}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("log", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--singly", action="store_true")
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    arguments = parser.parse_args()

    top = os.getcwd()
    commands = json.loads((arguments.build / "compile_commands.json").read_text(encoding="utf-8"))
    compiled = [entry for entry in commands if entry["file"].endswith(".cc")]
    flags = {os.path.relpath(entry["file"], top): flags_of(entry["command"]) for entry in compiled}
    for source in arguments.sources:
        # A target that this tree does not have, as fuzzers are: compiled as its nearest neighbour is.
        if source not in flags:
            flags[source] = flags[max(flags, key=lambda other: len(os.path.commonprefix([other, source])))]

    folder = arguments.build / "tidy"
    folder.mkdir(exist_ok=True)
    groups = [[source] for source in arguments.sources] if arguments.singly else grouped(arguments.sources)
    failed = False
    with open(arguments.log, "w", encoding="utf-8") as log, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        checks = [pool.submit(check_group, folder, n, group, flags) for n, group in enumerate(groups)]
        for check in concurrent.futures.as_completed(checks):
            findings, vain = check.result()
            for source, text in findings.items():
                failed = True
                log.write(f"{source}\n{text}\n")
            if vain:
                print(f"   {vain} was checked file by file, in which nothing was found: see {folder / vain}.log")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
