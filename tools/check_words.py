"""Check comments, messages and documentation for phrases that are not plain English.

The rules are a list of phrases, each with its replacement, and the first word of doc comments:
those of functions start with a verb ("Returns"), those of types and members with a noun, and none
with What, Whether, How, Who, Where or Why. Code in backticks, code blocks and strings of tests are
not checked.

Run it from anywhere: ``python tools/check_words.py [PATH ..]``. It prints its findings and exits
with 1 if there are any.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

#: Phrases, and what to write instead. The first match of a passage is reported.
PHRASES = {
    r"(?<!there )\b(?:is|are|was|were) no (?!longer|more|less|larger|smaller|later|further|match)"
    r"\w": "is not a",
    r"(?<!there is )\bno number\b": "NaN",
    r"\btruth values?\b": "bool",
    r"\b(?:taken|takes|take|took|taking) apart\b": "decompose",
    r"\b(?:put|puts|putting) out\b(?! of)": "output, emit, send",
    r"\b(?:takes|took|taken|taking) in\b(?! the| a| an)": "consume, accept",
    r"\b(?:gives|give|gave|given) out\b": "return",
    r"\banew\b": "again",
    r"\bbeside\b": "in addition to, next to",
    r"\bmeanwhile\b": "while .. is active, in the meantime",
    r"\bhand(?:s|ed)? (?:on|out|back)\b": "pass, return",
    r"\bof (?:its|their) own kind\b": "different",
    r"\banother kind\b": "another, different",
    r", say(?:[,.:;)]|$)": "for example",
    r"\bmend(?:s|ed)?\b": "fix",
    r"\bcures?\b": "fix",
    r"\bnobody\b": "no caller, no one",
    r"\banybody\b|\beverybody\b": "any caller, all",
    r"\bof (?:ours|yours|theirs)\b": "our, your, their",
    r"\bof LEAPP's\b": "LEAPP's",
    r"\bgo(?:es)? by\b": "depend on",
    r"\b(?:is|are|was|were) (?:said|told)\b": "report",
    r"\bin words\b": "with a message",
    r"\bin silence\b": "silently",
    r"\blay(?:s)? bare\b": "show",
    r"\bwhat .{1,40} is what\b": "name the noun",
    r"\bfor (?:people|a person)\b": "as text",
    r"^One (?:that|which)\b": "a noun",
    r"\bwhere there (?:is|are) (?:none|one|some)\b": "if there is none",
    r"(?<!there )\bis (?-i:none)\b(?! of)": "is not one",
    r"\bhalves\b": "parts",
    r"\bkinds? of its own\b": "different",
    r"\ball the same\b": "anyway",
    r"\bcomes? of\b": "result from",
    r"\bstands? there\b": "appears",
    r"\bthan (?:was|were) asked\b": "than requested",
    r"\b(?:an?|the|its?|their|each|this|that|of|in|own|another|empty|which) folders?"
    r"\b": "directory",
    r"\bsays? so\b": "report, state, warn",
    r"\b(?:takes?|took|taken|taking) back\b": "undo",
    r"\b(?:puts?|putting) (?:\w+ ){0,3}back\b": "restore",
    r"\bgo(?:es)? on\b": "continue",
    r"\bhands? (?:\w+ )?over\b": "pass",
    r"\bfor ever\b": "forever",
    r"\bcut (?:off|short)\b": "truncate",
    r"\b(?:is|are|was|were) not there\b": "is missing",
    r"\b(?:is|are) gone\b": "is missing, was removed",
    r"\bleaves? \w+ alone\b|\bleft alone\b": "leave unchanged",
    r"\basked for\b": "request",
    r"\b(?:is|are|was|were) what\b": "name the noun",
    r"\bwhat (?:it|they|he|one) (?:is|are|was|were|has|have|had|says?|gives?|makes?|takes?|wrote"
    r"|left|holds?)\b": "name the noun",
    r"\blies? (?:in|beside|beyond|within|at|next)\b": "is",
    r"\bin the place of\b": "instead of",
    r"\b(?:thread|process|directory|file|copy|line|environment|order)s? of (?:its|their) own"
    r"\b": "separate",
    r"\bthe like\b": "and similar",
    r"\bturns? out\b": "prove to be",
}
FIRST_WORDS = {"What", "Whether", "How", "Who", "Where", "Why", "Whose", "Which"}
#: First words of doc comments of functions that do not end like verbs, and are still allowed.
VERBS = {"True"}
CPP = {".h", ".c", ".cpp"}
SCANNED = ("include", "src", "cli", "python", "docs", "tools", "tests", "examples", "benchmarks",
           "fuzz", "integrations", "README.md", "CONTRIBUTING.md", "COMPATIBILITY.md")  # fmt: skip
#: The list of phrases itself, and the test with examples of them.
EXEMPT = ("tools/check_words.py", "tests/python/test_words.py")


class Passage(NamedTuple):
    """A comment, a string or a paragraph, with the line on which it starts."""

    line: int
    kind: str  # "comment", "doc", "function", "string" or "text"
    text: str


STRING = r'"((?:[^"\\\n]|\\.)*)"'
CPP_TOKEN = re.compile(rf"//[^\n]*|/\*.*?\*/|{STRING}|'(?:[^'\\\n]|\\.)+'|R\"\w*\(.*?\)\w*\"", re.S)


def cpp_passages(text: str, *, blocks_are_docs: bool = False) -> Iterator[Passage]:
    """Yield comments and string literals of C or C++; neighbours of one kind are one passage."""
    group: list[tuple[int, str, str]] = []
    line = place = 0
    for match in CPP_TOKEN.finditer(text):
        between = text[place : match.start()]
        kind, content = cpp_token(match)
        starts_line = not text[: match.start()].rpartition("\n")[2].strip()
        if blocks_are_docs and match[0].startswith("/*") and starts_line and match.start() > 0:
            kind = "doc"
        near = not between.strip() and (kind == "string" or between.count("\n") < 2)
        if group and not (near and kind != "trailing" and kind in (group[-1][1], "doc")):
            yield joined(group, text[place:])
            group = []
        line += between.count("\n")
        group.append((line + 1, kind, content))
        line += match[0].count("\n")
        place = match.end()
    if group:
        yield joined(group, text[place:])


def cpp_token(match: re.Match[str]) -> tuple[str, str]:
    """Return the kind and the text of a comment or string."""
    token = match[0]
    if token.startswith("///"):
        return "trailing" if token.startswith("///<") else "doc", token.lstrip("/<").strip()
    if token.startswith(("//", "/*")):
        return "comment", re.sub(r"^[/* ]+|\n *\*+/?|\*/", " ", token).strip()
    return "string", match[1] or ""


def joined(group: list[tuple[int, str, str]], rest: str) -> Passage:
    """Return a group as one passage; a doc comment in front of a function is of kind "function"."""
    line, kind, _ = group[0]
    content = ("" if kind == "string" else " ").join(each[2] for each in group)
    if kind == "doc":
        code = re.match(r"[^;{=]*", rest)
        code_text = re.sub(r"requires\b.*|__attribute__\(.*?\)\)", "", code[0] if code else "")
        named = re.match(
            r"\s*(template.*?>\s*)?(class|struct|enum|using|concept)\b", code_text, re.S
        )
        if "(" in code_text and not named:
            kind = "function"
    return Passage(line, "doc" if kind == "trailing" else kind, content)


def python_passages(text: str) -> Iterator[Passage]:
    """Yield comments and strings of Python."""
    block: list[str] = []
    start = previous = 0
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return
    for token in tokens:
        if token.type == tokenize.COMMENT:
            if block and token.start[0] != previous + 1:
                yield Passage(start, "comment", " ".join(block))
                block = []
            if not block:
                start = token.start[0]
            block.append(token.string.lstrip("#: "))
            previous = token.start[0]
        elif token.type == tokenize.STRING or token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
            body = re.sub(r"^\w*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$", "", token.string)
            kind = "doc" if token.string.startswith('"""') else "string"
            yield Passage(token.start[0], kind, " ".join(body.split()))
    if block:
        yield Passage(start, "comment", " ".join(block))


def markdown_passages(text: str) -> Iterator[Passage]:
    """Yield paragraphs, list items and rows of Markdown, without code."""
    text = re.sub(r"^( *)```.*?^ *```", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)
    start, block = 1, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if not line.strip() or re.match(r" *([-*|#]|\d+\.) ?", line):
            if block.strip():
                yield Passage(start, "text", block)
            start, block = number, line
        else:
            block += " " + line.strip()
    if block.strip():
        yield Passage(start, "text", block)


def passages(path: str, text: str) -> Iterator[Passage]:
    """Yield what people read in a file."""
    suffix = Path(path).suffix
    if suffix in CPP:
        yield from cpp_passages(text, blocks_are_docs=path.startswith("include/"))
    elif suffix in (".py", ".pyi"):
        yield from python_passages(text)
    elif suffix == ".md":
        yield from markdown_passages(text)


def check_text(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield line and reason for everything in a file that is not plain English."""
    for passage in passages(path, text):
        if passage.kind == "string" and path.startswith("tests/"):
            continue
        plain = re.sub(r"`[^`]*`|\[[BR]\d+\]", "x", passage.text)
        for phrase, better in PHRASES.items():
            if match := re.search(phrase, plain, re.IGNORECASE if phrase[0] != "^" else 0):
                yield passage.line, f"'{match[0]}': write '{better}'"
                break
        first = re.match(r"\W*(\w+)", plain)
        if not first or passage.kind not in ("doc", "function"):
            continue
        if first[1] in FIRST_WORDS:
            yield passage.line, f"a doc comment starts with '{first[1]}': use a verb or a noun"
        elif passage.kind == "function" and not (
            first[1].endswith(("s", "ed")) or first[1] in VERBS
        ):
            yield (
                passage.line,
                f"the comment of a function starts with '{first[1]}', not with a verb",
            )


def covered(path: str) -> bool:
    """Return whether the path is checked."""
    inside = any(path == each or path.startswith(each + "/") for each in SCANNED)
    return inside and path not in EXEMPT


def main() -> int:
    """Check the files of the repository, or those that are given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", help="files; all of the repository by default")
    options = parser.parse_args()
    root = Path(__file__).resolve().parents[1]
    found = 0
    for file in sorted(root.rglob("*")):
        path = str(file.relative_to(root))
        if options.paths and not any(path.startswith(each) for each in options.paths):
            continue
        if not file.is_file() or not covered(path):
            continue
        if file.suffix not in {*CPP, ".py", ".pyi", ".md"}:
            continue
        for line, reason in check_text(path, file.read_text()):
            print(f"{path}:{line}: {reason}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
