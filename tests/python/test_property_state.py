"""Random policies with state: their exports agree with eager PyTorch, or report the difference.

A policy is a class written by :class:`Writer` out of attributes, lists, queues, NumPy arrays and
objects within objects, which its ``step`` reads, writes in place, swaps, clones, resets and delays.
The traced passes may not show all that it does. Then an error or a warning has to: a bundle that
ticks otherwise than its program, without a word, fails the test. LEAPP_PROPERTY_EXAMPLES asks for
more policies than a test run tries, and LEAPP_PROPERTY_FIRST for others.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import annotate

EXAMPLES = int(os.environ.get("LEAPP_PROPERTY_EXAMPLES", "48"))
FIRST = int(os.environ.get("LEAPP_PROPERTY_FIRST", "0"))
PARTS = 8
TICKS = 14

#: The message for a program without doubtful state: an input that reaches no output.
HARMLESS = {"LP408"}

HEADER = """
from collections import deque

import numpy as np
import torch
from torch import nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.full((2,), 0.5))
        self.t = torch.ones(2)


class Box:
    pass
"""


class Writer:
    """Generates the source of one policy."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.setup: list[str] = []
        self.body: list[str] = []
        self.tensors: list[str] = []  # places that hold a tensor of two elements
        self.queues: list[tuple[str, int, bool]] = []
        self.arrays: list[str] = []
        self.locals: list[str] = []

    def source(self) -> str:
        for _ in range(self.random.randint(1, 4)):
            self.random.choice(
                [
                    self.attribute,
                    self.attribute,
                    self.queue,
                    self.queue,
                    self.array,
                    self.inner,
                    self.box,
                ]
            )()
        if self.random.random() < 0.15:
            self.begin_late()
        for _ in range(self.random.randint(1, 5)):
            self.statement()
        self.body.append(f"y = {self.read()} + {self.expression()}")
        for _ in range(self.random.randint(0, 3)):
            self.statement()
        lines = [HEADER, "", "class Policy:", "    def __init__(self):"]
        lines += [f"        {line}" for line in self.setup or ["pass"]]
        lines += ["", "    def step(self, x):"]
        lines += [f"        {line}" for line in self.body]
        return "\n".join([*lines, "        return y", ""])

    def initial(self) -> str:
        return self.random.choice(
            ["torch.zeros(2)", "torch.zeros(2)", "torch.ones(2)", "torch.tensor([0.5, -1.0])"]
        )

    def attribute(self) -> None:
        name = f"self.a{len(self.tensors)}"
        if self.tensors and self.random.random() < 0.15:
            self.setup.append(
                f"{name} = {self.random.choice(self.tensors)}"
            )  # begins as the same tensor
        else:
            self.setup.append(f"{name} = {self.initial()}")
        self.tensors.append(name)

    def queue(self) -> None:
        name, size = f"self.q{len(self.queues)}", self.random.randint(1, 3)
        values = self.random.choice(
            [f"[{self.initial()}] * {size}", f"[{self.initial()} for _ in range({size})]"]
        )
        bounded = self.random.random() < 0.6
        self.setup.append(
            f"{name} = deque({values}, maxlen={size})" if bounded else f"{name} = {values}"
        )
        self.queues.append((name, size, bounded))
        self.tensors.extend(f"{name}[{i}]" for i in range(size))

    def array(self) -> None:
        name = f"self.n{len(self.arrays)}"
        self.setup.append(f"{name} = np.zeros(2, np.float32)")
        self.arrays.append(name)

    def inner(self) -> None:
        if "self.inner = Inner()" not in self.setup:
            self.setup.append("self.inner = Inner()")
            self.tensors += ["self.inner.b", "self.inner.t"]

    def box(self) -> None:
        if "self.box = Box()" not in self.setup:
            self.setup += [
                "self.box = Box()",
                f"self.box.v = {self.initial()}",
                f"self.box.d = {{'k': {self.initial()}}}",
            ]
            self.tensors += ["self.box.v", "self.box.d['k']"]

    def begin_late(self) -> None:
        """Write a value that the first tick creates."""
        self.setup.append("self.late = None")
        value = self.random.choice(["x", "x.clone()", "x * 2", "torch.ones(2)", "torch.zeros(2)"])
        self.body.append(f"if self.late is None: self.late = {value}")
        self.tensors.append("self.late")

    def read(self) -> str:
        """Return a stored value, or x."""
        places = self.tensors + [f"torch.from_numpy({name})" for name in self.arrays]
        return self.random.choice(places) if places else "x"

    def atom(self) -> str:
        kind = self.random.random()
        if kind < 0.35:
            return "x"
        if kind < 0.5 and self.locals:
            return self.random.choice(self.locals)
        return self.read()

    def expression(self) -> str:
        a, b = self.atom(), self.atom()
        return self.random.choice(
            [
                f"{a}",
                f"{a} + {b}",
                f"{a} - {b}",
                f"0.5 * {a} + {b}",
                f"torch.tanh({a})",
                f"{a}.clone()",
                f"{a} * 0.9",
                f"torch.where(x > 0, {a}, {b})",
                f"torch.stack([{a}, {b}]).mean(0)",
                f"{a}.flip(0)",
            ]
        )

    def statement(self) -> None:
        kinds = [
            self.keep_local,
            self.assign,
            self.assign,
            self.swap,
            self.write,
            self.write,
            self.reset,
        ]
        if self.queues:
            kinds += [self.push, self.push, self.push]
        if self.arrays:
            kinds += [self.write_array]
        self.random.choice(kinds)()

    def keep_local(self) -> None:
        name = f"v{len(self.locals)}"
        self.body.append(f"{name} = {self.expression()}")
        self.locals.append(name)

    def target(self) -> str | None:
        return self.random.choice(self.tensors) if self.tensors else None

    def assign(self) -> None:
        if (target := self.target()) is None:
            return
        self.body.append(f"{target} = {self.expression()}")

    def swap(self) -> None:
        if len(self.tensors) < 2:
            return
        a, b = self.random.sample(self.tensors, 2)
        right = self.random.choice(
            [f"{b}, {a}", f"{b}.clone(), torch.zeros(2)", f"{self.expression()}, {a}"]
        )
        self.body.append(f"{a}, {b} = {right}")

    def write(self) -> None:
        if (target := self.target()) is None:
            return
        value = self.expression()
        if self.random.random() < 0.3:
            self.body.append(f"{target} = {target}.clone()")
        self.body.append(
            self.random.choice(
                [
                    f"{target} += {value}",
                    f"{target}.copy_({value})",
                    f"{target}.mul_(0.5)",
                    f"{target}[0] = ({value})[1]",
                    f"{target}.add_(x)",
                ]
            )
        )

    def reset(self) -> None:
        if (target := self.target()) is None:
            return
        self.body.append(
            self.random.choice(
                [
                    f"{target} = torch.where(x > 0.5, torch.zeros(2), {target})",
                    f"{target}.masked_fill_(x > 0.5, 0.0)",
                    f"{target}[x > 0.5] = 0.0",
                    f"{target} = torch.zeros(2)",
                    f"{target}.zero_()",
                ]
            )
        )

    def push(self) -> None:
        name, size, bounded = self.random.choice(self.queues)
        value = self.expression()
        choices = [f"{name}[{self.random.randrange(size)}] = {value}"]
        if bounded:
            choices += [f"{name}.append({value})"] * 3 + [
                f"{name}.rotate(1)",
                f"{name}.appendleft({value})",
            ]
        else:
            choices += [
                f"{name} = [*{name}[1:], {value}]",
                f"{name}.append({value}); {name}.pop(0)",
                f"{name}.insert(0, {value}); {name}.pop()",
            ]
        self.body.append(self.random.choice(choices))

    def write_array(self) -> None:
        name = self.random.choice(self.arrays)
        self.body.append(
            self.random.choice(
                [
                    f"{name} += ({self.expression()}).numpy()",
                    f"{name} = ({self.expression()}).numpy() * np.float32(0.5)",
                    f"{name}[:] = ({self.expression()}).numpy()",
                    f"{name} = {name} * np.float32(0.5) + x.numpy()",
                ]
            )
        )


def load(source: str, folder: Path) -> Any:
    """Load the policy's class from a separate file, so that it has lines."""
    file = folder / "policy.py"
    file.write_text(source)
    name = f"random_policy_{folder.name}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.Policy


def observations(seed: int, count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(2, generator=generator) for _ in range(count)]


def eager(policy: Any, xs: list[torch.Tensor]) -> list[torch.Tensor] | None:
    """Return the outputs of the program, or None if it does not run or changes its own sensor."""
    ys = []
    for x in xs:
        given = x.clone()
        try:
            ys.append(policy.step(given).clone())
        except (RuntimeError, TypeError, ValueError, IndexError):
            return None
        if not torch.equal(given, x) or ys[-1].shape != x.shape or not torch.isfinite(ys[-1]).all():
            return None
    return ys


def outcome(seed: int, folder: Path) -> tuple[str, str]:
    """Return the outcome for a policy, and its source with its messages."""
    bench = Workbench(folder)
    source = Writer(seed).source()
    passes = 2 + seed % 4
    Policy = load(source, folder)
    xs = observations(seed, TICKS)
    wanted = eager(Policy(), xs)
    traced = observations(seed + 1_000_000, passes)
    if wanted is None or eager(Policy(), traced) is None:
        return "no program", source
    policy = Policy()
    try:
        with bench.trace():
            for x in traced:
                given = annotate.input_tensors("p", {"x": x.clone()})
                annotate.output_tensors("p", {"y": policy.step(given)}, export_with="jit")
        bench.compile()
    except leapp.LeappError as error:
        with contextlib.suppress(leapp.LeappError):
            leapp.stop()
        if error.code == "LP111":  # its output depends on no input
            return "no program", source
        return "refused", f"{source}\n{passes} passes: {error}"
    said = [
        each
        for each in leapp.diagnostics()
        if each.level == "WARNING" and each.code not in HARMLESS
    ]
    robot = bench.manager()
    found = [robot.run_policy(dict.fromkeys(robot.inputs, x))["p/y"] for x in xs]
    right = torch.allclose(torch.stack(found), torch.stack(wanted), rtol=1e-3, atol=1e-4)
    text = f"{source}\n{passes} passes: {[(each.code, each.text) for each in said]}"
    return ("warned, " if said else "") + ("right" if right else "wrong"), text


@pytest.mark.parametrize("part", range(PARTS))
def test_no_bundle_is_wrong_in_silence(part: int, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for seed in range(FIRST + part, FIRST + EXAMPLES, PARTS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        result, text = outcome(seed, folder)
        assert result != "wrong", f"seed {seed}:\n{text}"
        counts[result] += 1
    del counts["no program"]
    assert 2 * counts["right"] >= counts.total(), dict(counts)  # nor is everything refused
