"""Random examples of Gymnasium's spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

#: Bounds with a larger distance are not the range of real observations.
_WIDE = 1e3


def is_simple(space: Any) -> bool:
    """Return whether one tensor can hold a value of the space."""
    from gymnasium import spaces

    return isinstance(
        space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
    )


def example_of(space: Any, *, real: bool = False) -> torch.Tensor:
    """Return a batch of one random value, from PyTorch's generator; real numbers have 32 bits.

    Args:
        space: A Box, Discrete, MultiDiscrete or MultiBinary.
        real: True for real numbers, also if the space has integers.
    """
    import numpy as np
    import torch
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return torch.randint(int(space.n), (1,))
    if isinstance(space, spaces.MultiDiscrete):
        return (torch.rand(1, *space.shape) * torch.as_tensor(space.nvec)).long()
    if isinstance(space, spaces.MultiBinary):
        return torch.randint(2, (1, *space.shape), dtype=torch.int8)
    low = torch.as_tensor(space.low, dtype=torch.float64)
    high = torch.as_tensor(space.high, dtype=torch.float64)
    near = (high - low) < _WIDE  # false for infinite bounds
    uniform = low + torch.rand(low.shape, dtype=torch.float64) * (high - low)
    normal = torch.randn(low.shape, dtype=torch.float64).clamp(low, high)
    value = torch.where(near, uniform, normal).unsqueeze(0)
    if real or np.issubdtype(space.dtype, np.floating):
        return value.float()
    return value.to(torch.as_tensor(np.zeros(1, space.dtype)).dtype)
