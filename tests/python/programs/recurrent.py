"""Recurrent and attention policies."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from leapp import annotate

from . import Policy, Ports, normal, program


class _Recurrent(Policy):
    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 6)}

    def enter(self, inputs: Ports) -> torch.Tensor:
        obs: torch.Tensor = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        return obs

    def leave(self, action: torch.Tensor) -> Ports:
        return {
            "policy/action": annotate.output_tensors(
                "policy", {"action": action}, export_with=self.backend
            )
        }


@program(ticks=100)
class GruDeclared(_Recurrent):
    """GRU cell, declared state."""

    def build(self) -> None:
        self.cell, self.head = nn.GRUCell(6, 16), nn.Linear(16, 3)
        self.hidden = torch.zeros(1, 16)

    def step(self, inputs: Ports) -> Ports:
        obs = self.enter(inputs)
        hidden = annotate.state_tensors("policy", {"hidden": self.hidden})
        hidden = self.cell(obs, hidden)
        self.hidden = annotate.update_state("policy", {"hidden": hidden})
        return self.leave(torch.tanh(self.head(hidden)))


@program(ticks=100)
class GruModuleReassigned(_Recurrent):
    """nn.GRU with its hidden state reassigned in a registered buffer."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gru, self.head = nn.GRU(6, 16, num_layers=2), nn.Linear(16, 3)
            self.register_buffer("h", torch.zeros(2, 1, 16))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out, self.h = self.gru(x.unsqueeze(0), self.h)
            return self.head(out.squeeze(0))

    def build(self) -> None:
        self.net = self.Net().eval()

    def step(self, inputs: Ports) -> Ports:
        obs = self.enter(inputs)
        annotate.module("policy", self.net)
        return self.leave(self.net(obs))


@program(ticks=100)
class GruModuleInPlace(_Recurrent):
    """The same with copy_ into the buffer, without a declaration."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gru, self.head = nn.GRU(6, 16), nn.Linear(16, 3)
            self.register_buffer("h", torch.zeros(1, 1, 16))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out, h = self.gru(x.unsqueeze(0), self.h)
            self.h.copy_(h)
            return self.head(out.squeeze(0))

    def build(self) -> None:
        self.net = self.Net().eval()

    def step(self, inputs: Ports) -> Ports:
        return self.leave(self.net(self.enter(inputs)))


@program(ticks=100)
class LstmTwoLayers(_Recurrent):
    """Two layers, hidden and cell state in buffers of a submodule."""

    class Memory(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(6, 12, num_layers=2)
            self.register_buffer("h", torch.zeros(2, 1, 12))
            self.register_buffer("c", torch.zeros(2, 1, 12))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out, (self.h, self.c) = self.lstm(x.unsqueeze(0), (self.h, self.c))
            return out.squeeze(0)

    def build(self) -> None:
        self.net = nn.Sequential(self.Memory(), nn.Linear(12, 3)).eval()

    def step(self, inputs: Ports) -> Ports:
        obs = self.enter(inputs)
        annotate.module("policy", self.net)
        return self.leave(self.net(obs))


@program(ticks=100)
class LstmCellList(_Recurrent):
    """A list of layer states, declared one by one, because nested names are not allowed."""

    def build(self) -> None:
        self.cells = nn.ModuleList([nn.LSTMCell(6, 8), nn.LSTMCell(8, 8)])
        self.head = nn.Linear(8, 2)
        self.state = {f"{k}{i}": torch.zeros(1, 8) for i in range(2) for k in "hc"}

    def step(self, inputs: Ports) -> Ports:
        x = self.enter(inputs)
        state = dict(zip(self.state, annotate.state_tensors("policy", self.state), strict=True))
        for i, cell in enumerate(self.cells):
            state[f"h{i}"], state[f"c{i}"] = cell(x, (state[f"h{i}"], state[f"c{i}"]))
            x = state[f"h{i}"]
        annotate.update_state("policy", state)
        self.state = state
        return self.leave(self.head(x))


@program(ticks=100)
class BidirectionalEncoder(_Recurrent):
    """A bidirectional GRU over a window of observations."""

    def build(self) -> None:
        self.gru = nn.GRU(6, 8, bidirectional=True, batch_first=True)
        self.head = nn.Linear(16, 3)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 5, 6)}

    def step(self, inputs: Ports) -> Ports:
        out, _ = self.gru(self.enter(inputs))
        return self.leave(self.head(out[:, -1]))


@program(ticks=100)
class HandWrittenRnn(_Recurrent):
    """A cell written with plain tensors and an in-place state."""

    def build(self) -> None:
        self.wx, self.wh = torch.randn(6, 10) * 0.3, torch.randn(10, 10) * 0.3
        self.h = torch.zeros(1, 10)

    def step(self, inputs: Ports) -> Ports:
        obs = self.enter(inputs)
        self.h.copy_(torch.tanh(obs @ self.wx + self.h @ self.wh))
        return self.leave(self.h[:, :3] * 2)


@program(ticks=100)
class TransformerOverHistory(_Recurrent):
    """A transformer encoder layer over a history held as state."""

    def build(self) -> None:
        self.embed = nn.Linear(6, 16)
        self.layer = nn.TransformerEncoderLayer(
            16, 4, dim_feedforward=32, batch_first=True, dropout=0.0
        ).eval()
        self.head = nn.Linear(16, 3)
        self.history = torch.zeros(1, 4, 6)

    def step(self, inputs: Ports) -> Ports:
        obs = self.enter(inputs)
        history = annotate.state_tensors("policy", {"history": self.history})
        history = torch.cat([history[:, 1:], obs[:, None]], 1)
        self.history = annotate.update_state("policy", {"history": history})
        return self.leave(self.head(self.layer(self.embed(history))[:, -1]))


@program(ticks=100)
class CausalAttention(_Recurrent):
    """scaled_dot_product_attention with a causal mask over a window."""

    def build(self) -> None:
        self.qkv, self.out = nn.Linear(6, 24), nn.Linear(8, 3)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 5, 6)}

    def step(self, inputs: Ports) -> Ports:
        x = self.enter(inputs)
        q, k, v = self.qkv(x).view(1, 5, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.leave(self.out(y.transpose(1, 2).reshape(1, 5, 8)[:, -1]))


@program(ticks=100)
class KeyValueCache(_Recurrent):
    """A transformer with a sliding key-value cache as state."""

    def build(self) -> None:
        self.q, self.k, self.v = nn.Linear(6, 8), nn.Linear(6, 8), nn.Linear(6, 8)
        self.out = nn.Linear(8, 3)
        self.cache = {"keys": torch.zeros(1, 4, 8), "values": torch.zeros(1, 4, 8)}

    def step(self, inputs: Ports) -> Ports:
        x = self.enter(inputs)[:, None]
        keys, values = annotate.state_tensors("policy", self.cache)
        keys = torch.cat([keys[:, 1:], self.k(x)], 1)
        values = torch.cat([values[:, 1:], self.v(x)], 1)
        annotate.update_state("policy", {"keys": keys, "values": values})
        self.cache = {"keys": keys, "values": values}
        weights = torch.softmax(self.q(x) @ keys.transpose(1, 2) / 8**0.5, -1)
        return self.leave(self.out((weights @ values)[:, 0]))


@program(ticks=100)
class MultiheadAttention(_Recurrent):
    """nn.MultiheadAttention with a boolean padding mask."""

    def build(self) -> None:
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True).eval()
        self.head = nn.Linear(6, 3)

    def sense(self, rng: torch.Generator) -> Ports:
        mask = torch.rand(1, 5, generator=rng) > 0.6
        mask[:, 0] = False
        return {"policy/obs": normal(rng, 1, 5, 6), "policy/mask": mask}

    def step(self, inputs: Ports) -> Ports:
        x, mask = annotate.input_tensors(
            "policy", {"obs": inputs["policy/obs"], "mask": inputs["policy/mask"]}
        )
        y, _ = self.attention(x, x, x, key_padding_mask=mask)
        return self.leave(self.head(y[:, 0]))
