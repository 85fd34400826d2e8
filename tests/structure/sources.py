"""The project's sources, for the checks of this folder."""
import pathlib
import re
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]


def sources(*patterns):
    """Paths of what git has or would take, relative to the top."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    out = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout
    return [name for name in out.splitlines() if (TOP / name).is_file()]


TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|#(?:\\\n|[^\n])*',
    re.DOTALL)


def code_of(name):
    """The text without comments, strings and preprocessor lines; line breaks are kept."""
    text = (TOP / name).read_text(encoding="utf-8")
    # A digit separator is no quote.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    return TOKENS.sub(lambda match: "\n" * match.group().count("\n") + " ", text)
