"""Measures which branches of the core its own tests take: coverage.py <build tree>.

Run by `make coverage`. The tree is one of the preset `coverage`, built with clang: branches are
those of the source, as llvm-cov counts them. Both outcomes of each condition count. Only the tests
of the core run; the coverage of other tests is left out. Prints a table, then each function with
outcomes that no test takes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    "base",
    "bundle",
    "compare",
    "onnx",
    "runtime",
    "runtime_engines",
    "runtime_engines_cpp",
    "runtime_engines_onnx",
    "controller",
    "faults",
)
#: Files of the code that runs in every tick: the controller, and these of the runtime.
TICK_PATH = (
    "src/core/controller/",
    "src/core/runtime/session_tick.cpp",
    "src/core/runtime/session.cpp",
    "src/core/runtime/buffers.cpp",
    "src/core/runtime/finite.",
    "src/core/runtime/engines/cpp/cpp_engine.cpp",
    "src/core/base/word_ring.h",
)


class Place(NamedTuple):
    """A condition in the source, from where to where."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class Branch(NamedTuple):
    """Number of times that a condition was true and false, in all tests and instances."""

    function: str
    taken: int
    left: int

    @property
    def covered(self) -> int:
        """Number of the two outcomes that a test reached."""
        return (self.taken > 0) + (self.left > 0)


def run_tests(build: Path) -> tuple[list[Path], Path]:
    """Build and run the tests of the core; return their programs and the merged counts."""
    counts = build / "coverage"
    counts.mkdir(exist_ok=True)
    programs = [build / "bin" / f"{name}_tests" for name in TESTS]
    targets = [program.name for program in programs]
    subprocess.run(["cmake", "--build", build, "--target", *targets], check=True)
    raw: list[Path] = []
    for program in programs:
        file = counts / f"{program.name}.profraw"
        environment = {**os.environ, "LLVM_PROFILE_FILE": f"{file}.%p"}
        done = subprocess.run([program, "--gtest_brief=1"], env=environment)
        if done.returncode != 0:
            raise SystemExit(f"{program.name} failed, so its counts are not whole")
        raw += counts.glob(f"{program.name}.profraw.*")
    merged = counts / "merged.profdata"
    subprocess.run(["llvm-profdata", "merge", "-sparse", *raw, "-o", merged], check=True)
    for file in raw:
        file.unlink()
    return programs, merged


def export(programs: list[Path], merged: Path) -> dict[str, Any]:
    """Return llvm-cov's export of the core's coverage."""
    command: list[str | Path] = ["llvm-cov", "export", f"-instr-profile={merged}", programs[0]]
    for program in programs[1:]:
        command += ["-object", program]
    found = subprocess.run(command, check=True, capture_output=True)
    exported: dict[str, Any] = json.loads(found.stdout)
    return exported


def demangle(names: list[str]) -> dict[str, str]:
    """Return the names of functions in readable form, without their arguments."""
    text = "\n".join(name.split(":")[-1] for name in names)
    output = subprocess.run(["c++filt", "-p"], input=text, capture_output=True, text=True).stdout
    cleaned = [
        line.replace("(anonymous namespace)::", "").replace("leapp::", "")
        for line in output.splitlines()
    ]
    return dict(zip(names, cleaned, strict=True))


def branches(exported: dict[str, Any]) -> dict[Place, Branch]:
    """Return every branch of the core, summed over template instances and programs."""
    functions = exported["data"][0]["functions"]
    names = demangle([function["name"] for function in functions])
    found: dict[Place, Branch] = {}
    for function in functions:
        for line, column, end_line, end_column, taken, left, file, *_ in function["branches"]:
            name = os.path.relpath(function["filenames"][file], ROOT)  # of headers: "build/../.."
            if not name.startswith("src/core/"):
                continue
            place = Place(name, line, column, end_line, end_column)
            former = found.get(place, Branch(names[function["name"]], 0, 0))
            found[place] = Branch(former.function, former.taken + taken, former.left + left)
    return found


def share(chosen: list[Branch]) -> str:
    """Return covered outcomes of all outcomes, as text."""
    covered, total = sum(branch.covered for branch in chosen), 2 * len(chosen)
    return f"{covered} of {total} ({100 * covered / max(total, 1):.1f} %)"


def report(found: dict[Place, Branch]) -> None:
    """Print the table and the uncovered functions."""
    files: dict[str, list[Branch]] = defaultdict(list)
    for place, branch in found.items():
        files[place.file].append(branch)
    parts = {"controller and tick path": True, "the rest of the core": False}
    print("| part | branches that tests take |\n|---|---|")
    for part, in_tick in parts.items():
        chosen = [
            b for f, each in files.items() if f.startswith(TICK_PATH) == in_tick for b in each
        ]
        print(f"| {part} | {share(chosen)} |")
    print("\n| file | branches that tests take |\n|---|---|")
    for file, each in sorted(files.items()):
        print(f"| `{file.removeprefix('src/core/')}` | {share(each)} |")
    print()
    left: dict[tuple[str, str], list[str]] = defaultdict(list)
    for place, branch in sorted(found.items()):
        if branch.covered < 2:
            never = "true" if branch.taken == 0 and branch.left else "false"
            never = never if branch.covered else "reached"
            left[place.file, branch.function].append(f"{place.line} never {never}")
    for (file, function), lines in left.items():
        print(f"{file}: {function}: {', '.join(lines)}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--no-run", action="store_true", help="report on the last run's counts")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if arguments.no_run:
        programs = [build / "bin" / f"{name}_tests" for name in TESTS]
        merged = build / "coverage" / "merged.profdata"
    else:
        programs, merged = run_tests(build)
    report(branches(export(programs, merged)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
