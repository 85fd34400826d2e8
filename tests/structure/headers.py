#!/usr/bin/env python3
"""Each header includes what it needs: it compiles by itself.

    headers.py BUILD_FOLDER [--all] [--jobs N]

Those that changed since the last commit's parent, or with --all every one: a header takes a second, all of them minutes. Flags are
those of the source beside it, or of any source in its folder, without the precompiled header.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

from sources import TOP, sources


def changed():
    """Names that differ from before the last commit, and what is not committed."""
    out = subprocess.run(["git", "diff", "--name-only", "HEAD~1"], cwd=TOP, capture_output=True, text=True).stdout
    return set(out.splitlines())


def flags_by_folder(build):
    flags = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        source = os.path.relpath(entry["file"], TOP)
        words = shlex.split(entry["command"])
        kept = [word for i, word in enumerate(words)
                if word.startswith(("-I", "-D", "-std")) or (i and words[i - 1] == "-isystem") or word == "-isystem"]
        flags.setdefault(os.path.dirname(source), kept)
        flags[os.path.splitext(source)[0]] = kept
    return flags


def fault_of(header, flags):
    found = flags.get(os.path.splitext(header)[0]) or flags.get(os.path.dirname(header))
    parent = os.path.dirname(header)
    while not found and parent:
        parent = os.path.dirname(parent)
        found = flags.get(parent)
    if not found:
        return f"{header}: no source in its folder is compiled, so that its flags are not known"
    command = ["g++", *found, "-x", "c++", "-fsyntax-only", "-w", "-include", str(TOP / header), "/dev/null"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    return None if done.returncode == 0 else f"{header} does not compile by itself:\n{done.stderr[:1500]}"


def main():
    parser = argparse.ArgumentParser(description="Compiles headers by themselves.")
    parser.add_argument("build")
    parser.add_argument("--all", action="store_true", help="not only those that changed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    # The shim's headers are C's, and those of Open vSwitch need its order of inclusion.
    headers = [name for name in sources("*.h") if not name.startswith("vswitch/ovs/shim/")]
    if not options.all:
        headers = sorted(set(headers) & changed())
    flags = flags_by_folder(options.build)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        faults = [fault for fault in pool.map(lambda header: fault_of(header, flags), headers) if fault]
    print("\n".join([*faults, f"{len(headers)} headers, {len(faults)} that do not stand alone"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
