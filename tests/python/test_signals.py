"""Signals that arrive while LEAPP works: the program's handlers get them."""

from __future__ import annotations

import importlib
import itertools
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench

import leapp
from leapp import LeappError, _patches, _signals, _state, annotate


class Ended(Exception):
    """Raised by the handler of a test."""


@pytest.fixture
def handler() -> Iterator[Callable[[Any], Any]]:
    """Install handlers of SIGTERM for one test."""
    former = signal.getsignal(signal.SIGTERM)
    yield lambda function: signal.signal(signal.SIGTERM, function)
    signal.signal(signal.SIGTERM, former)


def raise_ended(*_: Any) -> None:
    raise Ended


def send() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


class TestDeferred:
    def test_calls_handlers_between_steps(self, handler: Any) -> None:
        seen: list[int] = []
        handler(lambda number, _: seen.append(number))
        with _signals.Deferred() as signals:
            send()
            assert not seen
            signals.deliver()
            assert seen == [signal.SIGTERM]
            signals.deliver()
            send()
            assert seen == [signal.SIGTERM]
        assert seen == [signal.SIGTERM, signal.SIGTERM]

    def test_an_exception_of_a_handler_ends_the_block(self, handler: Any) -> None:
        handler(raise_ended)
        with pytest.raises(Ended), _signals.Deferred() as signals:
            send()
            signals.deliver()
        assert signal.getsignal(signal.SIGTERM) is raise_ended

    def test_every_handler_is_called(self, handler: Any) -> None:
        called: list[int] = []

        def raise_noted(number: int, _: Any) -> None:
            called.append(number)
            raise Ended

        handler(raise_noted)
        former = signal.signal(signal.SIGUSR1, raise_noted)
        try:
            with pytest.raises(Ended), _signals.Deferred():
                send()
                os.kill(os.getpid(), signal.SIGUSR1)
        finally:
            signal.signal(signal.SIGUSR1, former)
        assert sorted(called) == sorted([signal.SIGTERM, signal.SIGUSR1])

    def test_a_handler_may_replace_itself(self, handler: Any) -> None:
        handler(lambda *_: handler(raise_ended))
        with _signals.Deferred() as signals:
            send()
            signals.deliver()
        assert signal.getsignal(signal.SIGTERM) is raise_ended

    def test_does_nothing_in_other_threads(self, handler: Any) -> None:
        handler(raise_ended)
        found: list[Any] = []

        def look() -> None:
            with _signals.Deferred():
                found.append(signal.getsignal(signal.SIGTERM))

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert found == [raise_ended]


def run_pass(scale: float = 2.0) -> None:
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    annotate.output_tensors("n", {"y": x * scale}, export_with="jit")


def sending_at(check: int) -> Callable[[], bool]:
    """Return a function for compile_graph(cancelled=..) that sends a signal in its n-th call."""
    calls = itertools.count()

    def is_cancelled() -> bool:
        if next(calls) == check:
            send()
        return False

    return is_cancelled


def files_in(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "log.txt"}


class TestCompiling:
    def test_a_signal_leaves_the_previous_bundle(self, bench: Workbench, handler: Any) -> None:
        with bench.trace():
            run_pass()
        leapp.compile_graph(visualize=False)
        former = files_in(bench.path("g"))
        with bench.trace():
            run_pass(3.0)
            run_pass(3.0)
        handler(raise_ended)
        for check in range(8):
            with pytest.raises(Ended):
                leapp.compile_graph(visualize=False, cancelled=sending_at(check))
            assert files_in(bench.path("g")) == former
            assert [p.name for p in bench.folder.iterdir()] == ["g"]
            assert signal.getsignal(signal.SIGTERM) is raise_ended
        assert leapp.compile_graph(visualize=False) == {"n": True}

    def test_a_handler_that_returns_stops_nothing(self, bench: Workbench, handler: Any) -> None:
        with bench.trace():
            run_pass()
        seen: list[int] = []
        handler(lambda number, _: seen.append(number))
        results = leapp.compile_graph(visualize=False, cancelled=sending_at(0))
        assert results == {"n": True}
        assert seen == [signal.SIGTERM]

    def test_the_log_of_a_signal_is_complete(self, bench: Workbench, handler: Any) -> None:
        """Python does not call a handler while it writes a line of the log, which must not fail."""

        class Sending(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                send()
                written.append(record.getMessage())

        written: list[str] = []
        with bench.trace():
            run_pass()
        handler(raise_ended)
        logger, sending = logging.getLogger("leapp"), Sending(logging.DEBUG)
        level = logger.level
        logger.addHandler(sending)
        logger.setLevel(logging.DEBUG)
        try:
            with pytest.raises(Ended):
                leapp.compile_graph(visualize=False)
        finally:
            logger.removeHandler(sending)
            logger.setLevel(level)
        assert written

    def test_another_thread_cancels(self, bench: Workbench) -> None:
        with bench.trace():
            run_pass()
        caught: list[Any] = []
        stop = threading.Event()

        def compile_until_stopped() -> None:
            try:
                leapp.compile_graph(visualize=False, cancelled=stop.is_set)
            except LeappError as error:
                caught.append(error.code)

        stop.set()
        thread = threading.Thread(target=compile_until_stopped)
        thread.start()
        thread.join()
        assert caught == ["LP121"]
        assert not bench.path("g", "g.yaml").exists()

    def test_handlers_run_while_another_thread_compiles(
        self, bench: Workbench, handler: Any
    ) -> None:
        with bench.trace():
            run_pass()
        handled, begun = threading.Event(), threading.Event()
        handler(lambda *_: handled.set())
        results: list[Any] = []

        def wait_for_the_handler() -> bool:
            begun.set()
            return not handled.wait(60)

        thread = threading.Thread(
            target=lambda: results.append(
                leapp.compile_graph(visualize=False, cancelled=wait_for_the_handler)
            )
        )
        thread.start()
        assert begun.wait(60)
        send()
        thread.join()
        assert results == [{"n": True}]


def patches() -> dict[str, Any]:
    """Return all functions that a session may patch."""
    owners: dict[str, Any] = {"Tensor": torch.Tensor, "torch": torch, "numpy": np}
    return {f"{key}.{name}": x for key, owner in owners.items() for name, x in vars(owner).items()}


class TestTracing:
    """A session leaves nothing behind, however it ends."""

    @pytest.fixture(autouse=True)
    def nothing_is_left(self) -> Iterator[None]:
        before = patches()
        yield
        assert not _state.is_active()
        after = patches()
        assert before.keys() == after.keys()
        assert [name for name in before if before[name] is not after[name]] == []

    @pytest.mark.parametrize(
        "step", ["leapp._holders.begin", "leapp._patches.install", "leapp._numpy.reset"]
    )
    def test_start_is_interrupted(
        self, bench: Workbench, handler: Any, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        handler(raise_ended)
        module, name = step.rsplit(".", 1)
        original = getattr(importlib.import_module(module), name)
        monkeypatch.setattr(step, lambda *args: (send(), original(*args)))
        with pytest.raises(Ended):
            leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(LeappError) as caught:
            leapp.stop()
        assert caught.value.code == "LP101"

    def test_start_fails(self, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_patches, "_run_compiled_functions_eagerly", raise_ended)
        with pytest.raises(Ended):
            leapp.start("g", save_path=str(bench.folder))

    @pytest.mark.parametrize("step", ["_holders.look", "_patches.restore"])
    def test_stop_is_interrupted(
        self, bench: Workbench, handler: Any, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        leapp.start("g", save_path=str(bench.folder))
        run_pass()
        handler(raise_ended)
        module, name = step.split(".")
        original = getattr(importlib.import_module(f"leapp.{module}"), name)
        monkeypatch.setattr(f"leapp.{step}", lambda: (send(), original()))
        with pytest.raises(Ended):
            leapp.stop()
        assert leapp.compile_graph(visualize=False) == {"n": True}

    def test_a_pass_is_interrupted(self, bench: Workbench, handler: Any) -> None:
        handler(raise_ended)
        with pytest.raises(Ended), leapp.trace("g", save_path=str(bench.folder)):
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            send()
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")

    def test_a_pass_is_interrupted_and_the_session_stopped(
        self, bench: Workbench, handler: Any
    ) -> None:
        handler(raise_ended)
        with pytest.raises(Ended):
            leapp.start("g", save_path=str(bench.folder))
            try:
                annotate.input_tensors("n", {"x": torch.ones(2)})
                send()
            finally:
                leapp.stop()


PROGRAM = """
import os
import signal
import sys

import torch

import leapp
from leapp import annotate


signal.signal(signal.SIGINT, signal.default_int_handler)  # some shells ignore Ctrl+C


def trace():
    with leapp.trace("g", save_path=sys.argv[1]):
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")

def end_program():
    os.kill(os.getpid(), getattr(signal, sys.argv[2]))
    return False


trace()
leapp.compile_graph(visualize=False)
trace()
leapp.compile_graph(visualize=False, cancelled=end_program)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_killed_program_keeps_its_previous_bundle(bench: Workbench, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(bench.folder), name], capture_output=True
    )
    assert done.returncode == -getattr(signal, name)
    robot = leapp.InferenceManager(bench.path("g", "g.yaml"))
    assert torch.equal(robot({"n/x": torch.ones(2)})["n/y"], 2 * torch.ones(2))


class TestInterruptedProgram:
    def test_an_interrupted_program_is_no_longer_traced(
        self, bench: Workbench, handler: Any
    ) -> None:
        handler(raise_ended)
        original = np.zeros
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(Ended):
            for tick in itertools.count():
                x = annotate.input_tensors("n", {"x": torch.ones(2)})
                if tick == 3:
                    send()
                annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        assert not _state.is_active()
        assert np.zeros is original
        assert signal.getsignal(signal.SIGTERM) is raise_ended
        leapp.stop()  # of a finally block, for example
        assert bench.compile() == {"n": True}

    def test_a_handler_that_returns_changes_nothing(self, bench: Workbench, handler: Any) -> None:
        seen: list[int] = []
        handler(lambda number, _: seen.append(number))
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            send()
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        assert seen == [signal.SIGTERM]
        assert bench.compile() == {"n": True}

    def test_a_handler_that_the_program_installs_stays(
        self, bench: Workbench, handler: Any
    ) -> None:
        with bench.trace():
            handler(raise_ended)
        assert signal.getsignal(signal.SIGTERM) is raise_ended
