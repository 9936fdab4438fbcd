"""The test programs as C++: correct in every traced pass, or refused with operator and line."""

from __future__ import annotations

import shutil

import pytest
import torch
from conftest import Workbench
from programs import PROGRAMS
from programs.runner import export

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")

#: Programs for which no C++ is generated, with the reason.
REFUSED = {
    "fourier_features": "_fft_r2c",
    "half_precision_trunk": "float16",
    "optical_warp": "grid_sampler_2d",
}

#: Every sixth program, and those whose operators are the hardest to generate.
CHOSEN = [*dict.fromkeys([*sorted(PROGRAMS)[::6], "masked_updates", "transformer_over_history"])]


@pytest.mark.parametrize("name", [name for name in CHOSEN if name not in REFUSED])
def test_program(name: str, bench: Workbench) -> None:
    with torch.no_grad():
        export(PROGRAMS[name], "cpp", bench.folder)  # compiles, and compares with feedback


@pytest.mark.parametrize("name", REFUSED)
def test_refused_program(name: str, bench: Workbench) -> None:
    with (
        torch.no_grad(),
        pytest.raises(Exception, match=rf"\.py:\d+.*{REFUSED[name]}|{REFUSED[name]}.*\.py:\d+"),
    ):
        export(PROGRAMS[name], "cpp", bench.folder)
