"""Errors of InferenceManager at run time, each of which names the port."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import Workbench, refused
from pair_pipeline import Reference


class TestRefusals:
    """Every refusal at run time names the port."""

    def test_missing_input(self, pair: Workbench) -> None:
        with refused("LP604", "pre/obs"):
            pair.manager()({})

    def test_unknown_port(self, pair: Workbench) -> None:
        with refused("LP601", "pre/nonsense"):
            pair.manager()({"pre/obs": torch.ones(1, 3), "pre/nonsense": torch.ones(1)})

    @pytest.mark.parametrize("shape", [(3,), (1, 4), (2, 3), (1, 3, 1), ()])
    def test_wrong_shape(self, pair: Workbench, shape: tuple[int, ...]) -> None:
        with refused("LP603", "pre/obs"):
            pair.manager()({"pre/obs": torch.ones(shape)})

    @pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.bool, torch.float16])
    def test_wrong_dtype(self, pair: Workbench, dtype: torch.dtype) -> None:
        with refused("LP602", "pre/obs"):
            pair.manager()({"pre/obs": torch.ones(1, 3).to(dtype)})

    def test_not_a_tensor(self, pair: Workbench) -> None:
        with refused("LP002", "pre/obs"):
            pair.manager()({"pre/obs": "hello"})

    def test_state_is_unharmed_by_a_refused_call(self, pair: Workbench) -> None:
        manager, reference = pair.manager(), Reference()
        obs = torch.ones(1, 3)
        torch.testing.assert_close(manager({"pre/obs": obs})["policy/action"], reference(obs))
        with refused("LP603", "pre/obs"):
            manager({"pre/obs": torch.ones(7)})
        torch.testing.assert_close(manager({"pre/obs": obs})["policy/action"], reference(obs))

    @pytest.mark.parametrize(
        ("node", "port", "value"),
        [
            ("nobody", "prev", torch.ones(1, 3)),
            ("pre", "nothing", torch.ones(1, 3)),
            ("pre", "prev", torch.ones(2, 3)),
            ("pre", "prev", torch.ones(1, 3, dtype=torch.int64)),
        ],
        ids=["node", "port", "shape", "dtype"],
    )
    def test_set_input_value(self, pair: Workbench, node: str, port: str, value: Any) -> None:
        with pytest.raises(Exception, match=f"{node if node == 'nobody' else port}"):
            pair.manager().set_input_value(node, port, value)

    def test_unknown_keyword(self, jit_pair: Workbench) -> None:
        with pytest.raises(TypeError):
            jit_pair.manager(colour="blue")
