"""Exports and compares every operator of PyTorch's database.

    python tests/python/opinfo_sweep.py --backend jit
    python tests/python/opinfo_sweep.py --backend onnx --ops cumsum linalg.inv --json result.json

Workers are separate processes: an operator that crashes or hangs affects only its own row.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from opinfo import SAMPLES, Verdict, check_operator, family, operators

OP_TIMEOUT_S = 120.0


def _work(backend: str, via: str, samples: int) -> None:
    """Run a worker: it reads operator names from standard input and writes one JSON verdict per
    line to descriptor 3.
    """
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    table = operators()
    with os.fdopen(int(os.environ["OPINFO_FD"]), "w", buffering=1) as results:
        print("ready", file=results)
        for line in sys.stdin:
            verdict = check_operator(table[line.strip()], backend, via, samples)
            print(json.dumps(dataclasses.asdict(verdict)), file=results)


class _Worker:
    """One process; a crash ends only this process."""

    def __init__(self, backend: str, via: str, samples: int) -> None:
        read_fd, write_fd = os.pipe()
        options = [f"--backend={backend}", f"--via={via}", f"--samples={samples}"]
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            pass_fds=(write_fd,),
            env={**os.environ, "OPINFO_FD": str(write_fd), "OMP_NUM_THREADS": "1"},
        )
        os.close(write_fd)
        self.results = os.fdopen(read_fd)
        self._line(OP_TIMEOUT_S)

    def _line(self, seconds: float) -> str | None:
        """Return one line of the worker, "" if it died, None if it took too long."""
        ready, _, _ = select.select([self.results], [], [], seconds)
        return self.results.readline() if ready else None

    def check(self, name: str) -> Verdict:
        assert self.process.stdin is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        line = self._line(OP_TIMEOUT_S)
        if line:
            return Verdict(**json.loads(line))
        if line is None:
            return Verdict(name, "timeout", f"no answer within {OP_TIMEOUT_S:.0f} s")
        return Verdict(name, "crash", f"worker ended with {self.process.wait()}")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.results.close()


def sweep(
    names: Iterable[str],
    backend: str,
    via: str = "both",
    samples: int = SAMPLES,
    jobs: int = 2,
    report: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Check the named operators in ``jobs`` processes; ``report`` is called at the end of each."""
    todo: queue.Queue[str] = queue.Queue()
    for name in names:
        todo.put(name)
    verdicts: list[Verdict] = []
    lock = threading.Lock()

    def run() -> None:
        worker: _Worker | None = None
        while True:
            try:
                name = todo.get_nowait()
            except queue.Empty:
                break
            worker = worker or _Worker(backend, via, samples)
            verdict = worker.check(name)
            if verdict.status in ("crash", "timeout"):
                worker.close()
                worker = None
            with lock:
                verdicts.append(verdict)
                report(verdict)
        if worker:
            worker.close()

    threads = [threading.Thread(target=run) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(verdicts, key=lambda verdict: verdict.op)


class _Progress:
    """Draw a progress bar on a terminal, nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.bad = total, 0, 0
        self.start = time.monotonic()

    def __call__(self, verdict: Verdict) -> None:
        self.done += 1
        self.bad += verdict.status not in ("pass", "skip")
        if not sys.stderr.isatty():
            return
        filled = 30 * self.done // self.total
        left = (time.monotonic() - self.start) / self.done * (self.total - self.done)
        bar = "#" * filled + "-" * (30 - filled)
        text = f"\r[{bar}] {self.done}/{self.total}, {self.bad} not passed, {left:4.0f} s left "
        print(text, end="", file=sys.stderr, flush=True)
        if self.done == self.total:
            print(file=sys.stderr)


def expected_exceptions(backend: str) -> dict[str, str]:
    """Return the operators that are known to fail, with the reason."""
    sys.path.insert(0, str(Path(__file__).parent))
    import opinfo_expected

    return dict(opinfo_expected.EXPECTED[family(backend)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--backend", default="jit", help="export_with of the node (jit, onnx, ..)")
    parser.add_argument("--via", choices=["model", "manager", "both"], default="both")
    parser.add_argument("--ops", nargs="*", help="only these operators")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, help="write all verdicts here")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        _work(arguments.backend, arguments.via, arguments.samples)
        return 0

    known = operators()
    names = arguments.ops or sorted(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no such operator: {', '.join(unknown)}")
    began = time.monotonic()
    verdicts = sweep(
        names,
        arguments.backend,
        arguments.via,
        arguments.samples,
        arguments.jobs,
        _Progress(len(names)),
    )
    counts = Counter(verdict.status for verdict in verdicts)
    expected = expected_exceptions(arguments.backend)
    surprises = 0
    for verdict in verdicts:
        if verdict.status in ("pass", "skip"):
            if verdict.status == "pass" and verdict.op in expected:
                surprises += 1
                print(f"{verdict.op:45} passes, but is listed as an exception")
            continue
        listed = verdict.status == "error" and verdict.op in expected
        surprises += not listed
        note = f"known: {expected[verdict.op]}" if listed else verdict.message
        print(f"{verdict.op:45} {verdict.status:8} {note}")
    total = len(verdicts) - counts["skip"]
    print(
        f"{arguments.backend}: {counts['pass']} of {total} operators pass "
        f"({arguments.samples} samples each), {counts['wrong']} wrong, {counts['error']} errors, "
        f"{counts['crash']} crashes, {counts['timeout']} timeouts, "
        f"{counts['skip']} not comparable, "
        f"{time.monotonic() - began:.0f} s"
    )
    if arguments.json:
        rows = [dataclasses.asdict(verdict) for verdict in verdicts]
        arguments.json.write_text(json.dumps({"counts": counts, "operators": rows}, indent=1))
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
