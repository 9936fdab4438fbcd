"""Policies that draw: traced and untraced runs are the same, and bundles give what they draw."""

from __future__ import annotations

import pytest
import torch
from conftest import Workbench
from noise_policies import POLICIES, observations

import leapp
from leapp import annotate

TICKS = 4


def run(name: str, backend: str = "onnx") -> list[torch.Tensor]:
    """Run a policy for some ticks; return its actions, and the state of PyTorch's generator."""
    torch.manual_seed(5)
    policy = POLICIES[name]()
    actions = []
    with torch.no_grad():
        for given in observations(TICKS):
            obs = annotate.input_tensors("policy", {"obs": given})
            action = policy(obs)
            actions.append(action.clone())
            annotate.output_tensors("policy", {"action": action}, export_with=backend)
    return [*actions, torch.get_rng_state()]


#: C++ has no operator for the attention of the last one.
CASES = [
    (name, backend)
    for name in POLICIES
    for backend in ("onnx", "jit", "cpp")
    if (name, backend) != ("forgotten", "cpp")
]


@pytest.mark.parametrize(("name", "backend"), CASES)
def test_a_policy_that_draws(bench: Workbench, name: str, backend: str) -> None:
    plain = run(name, backend)
    with bench.trace():
        traced = run(name, backend)
    assert all(map(torch.equal, plain, traced))
    assert bench.compile(golden=TICKS) == {"policy": True}
    codes = {each.code for each in leapp.diagnostics()}
    assert codes <= {"LP203" if name == "forgotten" else "LP411"}
    if backend == "cpp":
        return  # the validation ran it; a manager needs `leapp build`
    manager = bench.manager(noise_seed=1)
    assert manager.inputs == ["policy/obs"]
    assert manager.noise_inputs
    # The golden ticks feed the traced noise.
    assert manager.verify().passed
    drawn = [manager.run_policy({"policy/obs": obs})["policy/action"] for obs in observations(2)]
    manager.reset()
    again = [manager.run_policy({"policy/obs": obs})["policy/action"] for obs in observations(2)]
    assert all(map(torch.equal, drawn, again))
    assert not torch.equal(drawn[0], plain[0])
