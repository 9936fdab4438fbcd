"""What takes part in a node without an operator: arrays, generators, clocks, plain numbers."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import functools
import importlib
import importlib.util
import math
import os
import pickle
import queue
import random
import runpy
import shutil
import sys
import sysconfig
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench

import leapp
from leapp import annotate
from leapp._names import name_of

tells_positions = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 has neither qualified names nor columns"
)


class _Policy:
    """A node whose function is given; called as often as a test asks for."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    def function(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def step(self, x: torch.Tensor) -> torch.Tensor:
        x = annotate.input_tensors("node", {"x": x})
        y: torch.Tensor = annotate.output_tensors(
            "node", {"y": self.function(x)}, export_with="jit"
        )
        return y


def _trace(bench: Workbench, policy: _Policy, passes: int = 1) -> str:
    leapp.start("g", save_path=str(bench.folder))
    with torch.no_grad():
        for _ in range(passes):
            policy.step(torch.randn(3))
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return bench.log()


class _Generator(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.from_numpy(self.rng.normal(size=3).astype(np.float32))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_numbers_of_a_generator_are_named(bench: Workbench, make: Any) -> None:
    log = _trace(bench, _Generator(rng=make(0)))
    assert "test_api_surroundings.py" in log
    assert "'policy.rng' drew random numbers that come in here" in log


class _Scalar(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(self.rng.uniform(0, 1))


@pytest.mark.parametrize("make", [np.random.default_rng, random.Random, random.SystemRandom])
def test_single_numbers_of_a_generator_are_named(bench: Workbench, make: Any) -> None:
    log = _trace(bench, _Scalar(rng=make(0)))
    assert "'policy.rng' drew random numbers while node 'node' was open" in log


def test_a_generator_used_between_nodes_is_no_matter(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        def step(self, x: torch.Tensor) -> torch.Tensor:
            return super().step(x + float(self.rng.uniform()))

    assert "[WARNING]" not in _trace(bench, Policy(rng=np.random.default_rng(0)))


def test_a_generator_used_between_nodes_is_no_matter_in_later_passes(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.from_numpy(np.ones(3, dtype=np.float32))

        def step(self, x: torch.Tensor) -> torch.Tensor:
            return super().step(x + float(self.rng.uniform()))

    assert "[WARNING]" not in _trace(bench, Policy(rng=np.random.default_rng(0)), passes=3)


@tells_positions
def test_pythons_random_numbers_are_named_with_their_line(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x + random.uniform(-1, 1)

    log = _trace(bench, Policy())
    assert "Policy.function: random.uniform() draws random numbers" in log


class _Clock(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * (0.0 * time.time() + 1.0)


def test_a_clock_is_named_when_only_one_pass_was_traced(bench: Workbench) -> None:
    assert "time.time() is read while node 'node' is open" in _trace(bench, _Clock())
    assert "time.time()" not in _trace(bench, _Clock(), passes=2)


def test_a_clock_that_is_chosen_by_is_named_after_any_number_of_passes(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return -x if monotonic() > self.end else x

    log = _trace(bench, Policy(end=1e9), passes=2)
    assert "time.monotonic() is read while node 'node' is open, and the program chooses" in log


class _Counter(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x * math.cos(0.0 * self.count)


def test_a_number_that_changed_is_named_after_any_number_of_passes(bench: Workbench) -> None:
    log = _trace(bench, _Counter(count=0))
    assert "'policy.count' was 0 when node 'node' was opened" in log
    assert "and is 1 now" in log
    # What is computed with it happens to be the same in both.
    log = _trace(bench, _Counter(count=0), passes=2)
    assert "'policy.count' went from 0 to 2 over the passes" in log
    assert "the program reads it" in log


def test_a_number_that_is_none_has_not_changed(bench: Workbench) -> None:
    class Unset(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.limit = float("nan")  # another object each time
            return x if math.isnan(self.limit) else x * 2

    assert "'policy.limit'" not in _trace(bench, Unset(limit=float("nan")))


class _Ticks:
    def __init__(self) -> None:
        self.n = 0

    def read(self) -> int:
        self.n += 1
        return self.n


class _OfAnotherObject(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * min(1.0, 8 / self.ticks.read())


class _Popped(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(self.gains.pop(0))


class _Rotated(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        y = x * float(self.gains[0])
        self.gains.rotate(1)
        return y


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: _OfAnotherObject(ticks=_Ticks()), "'policy.ticks.n' went from 0 to 3"),
        (lambda: _Popped(gains=[2.0] * 8), "'policy.gains' went from length 8 to length 5"),
        (
            lambda: _Rotated(gains=collections.deque([1.0, 5.0, 1.0, 1.0, 1.0])),
            "'policy.gains[1]' went from 5.0 to 1.0",
        ),
    ],
)
def test_numbers_that_made_no_difference_yet_are_named(
    bench: Workbench, make: Any, name: str
) -> None:
    assert name in _trace(bench, make(), passes=3)


@tells_positions
def test_a_number_that_is_only_shown_is_not_named(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.count += 1
            mean = x.mean().item()
            print("pass", self.count, f"{mean:.3f}", x.max().item())
            assert torch.isfinite(x).all()
            if x.isnan().any():
                raise ValueError
            if self.count % 100 == 0:
                print("alive")
            return x * 2

    assert "[WARNING]" not in _trace(bench, Policy(count=0), passes=2)


def test_a_number_that_is_shown_and_used_is_named(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            mean = x.mean().item()
            print(mean)
            return x * mean

    assert "turns a traced tensor into a number" in _trace(bench, Policy())


def test_a_copy_is_no_pickle(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = copy.copy(x) * 2
            return result

    assert "[WARNING]" not in _trace(bench, Policy(), passes=2)


def test_containers_that_hold_themselves_and_long_chains_are_followed(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    ring: list[Any] = [torch.zeros(3)]
    ring.append(ring)
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    chain: Any = None
    for _ in range(5000):
        chain = [chain]

    def spin() -> Any:
        itself = yield
        while True:
            yield itself

    spinning = spin()
    next(spinning)
    spinning.send(spinning)
    held = {"ring": ring, "loop": loop, "chain": chain, "spinning": spinning}
    for passes in (1, 2):
        log = _trace(bench, Policy(**held), passes=passes)
        assert "[WARNING]" not in log


class _Replaced(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.h = x if self.h is None else 0.5 * self.h + x
        return self.h


@pytest.mark.parametrize("first", [None, torch.zeros(3)])
def test_a_tensor_that_was_replaced_is_named_after_one_pass(bench: Workbench, first: Any) -> None:
    assert "'policy.h' was replaced while node 'node'" in _trace(bench, _Replaced(h=first))


def test_a_tensor_that_was_given_other_memory_is_named_after_one_pass(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.h.data = 0.5 * self.h + x
            return self.h * 2

    assert "'policy.h' was replaced while node 'node'" in _trace(bench, Policy(h=torch.zeros(3)))


def test_a_declared_state_is_not_suspected(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            h = annotate.state_tensors("node", {"h": self.h})
            self.h = annotate.update_state("node", {"h": 0.5 * h + x})
            return self.h * 2

    assert "[WARNING]" not in _trace(bench, Policy(h=torch.zeros(3)))


def test_a_delay_longer_than_the_passes_is_named(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.line.append(2 * x)
            return self.line.popleft() + 0 * x

    line = collections.deque([torch.zeros(3)] * 2)
    assert "no later pass has read yet" in _trace(bench, Policy(line=line), passes=2)


def test_arrays_of_an_object_are_its_own_again_after_the_session(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            assert type(self.buffer) is not np.ndarray
            return x + torch.from_numpy(self.buffer)

    buffer = np.ones(3, np.float32)
    policy = Policy(buffer=buffer, more={"inner": [buffer]})
    _trace(bench, policy)
    assert policy.buffer is buffer
    assert policy.more["inner"][0] is buffer


@tells_positions
def test_random_numbers_that_choose_a_branch_are_named(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x if torch.rand(1) > 2 else -x

    log = _trace(bench, Policy())
    assert "Policy.function: aten::is_nonzero turns random numbers" in log


def test_a_distribution_checks_its_parameters_without_a_word(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            choice = torch.distributions.Categorical(logits=x, validate_args=True)
            return choice.probs - choice.log_prob(choice.probs.argmax())

    assert "[WARNING]" not in _trace(bench, Policy())


def test_a_number_that_is_chosen_by_is_named_after_any_number_of_passes(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.count += 1
            return -x if self.count % 5 == 0 else x

    log = _trace(bench, Policy(count=0), passes=2)
    assert "'policy.count' went from 0 to 2 over the passes" in log
    assert "the program chooses by it" in log


_global_count = 0


def test_a_variable_of_the_module_is_named(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            global _global_count
            _global_count += 1
            return x * (0.0 * _global_count + 1.0)

    assert "'_global_count' was 0 when node 'node' was opened" in _trace(bench, Policy())


class _Ring(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        head = annotate.state_tensors("node", {"head": self.head})
        self.write(self.ring, head, x)
        self.head = annotate.update_state("node", {"head": (head + 1) % 3})
        return self.ring.sum(0)


def _ring(write: Any) -> _Ring:
    return _Ring(ring=torch.zeros(3, 3), head=torch.tensor(0), write=write)


def _put_back(ring: torch.Tensor, head: torch.Tensor, x: torch.Tensor) -> None:
    ring[head] = x
    ring[head] += 1


def _write_through(ring: torch.Tensor, head: torch.Tensor, x: torch.Tensor) -> None:
    ring[head].copy_(x)
    row = ring[head]
    row[1:] = 2 * x[1:]


def _read_later(ring: torch.Tensor, head: torch.Tensor, x: torch.Tensor) -> None:
    row = ring[head]
    ring[head] = x
    ring[(head + 1) % 3] = row + 1


def _put_elsewhere(ring: torch.Tensor, head: torch.Tensor, x: torch.Tensor) -> None:
    row = ring[head]
    row += x
    ring[head - 1] = row


@pytest.mark.parametrize("write", [_put_back, _write_through, _read_later, _put_elsewhere])
def test_a_chosen_element_behaves_as_the_view_it_is(bench: Workbench, write: Any) -> None:
    _trace(bench, _ring(write), passes=2)
    plain, robot = _ring(write), bench.manager()
    for _ in range(5):
        x = torch.randn(3)
        torch.testing.assert_close(robot({"node/x": x})["node/y"], plain.step(x))


class _Lazy(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        if not hasattr(self, "offset"):
            self.offset = x.clone()
        return x - self.offset


class _Entry(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.parts["sum"] = self.parts.get("sum", 0) + x
        total: torch.Tensor = self.parts["sum"]
        return total * 2


class _FromZero(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = 0.9 * self.mean + 0.1 * x.mean()
        return x - self.mean


class _Default(_Policy):
    def function(self, x: torch.Tensor, seen: list[torch.Tensor] = []) -> torch.Tensor:  # noqa: B006
        seen.append(x)
        return x + seen[0]


class _OfTheClass(_Policy):
    gain = 1.0

    def function(self, x: torch.Tensor) -> torch.Tensor:
        _OfTheClass.gain *= 0.5
        return x * _OfTheClass.gain


class _Thread(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        with ThreadPoolExecutor(1) as threads:
            return x + sum(threads.map(torch.tanh, [x, x]))


class _Pickled(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        copied: torch.Tensor = pickle.loads(pickle.dumps(x))
        return x + copied


class _Slotted:
    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0


class _OfAnything(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.ticks.n += 1
        return x * math.cos(self.ticks.n)


class _ArrayInSlots(_Policy):
    __slots__ = ("mean",)

    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = 0.5 * self.mean + x.numpy()
        return torch.from_numpy(self.mean) * 2


def _array_in_slots() -> _Policy:
    policy = _ArrayInSlots()
    policy.mean = np.zeros(3, np.float32)
    return policy


class _InPartial(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.gain.keywords["start"] *= 0.5
        return x * self.gain(())


def _counted(x: torch.Tensor) -> torch.Tensor:
    _counted.calls += 1  # type: ignore[attr-defined]
    return x * _counted.calls  # type: ignore[attr-defined,no-any-return]


_counted.calls = 0  # type: ignore[attr-defined]


class _InFunction(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return _counted(x)


class _InQueue(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(self.gains.get())


def _queue_of(*values: float) -> queue.Queue[float]:
    result: queue.Queue[float] = queue.Queue()
    for value in values:
        result.put(value)
    return result


class _BehindReference(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.ticks().read()


_referred = frozenset([_Ticks()])  # where nobody looks


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (_OfAnything(ticks=_Slotted()), "'policy.ticks.n' was 0"),
        (_array_in_slots(), "'policy.mean' was replaced"),
        (
            _InPartial(gain=functools.partial(math.prod, start=1.0)),
            "'policy.gain['start']' was 1.0",
        ),
        (_InFunction(), "'_counted.calls' was 0"),
        (_InQueue(gains=_queue_of(1.0, 2.0)), "'policy.gains[0]' was 1.0"),
        (_OfAnything(ticks=SimpleNamespace(n=0)), "'policy.ticks.n' was 0"),
        (_BehindReference(ticks=weakref.ref(*_referred)), "'policy.ticks.n' was 0"),
        (_Lazy(), "'policy.offset' was replaced"),
        (_Entry(parts={}), "'policy.parts['sum']' was replaced"),
        (_FromZero(mean=0.0), "'policy.mean' was replaced"),
        (_Default(), "'_Default.function()['seen']' was replaced"),
        (_OfTheClass(), "'_OfTheClass.gain' was 1.0"),
        (_Thread(), "a tensor comes from another thread"),
        (_Pickled(), "Pickling takes a traced value out of the graph"),
    ],
)
def test_what_one_pass_cannot_show_is_named(bench: Workbench, policy: _Policy, text: str) -> None:
    lines = [line for line in _trace(bench, policy).splitlines() if "[WARNING]" in line]
    assert len(lines) == 1
    assert text in lines[0]
    assert lines[0].startswith("[WARNING]: " + __file__)


def test_a_command_that_is_not_declared_is_named_after_one_pass(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = x + self.command
            return result

        def step(self, x: torch.Tensor) -> torch.Tensor:
            self.command = torch.ones(3)
            return super().step(x)

    log = _trace(bench, Policy(command=torch.zeros(3)))
    assert "uses 'policy.command', a tensor of shape [3] that was replaced during" in log


def test_intermediate_values_that_are_kept_are_no_state(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.features = x * 2
            self.extras["norm"] = x.norm()
            return self.features + self.extras["norm"]

    assert "[WARNING]" not in _trace(bench, Policy(extras={}))


def test_of_many_the_first_are_named(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            for name in [name for name in vars(self) if name.startswith("count")]:
                setattr(self, name, getattr(self, name) + 1)
            return x * 2

    log = _trace(bench, Policy(**{f"count{i}": i for i in range(9)}))
    assert log.count("when node 'node' was opened") == 9
    assert log.count("[WARNING]") == 6
    assert "the same holds for 4 others, which log.txt lists" in log


def test_a_module_that_nobody_registered_is_followed(bench: Workbench) -> None:
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
    """A package among those that are installed."""
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


def test_state_is_called_after_the_path_to_it(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.parts["hidden"].mul_(0.5).add_(x)
            total: torch.Tensor = self.parts["hidden"] + x
            return total

    _trace(bench, Policy(parts={"hidden": torch.zeros(3)}), passes=2)
    assert "parts_hidden" in bench.text()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("env.action_manager.action", "action_manager_action"),
        ("env.scene['imu'].data", "scene_imu_data"),
        ("self.buffer[2]", "buffer_2"),
        ("ring[2]", "ring_2"),
        ("policy._hidden", "hidden"),
        ("mean", "mean"),
    ],
)
def test_a_path_becomes_a_name(path: str, name: str) -> None:
    assert name_of(path) == name


def test_a_number_that_no_code_of_the_node_reads_is_not_named(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.steps += 1
            self.tallies["frames"] += 1
            return x * 2

        def report(self) -> str:
            return f"{self.steps} {self.tallies['frames']}"

    assert "[WARNING]" not in _trace(bench, Policy(steps=0, tallies={"frames": 0}))


@tells_positions
@pytest.mark.parametrize("passes", [1, 3])
def test_what_is_done_around_a_node_is_not_done_in_it(bench: Workbench, passes: int) -> None:
    class Watchdog:
        late = 0

        def tick(self, x: torch.Tensor) -> None:
            self.late = self.late + 1 if self.late < 100 else 0
            x = annotate.input_tensors("node", {"x": x})
            y = x * 2
            annotate.output_tensors("node", {"y": y}, export_with="jit")
            if self.late > 50:
                self.late = 0

    watchdog = Watchdog()
    leapp.start("g", save_path=str(bench.folder))
    for _ in range(passes):
        watchdog.tick(torch.randn(3))
    leapp.stop()
    assert leapp.diagnostics() == []


def _loop_with_counter(passes: int) -> None:
    for t in range(passes):
        x = annotate.input_tensors("node", {"x": torch.randn(3)})
        y = -x if t >= 6 else x
        annotate.output_tensors("node", {"y": y}, export_with="jit")


def _loop_of_calls(passes: int) -> None:
    def step(x: torch.Tensor, time: float) -> None:
        x = annotate.input_tensors("node", {"x": x})
        y = x * (1.0 if time < 0.1 else 2.0)
        annotate.output_tensors("node", {"y": y}, export_with="jit")

    time = 0.0
    for _ in range(passes):
        step(torch.randn(3), time)
        time += 0.02


def _loop_of_a_generator(passes: int) -> None:
    def controller() -> Iterator[None]:
        mode = "stand"
        while True:
            x = annotate.input_tensors("node", {"x": torch.randn(3)})
            y = x * (1.0 if mode == "trot" else 2.0)
            annotate.output_tensors("node", {"y": y}, export_with="jit")
            mode = "walk" if mode == "stand" else "trot"
            yield

    for _ in zip(range(passes), controller(), strict=False):
        pass


@tells_positions
@pytest.mark.parametrize(
    ("loop", "text"),
    [
        (_loop_with_counter, "'t' went from 0 to 1"),
        (_loop_of_calls, "'time' went from 0.0 to 0.02"),
        (_loop_of_a_generator, "'mode' went from 'stand' to 'walk'"),
    ],
)
def test_a_variable_of_a_running_function_is_named(bench: Workbench, loop: Any, text: str) -> None:
    leapp.start("g", save_path=str(bench.folder))
    loop(2)
    leapp.stop()
    (said,) = leapp.diagnostics()
    assert said.code == "LP218" and text in said.text and "chooses by" in said.text


@tells_positions
def test_a_variable_that_is_used_around_the_node_is_not_named(bench: Workbench) -> None:
    layers, data, kept = [torch.nn.Tanh()] * 4, torch.randn(3, 3), [torch.empty(0)] * 3
    for i in range(2):
        assert layers[i]
    leapp.start("g", save_path=str(bench.folder))
    for t in range(3):
        x = annotate.input_tensors("node", {"x": data[t]})
        for i in range(4):
            x = layers[i](x)
        x = x + sum(t for t in range(3))
        kept[t] = annotate.output_tensors("node", {"y": x}, export_with="jit")
    leapp.stop()
    assert leapp.diagnostics() == []


@tells_positions
def test_a_tensor_of_a_running_function_is_not_held(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    for _ in range(2):
        x = annotate.input_tensors("node", {"x": torch.randn(3)})
        y = annotate.output_tensors("node", {"y": x * 2}, export_with="jit")
    gone = weakref.ref(x)
    del x, y
    leapp.stop()
    assert gone() is None


_SCRIPT = """
from leapp import annotate
tick = 0
for x in observations:
    x = annotate.input_tensors("node", {"x": x})
    y = -x if tick > 5 else x
    tick += 1
    annotate.output_tensors("node", {"y": y}, export_with="jit")
"""


@tells_positions
def test_a_variable_of_a_script_is_named(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(_SCRIPT)
    leapp.start("g", save_path=str(bench.folder))
    given = {"observations": [torch.randn(3)] * 2}
    runpy.run_path(str(tmp_path / "script.py"), init_globals=given)
    leapp.stop()
    assert "'tick' went from 0 to 2" in bench.log()


class _Called:
    def __init__(self) -> None:
        self.k = 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.k += 1
        return x if self.k < 6 else x.clamp(-1, 1)


class _Passed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.k = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.k += 1
        return x if self.k < 6 else x.clamp(-1, 1)


class _Limits(_Policy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.limit(x * 2)
        return y


class _Scheduled(_Policy):
    def __init__(self) -> None:
        self.ticks = 0
        self.gain = lambda: 0.5 if self.ticks > 6 else 2.0

    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.ticks += 1
        return x * self.gain()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: _Limits(limit=_Called()), "policy.limit.k"),
        (lambda: _Limits(limit=_Passed()), "policy.limit.k"),
        (_Scheduled, "policy.ticks"),
    ],
)
def test_what_is_read_by_code_that_is_not_named_is_named(
    bench: Workbench, make: Any, name: str
) -> None:
    assert f"'{name}' went from 0 to 2" in _trace(bench, make(), passes=2)


class _Mode(enum.Enum):
    STAND = 0
    WALK = 1


@dataclasses.dataclass(frozen=True)
class _Frozen:
    t: int = 0


class _Registry:
    seen: list[int] = []  # noqa: RUF012


class _Kinds(_Policy):
    shared = _Ticks()

    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.mode = _Mode.WALK
        self.name = "walk"
        self.pair = (self.pair[0] + 1, "x")
        self.frozen = dataclasses.replace(self.frozen, t=self.frozen.t + 1)
        self.last = [number + 1 for number in self.last]
        self.counts["n"] += 1
        self.seen.add(len(self.seen))
        _Registry.seen.append(1)
        self.made["n"] += 1
        used = self.mode, self.name, self.pair, self.frozen, self.last, self.counts["n"]
        lengths = len(self.seen), len(_Registry.seen), self.made["n"]
        return x * (2 if used is None or max(lengths) > 9 or self.shared.read() > 9 else 1)


def test_values_of_many_kinds_are_compared(bench: Workbench) -> None:
    given = {"mode": _Mode.STAND, "name": "stand", "pair": (0, "x"), "frozen": _Frozen()}
    containers: dict[str, Any] = {
        "last": [0, 0],
        "counts": collections.Counter(n=0),
        "seen": set[int](),
    }
    containers["made"] = collections.defaultdict(int)
    log = _trace(bench, _Kinds(**given, **containers), passes=2)
    for text in (
        "'policy.mode' went from _Mode.STAND to _Mode.WALK",
        "'policy.name' went from 'stand' to 'walk'",
        "'policy.pair' went from (0, \"'x'\") to (2, \"'x'\")",
        "'policy.frozen' went from (0,) to (2,)",
        "'policy.last' went from (0, 0) to (2, 2)",
        "'policy.counts['n']' went from 0 to 2",
        "'policy.seen' went from length 0 to length 2",
        "'_Kinds.shared.n' went from 0 to 2",
        "'_Registry.seen' went from length 0 to length 2",
        "'policy.made['n']' went from 1 to 2",
    ):
        assert text in log


def test_a_cache_that_grows_is_not_named(bench: Workbench) -> None:
    class Policy(_Policy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            if x.shape not in self.cache:
                self.cache[x.shape] = torch.arange(3.0)
            return x + self.cache[x.shape]

    assert "[WARNING]" not in _trace(bench, Policy(cache={}), passes=2)


def test_what_was_said_is_there_as_data(bench: Workbench) -> None:
    _trace(bench, _Clock())
    (said,) = leapp.diagnostics()
    assert (said.code, said.level, said.node) == ("LP216", "WARNING", "node")
    assert said.where.startswith(__file__)
    assert said.text.startswith("time.time() is read")
    assert said.settled_by_another_pass
    leapp.start("g", save_path=str(bench.folder))
    assert leapp.diagnostics() == []
    leapp.stop()
