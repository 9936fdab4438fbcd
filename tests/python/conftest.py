"""Fixtures shared by the Python tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

try:
    import torch

    import leapp
except ImportError:  # the torch-free tests bring their own interpreter
    torch = None  # type: ignore[assignment]


class Workbench:
    """A directory to export into, and functions that look at the result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def trace(self, name: str = "g", **options: Any) -> Iterator[None]:
        """Open a tracing session around the block; drop passes that an error left open."""
        leapp.start(name, save_path=str(self.folder), **options)
        yield
        end_session()

    def compile(self, **options: Any) -> Any:
        """Call ``compile_graph``, without the drawing by default."""
        return leapp.compile_graph(**{"visualize": False, **options})

    def path(self, *parts: str) -> Path:
        return self.folder.joinpath(*parts)

    def text(self, name: str = "g") -> str:
        return self.path(name, f"{name}.yaml").read_text()

    def yaml(self, name: str = "g") -> dict[str, Any]:
        import yaml

        result: dict[str, Any] = yaml.safe_load(self.text(name))
        return result

    def log(self, name: str = "g") -> str:
        return "\n".join(p.read_text() for p in sorted(self.path(name).glob("log*")))

    def codes(self) -> list[str]:
        """Return the codes of the diagnostics since the session began, most harmful first."""
        return [each.code for each in leapp.diagnostics()]

    def manager(self, name: str = "g", **options: Any) -> Any:
        return leapp.InferenceManager(str(self.path(name, f"{name}.yaml")), **options)


@contextlib.contextmanager
def refused(code: str, *names: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect an error with this code that names these ports, files or lines."""
    with pytest.raises(Exception) as caught:
        yield caught
    assert getattr(caught.value, "code", None) == code
    for name in names:
        assert name in str(caught.value)


def ports(bench: Workbench, node: str, side: str = "inputs") -> list[str]:
    """Return the names of a node's ports, as the YAML lists them."""
    return [port["name"] for port in bench.yaml()["models"][node][side]]


def end_session() -> None:
    """Close passes that a program left open."""
    from leapp import _trace

    for node in _trace.open_nodes():
        leapp.annotate.abandon(node)
    leapp.stop()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    """Return a workbench; close a session that the test left open."""
    yield Workbench(tmp_path)
    with contextlib.suppress(Exception):
        end_session()


@pytest.fixture(params=["jit", "onnx"])
def backend(request: pytest.FixtureRequest) -> str:
    """Return each exporter in turn."""
    return str(request.param)


@pytest.fixture
def pair(bench: Workbench, backend: str) -> Workbench:
    """Return the pipeline of pair_pipeline.py, by each exporter in turn."""
    from pair_pipeline import export_pair

    export_pair(bench, backend)
    return bench


@pytest.fixture
def jit_pair(bench: Workbench) -> Workbench:
    """Return the same pipeline as TorchScript."""
    from pair_pipeline import export_pair

    export_pair(bench)
    return bench


@pytest.fixture(autouse=True)
def _seeded() -> None:
    if torch is not None:
        torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    """End the run with the stacks of all threads if a test hangs."""
    import faulthandler

    faulthandler.dump_traceback_later(300, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
