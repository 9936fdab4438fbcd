"""The lifetime of a session: start, stop, compile_graph."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import NoneType
from typing import Any, Literal

from . import _console, _inventory, _schedule, _signals, _state, _untraced
from ._annotate import Annotate
from ._diagnostics import diagnostics
from .errors import (
    LeappError,
    LeappTypeError,
    LeappValidationError,
    LeappValueError,
    expect,
    expect_one_of,
)
from .patching import FunctionPatch, checked_patches
from .semantics import GraphConfigs

#: Name and directory of the most recently started graph.
_graph: tuple[str, str] | None = None
_verbose = False


def start(
    name: str,
    save_path: str = ".",
    verbose: bool = False,
    dry_run: bool = False,
    non_traced: str | Iterable[str] | None = None,
    max_cached_io: int = 5,
    global_patching: bool = True,
    patching: Iterable[FunctionPatch] | None = None,
    *,
    schedule: Mapping[str, Mapping[str, Any]] | None = None,
    noise: Literal["port", "zero", "frozen", "model"] = "port",
) -> None:
    """Start tracing a graph. Drops an active session, with a warning.

    If this fails, or a signal such as that of Ctrl+C interrupts it, no session is active.

    Args:
        name: The graph's name. It may be a path, whose last part is the name; an absolute path
            overrides ``save_path``.
        save_path: Everything is written to ``{save_path}/{name}/``.
        verbose: Show debug and info lines on the console, not only warnings.
        dry_run: Keep the structure, but export no model.
        non_traced: Names of nodes that keep their ports but get no model.
        max_cached_io: Number of passes per node, after the first one, that are kept for validation.
        global_patching: Patch the exchange with NumPy, so round trips through it stay traced.
        patching: Functions to replace while tracing, with ``global_patching``.
        schedule: When nodes run that do not run once in every tick, by name, such as
            ``{"planner": {"every": 5}}``. Nodes that are not listed are inferred from the passes,
            which must fit; docs/howto/schedules.md has all keys.
        noise: The form of random draws inside nodes: ``"port"`` makes each an input that the
            runtime fills; ``"zero"`` uses the median, also while tracing; ``"frozen"`` exports the
            traced numbers; ``"model"`` leaves draws in the model, which is then not validated.
    """
    global _graph, _verbose
    graph, folder = _split(name, save_path)
    patches = checked_patches(patching)
    excluded = [non_traced] if isinstance(non_traced, str) else list(non_traced or ())
    for node in excluded:
        expect(str, node, "leapp.start(non_traced=..) takes names of nodes")
    _check("start", _FLAG, verbose=verbose, dry_run=dry_run, global_patching=global_patching)
    _check("start", ("__index__", "must be a whole number"), max_cached_io=max_cached_io)
    expect_one_of(("port", "zero", "frozen", "model"), noise, "noise")
    entries = _schedule.checked(schedule)
    _state.load()
    # _numbers is imported here so that compile_graph() imports nothing.
    from . import (  # noqa: F401
        _generators,
        _holders,
        _numbers,
        _numpy,
        _patches,
        _rerun,
        _trace,
        _tracing,
    )

    try:
        with _signals.Deferred():
            _patches.restore()
            _verbose = verbose
            _console.show(verbose)
            _trace.start(graph, folder, verbose, dry_run, excluded, max_cached_io, entries, noise)
            _state.calls = _tracing
            _graph = (graph, os.path.abspath(os.path.join(folder, graph)))
            _numpy.reset()
            _rerun.forget()
            _generators.reset()
            _holders.begin()
            _patches.install(global_patching, patches)
            _trace.warm_up()
    except BaseException:
        _drop()
        raise
    _interrupted.clear()
    _watched.begin()


def stop() -> None:
    """Stop tracing; :func:`compile_graph` then exports the passes.

    Does nothing if a signal such as that of Ctrl+C has interrupted the program and stopped tracing
    already. Raises if a node is still in its first pass; the session then stays active. While an
    exception propagates, as in a ``finally`` block, that pass is dropped instead. Incomplete later
    passes are always dropped. Signals that arrive during this call are handled when tracing has
    ended.
    """
    if not _state.loaded():
        raise LeappError.at_caller(
            "LP101", "leapp.stop(): there is no active tracing session; call leapp.start() first."
        )
    if _interrupted.is_set():
        _interrupted.clear()
        return
    from . import _holders, _patches, _trace, _tracing

    _watched.end()
    with _signals.Deferred():
        if sys.exc_info()[1] is not None:
            for node in _trace.open_nodes():
                _trace.abandon(node)
        if _trace.is_active():
            _holders.look()
        try:
            _trace.stop()
        finally:
            if _state.calls is _tracing and not _trace.is_active():
                _state.calls = _untraced
        _patches.restore()


def _drop() -> None:
    """End the session, if one is active, drop its passes, and restore every patch."""
    from . import _patches, _trace, _tracing

    _watched.end()
    with _signals.Deferred():
        _trace.drop()
        if _state.calls is _tracing:
            _state.calls = _untraced
        _patches.restore()


def _interrupt() -> None:
    """Stop tracing because a signal interrupts the program; complete passes are kept."""
    try:
        stop()
        _interrupted.set()
    except BaseException:
        _drop()


#: Set if a signal stopped tracing, until the next stop() or start().
_interrupted = threading.Event()
_watched = _signals.Watched(_interrupt)


@contextlib.contextmanager
def trace(
    name: str,
    save_path: str = ".",
    verbose: bool = False,
    dry_run: bool = False,
    non_traced: str | Iterable[str] | None = None,
    max_cached_io: int = 5,
    global_patching: bool = True,
    patching: Iterable[FunctionPatch] | None = None,
    *,
    schedule: Mapping[str, Mapping[str, Any]] | None = None,
    noise: Literal["port", "zero", "frozen", "model"] = "port",
) -> Iterator[None]:
    """Trace a graph while the block runs.

    ::

        with leapp.trace("walker"):
            run_the_annotated_program()
        leapp.compile_graph()

    The session begins with :func:`start`, which has the same parameters, and ends with
    :func:`stop`. If the block or :func:`stop` raises, the session is dropped and every patch is
    restored.
    """
    start(
        name, save_path, verbose, dry_run, non_traced, max_cached_io, global_patching, patching,
        schedule=schedule, noise=noise,
    )  # fmt: skip
    try:
        yield
        if _state.is_active():  # the block may have stopped it
            stop()
    except BaseException:
        _drop()
        raise


def compile_graph(
    visualize: bool = True,
    verbose: bool | None = None,
    validate: bool = True,
    dry_run: bool = False,
    rtol: float = 1e-3,
    atol: float = 1e-5,
    strict: bool = True,
    graph_configs: GraphConfigs | None = None,
    *,
    golden: int = 0,
    thorough: bool = False,
    strict_constants: bool = False,
    rerun: Iterable[str] = (),
    cancelled: Callable[[], bool] | None = None,
) -> ValidationResults | bool:
    """Export every node, write the bundle, draw it and validate it.

    The program's signal handlers, such as that of Ctrl+C, are called between steps. If one raises,
    the call ends with that exception; nothing is written, and an existing bundle is unchanged. Only
    a signal that arrives after the last step, which replaces the existing bundle at once, finds the
    complete new bundle.

    Args:
        visualize: Draw ``{name}.png``. A failed drawing is only logged.
        verbose: Show debug and info lines during this call; None keeps the setting of ``start``.
        validate: Run the exported models on the traced examples and compare the results.
        dry_run: Write the structure only: no models, no validation.
        rtol: Relative tolerance of the comparison.
        atol: Absolute tolerance of the comparison.
        strict: Raise if a node fails validation.
        graph_configs: Settings of the whole graph for the bundle.
        golden: Number of traced ticks that the bundle keeps, for ``InferenceManager.verify()`` and
            ``leapp verify`` to replay on the robot; at most the number that ``max_cached_io`` kept.
        thorough: Try models on many untraced inputs without a time limit, instead of for a fifth of
            the compile time.
        strict_constants: Raise if a node exports a constant, other than parameters and buffers,
            that ``constants=`` of its annotation does not acknowledge.
        rerun: Names of functions of ``annotate.method`` that LEAPP may call again, on inputs that
            were never traced, to find branches and numbers that became constants. The functions
            really run: name no function that moves a robot, writes to shared memory or counts its
            calls. None by default.
        cancelled: Called between steps, for threads other than the main one, which receive no
            signals: if it returns True, the call ends with a :class:`LeappError`
            (``LP121``), as after a signal. ``threading.Event().is_set``, for example.

    Returns:
        For each node True, False, or, if validating, the exception of its model. The dict's
        ``report`` contains every figure.
    """
    expected = "compile_graph(graph_configs=..) expects GraphConfigs"
    expect((GraphConfigs, NoneType), graph_configs, expected)
    _check(
        "compile_graph", _FLAG, visualize=visualize, verbose=verbose, validate=validate,
        dry_run=dry_run, strict=strict, thorough=thorough, strict_constants=strict_constants,
    )  # fmt: skip
    _check("compile_graph", ("__index__", "is a number of ticks"), golden=golden)
    _check("compile_graph", ("__float__", "must be a number"), rtol=rtol, atol=atol)
    if not _state.loaded():
        raise LeappError.at_caller(
            "LP101",
            "leapp.compile_graph(): nothing was traced; call leapp.start(), run the annotated "
            "code and call leapp.stop() first.",
        )
    from . import _rerun, _trace

    expect((Callable, NoneType), cancelled, "compile_graph(cancelled=..) must be a function")
    reruns = _rerun.checked(rerun)
    configs = None
    if graph_configs is not None:
        extra = {**graph_configs.contract(), **(graph_configs.extra or {})}
        configs = (graph_configs.frequency, extra)
    _console.show(verbose)
    try:
        with _signals.Deferred() as signals, _console.ProgressBar() as progress:
            outcomes, report, schedule = _trace.compile_graph(
                visualize, verbose, validate, dry_run, rtol, atol, strict, configs, golden,
                thorough, strict_constants, reruns, progress,
                _cancellation(signals, cancelled),
            )  # fmt: skip
        for block in _inventory.unacknowledged():
            _console.note(block)
        for remark in schedule:
            _console.note(remark)
    finally:
        _console.show(_verbose)
    if not validate or dry_run:
        return all(passed for _, passed, _ in outcomes)
    results = ValidationResults(
        (node, LeappValidationError(error) if error else passed) for node, passed, error in outcomes
    )
    results.report = json.loads(report) if report else {}
    results.schedule = schedule
    return results


def _cancellation(
    signals: _signals.Deferred, cancelled: Callable[[], bool] | None
) -> Callable[[], bool]:
    """Return the function that compile_graph() calls between steps."""

    def is_cancelled() -> bool:
        signals.deliver()
        return cancelled is not None and bool(cancelled())

    return is_cancelled


class ValidationResults(dict[str, "bool | Exception"]):
    """Results of validation by node: True, False, or the exception that its model raised.

    Attributes:
        report: The content of ``validation.json``: for every node, sample and output the shapes,
            dtypes, ranges, NaN and Inf, and differences. docs/reference/bundle.md lists the keys.
            Empty after a dry run, which has no models to validate.
        schedule: The nodes that do not run once per tick, as text: ``"planner: in every 5th tick of
            tracker, seen 3 times"``.
    """

    report: dict[str, Any]
    schedule: list[str]


class ExportManager(Annotate):
    """The annotate calls and the session functions in one object; there is one per process."""

    _only: ExportManager | None = None

    def __new__(cls) -> ExportManager:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    start = staticmethod(start)
    stop = staticmethod(stop)
    trace = staticmethod(trace)
    compile_graph = staticmethod(compile_graph)
    diagnostics = staticmethod(diagnostics)

    @staticmethod
    def is_interpret_graph_enabled() -> bool:
        """Return whether a session is tracing now."""
        return _state.is_active()

    @staticmethod
    def get_graph_name() -> str | None:
        """Return the name of the most recently started graph."""
        return _graph[0] if _graph else None

    @staticmethod
    def get_save_path() -> str | None:
        """Return the directory that receives all files of that graph."""
        return _graph[1] if _graph else None


def _split(name: Any, save_path: Any) -> tuple[str, str]:
    """Return the graph's name and the parent of its directory."""
    expect((str, os.PathLike), name, "leapp.start(name=..) must be a string")
    expect((str, os.PathLike), save_path, "leapp.start(save_path=..) must be a string")
    given = os.path.expanduser(os.fspath(name)).rstrip("/")
    folder, graph = os.path.split(os.path.join(os.path.expanduser(os.fspath(save_path)), given))
    if not os.path.basename(given) or graph in (".", ".."):
        raise LeappValueError.at_caller(
            "LP003",
            f"leapp.start(name={os.fspath(name)!r}) contains no usable graph name. Its last part "
            f"names the graph, as in 'walker' or '/tmp/walker'.",
        )
    return graph, folder or "."


#: The attributes that the type of an option must have, and the text of an error.
_FLAG = ("__bool__", "must be True or False")


def _check(call: str, expected: tuple[str, str], **options: Any) -> None:
    """Raise unless every value has the expected type; real numbers must not be negative."""
    method, text = expected
    for option, value in options.items():
        is_flag = isinstance(value, bool) and method == "__index__"
        if is_flag or not hasattr(type(value), method):
            raise LeappTypeError.of(value, f"leapp.{call}({option}=..) {text}")
        if method == "__float__" and not value >= 0:  # nor NaN
            raise LeappValueError.at_caller(
                "LP003", f"leapp.{call}({option}=..) must not be negative, got {value}."
            )
