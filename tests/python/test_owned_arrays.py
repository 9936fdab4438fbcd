"""Arrays that the program holds, during a session and after it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, trace


def test_arrays_of_an_object_are_its_own_again_after_the_session(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            assert type(self.buffer) is not np.ndarray
            return x + torch.from_numpy(self.buffer)

    buffer = np.ones(3, np.float32)
    policy = Policy(buffer=buffer, more={"inner": [buffer]})
    trace(bench, policy)
    assert policy.buffer is buffer
    assert policy.more["inner"][0] is buffer


def test_an_unregistered_module_is_followed(bench: Workbench) -> None:
    source = bench.folder / "plugin.py"
    source.write_text(
        "import numpy as np\n"
        "from leapp import annotate\n"
        "mean = np.zeros(2, np.float32)\n"
        "class Average:\n"
        "    def __init__(self):\n"
        "        self.mean = np.zeros(2, np.float32)\n"
        "    def step(self, x):\n"
        "        global mean\n"
        "        x = annotate.input_tensors('node', {'x': x})\n"
        "        mean = 0.5 * mean + x\n"
        "        self.mean = 0.9 * self.mean + 0.1 * x\n"
        "        y = np.where(x > 0, x, self.mean + mean)\n"
        "        return annotate.output_tensors('node', {'y': y}, export_with='onnx')\n"
    )

    def load() -> Any:
        spec = importlib.util.spec_from_file_location("leapp_test_plugin", source)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Average()

    policy = load()
    with bench.trace():
        for _ in range(2):
            policy.step(np.random.rand(2).astype(np.float32))
    bench.compile()
    manager, policy = bench.manager(), load()
    for _ in range(4):
        x = np.random.randn(2).astype(np.float32)
        found = manager.run_policy({"node/x": torch.from_numpy(x.copy())})["node/y"]
        np.testing.assert_allclose(np.asarray(found), np.asarray(policy.step(x)), rtol=1e-5)


_LIBRARY = """
import numpy as np
import torch
from leapp import annotate

class Filter:
    def __init__(self):
        self.mean = np.zeros(3, np.float32)
        self.last = {"x": torch.zeros(3)}

    def step(self, x):
        x = annotate.input_tensors("node", {"x": x})
        self.mean += 0.1 * x.numpy()
        y = x + torch.from_numpy(self.mean) - self.last["x"]
        self.last["x"] = x * 2
        return annotate.output_tensors("node", {"y": y}, export_with="jit")
"""


@pytest.fixture
def library() -> Iterator[Any]:
    """Return the path of a package among the installed ones."""
    name = f"leapp_test_library_{os.getpid()}"
    folder = Path(sysconfig.get_path("purelib"), name)
    folder.mkdir()
    try:
        (folder / "__init__.py").write_text(_LIBRARY)
        importlib.invalidate_caches()
        yield importlib.import_module(name)
    finally:
        sys.modules.pop(name, None)
        shutil.rmtree(folder)


@torch.no_grad()
def test_an_installed_library_is_part_of_the_program(bench: Workbench, library: Any) -> None:
    stage = library.Filter()
    with bench.trace():
        for _ in range(3):
            stage.step(torch.randn(3))
    bench.compile()
    plain, robot = library.Filter(), bench.manager()
    for _ in range(5):
        x = torch.randn(3)
        torch.testing.assert_close(robot({"node/x": x})["node/y"], plain.step(x))
