"""PyTorch's operator database: each operator exported and compared.

Every operator of ``op_db`` that takes and returns float32 tensors deterministically is traced as a
one-node pipeline, exported, and compared with eager PyTorch twice: on the traced inputs and on the
same inputs scaled by 0.97 (so that a value baked into the model shows up).
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SAMPLES = 3
SCALE = 0.97

#: Operators whose result is random, uninitialised or determined by a seed, whatever the sample is.
RANDOM = frozenset(
    """bernoulli cauchy empty_like exponential geometric log_normal multinomial new_empty
    new_empty_strided nn.functional.alpha_dropout nn.functional.dropout nn.functional.dropout2d
    nn.functional.dropout3d nn.functional.feature_alpha_dropout.with_train
    nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d nn.functional.rrelu
    normal normal.in_place normal.number_mean pca_lowrank rand_like randint_like randn_like
    svd_lowrank uniform""".split()
)

#: Relative and absolute tolerance for each exported format.
TOLERANCE = {"jit": (1e-4, 1e-5), "onnx": (1e-3, 1e-4), "cpp": (1e-3, 1e-4)}

#: Optimising a model of one operator takes longer than all its runs.
CPP_FLAGS = ("-O0",)


def family(backend: str) -> str:
    """Return the file format of a backend: jit, onnx or cpp."""
    return "jit" if backend.startswith("jit") else "cpp" if backend == "cpp" else "onnx"


@dataclasses.dataclass
class Verdict:
    """The outcome for one operator."""

    op: str
    status: str  # pass | wrong | error | crash | timeout | skip
    message: str = ""


def full_name(op: Any) -> str:
    """Return the operator's name with its variant, as on the command line."""
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


def operators() -> dict[str, Any]:
    """Return all operators of the database that support float32, by full name."""
    import torch
    import torch.testing._internal.common_methods_invocations as database

    # Random operators would otherwise seed themselves again and look deterministic.
    database.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)
    return {full_name(op): op for op in database.op_db if torch.float32 in op.dtypes}


def _leaves(tree: Any) -> list[Any]:
    from torch.utils._pytree import tree_flatten

    return list(tree_flatten(tree)[0])


def _tensors(tree: Any) -> list[Any]:
    import torch

    return [leaf for leaf in _leaves(tree) if isinstance(leaf, torch.Tensor)]


def _call(op: Any, sample: Any) -> Any:
    return op(sample[0], *sample[1], **sample[2])


def _scaled(sample: Any) -> Any:
    import torch
    from torch.utils._pytree import tree_map

    def scale(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex()):
            return leaf.detach().clone() * SCALE
        return copy.deepcopy(leaf)

    return tree_map(scale, sample)


def difference(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    """Return "" if two tensors agree in type, shape and value (NaN equals NaN), otherwise the
    difference.
    """
    import torch

    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype} instead of {expected.dtype}"
    if tuple(actual.shape) != tuple(expected.shape):
        return f"shape {tuple(actual.shape)} instead of {tuple(expected.shape)}"
    if expected.is_complex():
        actual, expected = (
            torch.view_as_real(x.resolve_conj().to(torch.complex128)) for x in (actual, expected)
        )
    if expected.dtype == torch.bool or not expected.is_floating_point():
        wrong = int((actual != expected).sum())
        return f"{wrong} of {expected.numel()} elements differ" if wrong else ""
    actual, expected = actual.double(), expected.double()
    if torch.allclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True):
        return ""
    worst = (actual - expected).abs().nan_to_num(nan=float("inf")).max()
    return f"values differ by up to {float(worst):.3g}"


def usable_samples(op: Any, count: int = SAMPLES) -> Iterator[Any]:
    """Return the operator's first samples as (input, args, kwargs), without incomparable ones."""
    import torch

    torch.manual_seed(0)
    samples = op.sample_inputs("cpu", torch.float32, requires_grad=False)
    for sample in itertools.islice(samples, count):
        tree = (sample.input, sample.args, sample.kwargs)
        inputs = _tensors(tree)
        if not inputs or any(t.layout != torch.strided for t in inputs):
            continue
        results = []
        for seed in (1, 2):
            torch.manual_seed(seed)
            results.append(_leaves(_call(op, copy.deepcopy(tree))))
        first, second = results
        if not first or not all(isinstance(t, torch.Tensor) for t in first):
            continue
        if any(t.layout != torch.strided for t in first):
            continue
        if any(difference(a, b, 1e-5, 1e-8) for a, b in zip(first, second, strict=True)):
            continue
        yield tree


def export(op: Any, sample: Any, backend: str, folder: str) -> Path:
    """Trace one call of ``op`` with every tensor of the sample as an input; return the YAML."""
    import torch
    from torch.utils._pytree import tree_flatten, tree_unflatten

    import leapp
    from leapp import annotate

    leaves, tree = tree_flatten(copy.deepcopy(sample))
    index = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    leapp.start("op", save_path=folder)
    try:
        payload = {f"t{i}": leaves[i] for i in index}
        traced = annotate.input_tensors("op", payload)
        for i, value in zip(index, traced if len(index) > 1 else [traced], strict=True):
            leaves[i] = value
        outputs = _leaves(_call(op, tree_unflatten(leaves, tree)))
        named = {f"o{i}": value for i, value in enumerate(outputs)}
        annotate.output_tensors("op", named, export_with=backend)
    finally:
        with contextlib.suppress(Exception):
            leapp.stop()
    leapp.compile_graph(visualize=False, validate=False)
    return Path(folder) / "op" / "op.yaml"


def model_runner(yaml_path: Path) -> Callable[[dict[str, Any]], list[Any]] | None:
    """Run the exported file without LEAPP, except for its port names."""
    import torch
    import yaml

    node = yaml.safe_load(yaml_path.read_text())["models"]["op"]
    names = [port["name"] for port in node["inputs"] or []]
    path = str(yaml_path.parent / node["parameters"]["model_path"])
    if path.endswith(".cpp"):
        sys.path.insert(0, str(Path(__file__).parent))
        import cpp_model

        return cpp_model.load(yaml_path, "op", CPP_FLAGS)
    if path.endswith(".pt"):
        module = torch.jit.load(path)

        def run_jit(feed: dict[str, Any]) -> list[Any]:
            result = module(*[feed[name] for name in names])
            return list(result) if isinstance(result, (tuple, list)) else [result]

        return run_jit

    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    if any("bfloat16" in port.type for port in (*session.get_inputs(), *session.get_outputs())):
        return None  # NumPy has no bfloat16

    def run_onnx(feed: dict[str, Any]) -> list[Any]:
        results = session.run(None, {name: feed[name].contiguous().numpy() for name in names})
        return [torch.from_numpy(result) for result in results]

    return run_onnx


def manager_runner(yaml_path: Path) -> Callable[[dict[str, Any]], list[Any]]:
    """Run the bundle as a user does."""
    import leapp

    manager = leapp.InferenceManager(str(yaml_path))
    names = [key.split("/", 1)[1] for key in manager.inputs]

    def run(feed: dict[str, Any]) -> list[Any]:
        outputs = manager.run_policy({f"op/{name}": feed[name] for name in names})
        return [outputs[f"op/o{i}"] for i in range(len(outputs))]

    return run


def check_sample(op: Any, sample: Any, backend: str, via: str) -> str:
    """Export one sample and compare; return "" or the difference."""
    rtol, atol = TOLERANCE[family(backend)]
    with tempfile.TemporaryDirectory() as folder:
        yaml_path = export(op, sample, backend, folder)
        runners: list[tuple[str, Callable[[dict[str, Any]], list[Any]]]] = []
        if via in ("model", "both") and (runner := model_runner(yaml_path)):
            runners.append(("model", runner))
        if via in ("manager", "both") and family(backend) != "cpp":  # it has only its table
            runners.append(("manager", manager_runner(yaml_path)))
        for label, tree in (("traced", copy.deepcopy(sample)), ("scaled", _scaled(sample))):
            try:
                expected = _leaves(_call(op, copy.deepcopy(tree)))
            except Exception:  # 0.97 times a valid input may be invalid
                if label == "scaled":
                    continue
                raise
            for kind, run in runners:
                values = copy.deepcopy(_leaves(tree))
                feed = {f"t{i}": v for i, v in enumerate(values) if v is not None}
                actual = run(feed)
                if len(actual) != len(expected):
                    return f"{kind}, {label}: {len(actual)} outputs instead of {len(expected)}"
                for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
                    if text := difference(a, b, rtol, atol):
                        return f"{kind}, {label}, o{i}: {text}"
    return ""


def check_operator(op: Any, backend: str, via: str = "both", samples: int = SAMPLES) -> Verdict:
    """Return the verdict over an operator's first samples: the first failure decides."""
    name = full_name(op)
    if name in RANDOM:
        return Verdict(name, "skip", "random")
    seen = 0
    try:
        for number, sample in enumerate(usable_samples(op, samples)):
            seen += 1
            if text := check_sample(op, sample, backend, via):
                return Verdict(name, "wrong", f"sample {number}: {text}")
    except Exception as error:
        if seen == 0:
            return Verdict(name, "skip", f"cannot be run: {error}")
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return Verdict(name, "error", f"sample {seen - 1}: {text[:500]}")
    if seen == 0:
        return Verdict(name, "skip", "no sample with deterministic tensor outputs")
    return Verdict(name, "pass")
