"""Layers of networks in ONNX: recurrent ones, attention, convolutions, pooling, resizing, pads."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import Workbench
from onnx_fresh import Case, case, check, integers, mask, normal
from torch import nn
from torch.nn import functional as F

INF = float("inf")
CASES: dict[str, Case] = {}
OTHER_TYPES = (torch.float64, torch.float16, torch.bfloat16)


def add(name: str, one: Case) -> None:
    assert name not in CASES
    CASES[name] = one


def module(make: type[nn.Module], *args: Any, **options: Any) -> nn.Module:
    torch.manual_seed(1)
    return make(*args, **options).eval()


for kind in (nn.GRU, nn.LSTM, nn.RNN):
    for layers in (1, 2):
        for options in (
            {},
            {"bidirectional": True},
            {"batch_first": True, "bidirectional": True},
            {"bias": False},
        ):
            rnn = module(kind, 5, 7, layers, **options)
            text = "-".join([kind.__name__, str(layers), *options])
            add(text, case(rnn, normal(4, 4, 5)))
            count = layers * (2 if options.get("bidirectional") else 1)
            state = normal(count, 4, 7)
            if kind is nn.LSTM:
                add(
                    f"{text}-state",
                    case(lambda x, h, c, rnn=rnn: rnn(x, (h, c)), normal(4, 4, 5), state, state),
                )
            else:
                add(f"{text}-state", case(rnn, normal(4, 4, 5), state))
    add(f"{kind.__name__}-unbatched", case(module(kind, 5, 7), normal(4, 5)))
    for dtype in OTHER_TYPES:
        rnn = module(kind, 5, 7, 2, bidirectional=True).to(dtype)
        add(f"{kind.__name__}-{dtype}", case(rnn, normal(3, 2, 5, dtype=dtype)))
add("RNN-relu", case(module(nn.RNN, 5, 7, 2, nonlinearity="relu"), normal(4, 2, 5)))
add("LSTM-projected", case(module(nn.LSTM, 5, 7, 2, proj_size=3), normal(4, 2, 5)))
for kind, options in (
    (nn.GRUCell, {}),
    (nn.GRUCell, {"bias": False}),
    (nn.RNNCell, {}),
    (nn.RNNCell, {"nonlinearity": "relu"}),
):
    cell = module(kind, 5, 7, **options)
    text = "-".join([kind.__name__, *options])
    add(text, case(cell, normal(3, 5), normal(3, 7)))
    add(f"{text}-unbatched", case(cell, normal(5), normal(7)))
for options in ({}, {"bias": False}):
    cell = module(nn.LSTMCell, 5, 7, **options)
    text = "-".join(["LSTMCell", *options])
    run_cell = lambda x, h, c, cell=cell: cell(x, (h, c))  # noqa: E731
    add(text, case(run_cell, normal(3, 5), normal(3, 7), normal(3, 7)))
for dtype in OTHER_TYPES:
    cell = module(nn.GRUCell, 5, 7).to(dtype)
    add(f"GRUCell-{dtype}", case(cell, normal(3, 5, dtype=dtype), normal(3, 7, dtype=dtype)))

attention = F.scaled_dot_product_attention
qkv = (normal(2, 3, 4, 8), normal(2, 3, 5, 8), normal(2, 3, 5, 6))
square = (normal(2, 3, 5, 8),) * 3
add("attention", case(attention, *qkv))
add("attention-causal", case(lambda q, k, v: attention(q, k, v, is_causal=True), *square))
add(
    "attention-causal-wide",
    case(lambda q, k, v: attention(q, k, v, is_causal=True), normal(2, 3, 3, 8), *square[1:]),
)
add(
    "attention-causal-tall",
    case(lambda q, k, v: attention(q, k, v, is_causal=True), normal(2, 3, 7, 8), *square[1:]),
)
add("attention-bool", case(lambda q, k, v, m: attention(q, k, v, m), *qkv, mask(2, 1, 4, 5)))
add(
    "attention-nothing",
    case(lambda q, k, v, m: attention(q, k, v, m & False), *qkv, mask(2, 1, 4, 5)),
)
add("attention-float", case(lambda q, k, v, m: attention(q, k, v, m), *qkv, normal(4, 5)))
add(
    "attention-minus-inf",
    case(
        lambda q, k, v, m: attention(q, k, v, torch.zeros(4, 5).masked_fill(m, -INF)),
        *qkv,
        mask(4, 5),
    ),
)
add("attention-scale", case(lambda q, k, v: attention(q, k, v, scale=-0.3), *qkv))
add(
    "attention-grouped",
    case(
        lambda q, k, v: attention(q, k, v, enable_gqa=True, is_causal=True),
        normal(2, 6, 4, 8),
        normal(2, 3, 4, 8),
        normal(2, 3, 4, 8),
    ),
)
for dtype in OTHER_TYPES:
    add(
        f"attention-{dtype}",
        case(
            lambda q, k, v: attention(q, k, v, is_causal=True),
            *(normal(2, 3, 4, 8, dtype=dtype),) * 3,
        ),
    )
heads = module(nn.MultiheadAttention, 8, 2, batch_first=True)
lengths = lambda rng: torch.arange(4)[None] >= torch.randint(1, 4, (2, 1), generator=rng)  # noqa: E731
add("heads", case(lambda x: heads(x, x, x), normal(2, 4, 8)))
add(
    "heads-padded",
    case(lambda x, m: heads(x, x, x, key_padding_mask=m)[0], normal(2, 4, 8), lengths),
)
add(
    "heads-masked",
    case(
        lambda x, m: heads(x, x, x, attn_mask=m, average_attn_weights=False),
        normal(2, 4, 8),
        normal(4, 4),
    ),
)
other = module(nn.MultiheadAttention, 8, 2, kdim=5, vdim=6, add_bias_kv=True, add_zero_attn=True)
add("heads-key-value", case(other, normal(4, 2, 8), normal(3, 2, 5), normal(3, 2, 6)))
encoder = module(nn.TransformerEncoderLayer, 8, 2, 16, batch_first=True)
add("encoder", case(encoder, normal(2, 4, 8)))
add(
    "encoder-padded",
    case(lambda x, m: encoder(x, src_key_padding_mask=m), normal(2, 4, 8), lengths),
)
add(
    "transformer",
    case(
        module(nn.Transformer, 8, 2, 1, 1, 16, batch_first=True), normal(2, 4, 8), normal(2, 3, 8)
    ),
)

for dims in (1, 2, 3):
    size = (8,) * dims
    convolution = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1]
    transposed = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[dims - 1]
    for number, options in enumerate(
        (
            {"padding": 1, "stride": 2},
            {"dilation": 2, "groups": 2},
            {"padding": "same", "bias": False},
            {"padding": 1, "padding_mode": "reflect"},
            {"padding": 1, "padding_mode": "circular"},
            {"padding": 1, "padding_mode": "replicate"},
        )
    ):
        add(
            f"conv{dims}-{number}",
            case(module(convolution, 4, 6, 3, **options), normal(2, 4, *size)),
        )
    for number, options in enumerate(
        (
            {"stride": 2, "padding": 1, "output_padding": 1},
            {"dilation": 2, "groups": 2, "bias": False},
        )
    ):
        add(
            f"convT{dims}-{number}",
            case(module(transposed, 4, 6, 3, **options), normal(2, 4, *size)),
        )
    pools = [
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
        {"kernel_size": 2, "stride": 3, "ceil_mode": True},
    ]
    for number, options in enumerate(pools):
        largest = getattr(F, f"max_pool{dims}d")
        average = getattr(F, f"avg_pool{dims}d")
        add(
            f"max_pool{dims}-{number}",
            case(
                lambda x, f=largest, o=options: f(x, return_indices=True, **o), normal(2, 3, *size)
            ),
        )
        for counted in (True, False):
            add(
                f"avg_pool{dims}-{number}-{counted}",
                case(
                    lambda x, f=average, o=options, c=counted: f(x, count_include_pad=c, **o),
                    normal(2, 3, *size),
                ),
            )
add("conv-unbatched", case(module(nn.Conv2d, 4, 6, 3), normal(4, 8, 8)))
add("conv-weights", case(F.conv2d, normal(2, 4, 8, 8), normal(6, 4, 3, 3)))
add(
    "max_pool-dilated",
    case(lambda x: F.max_pool2d(x, 3, dilation=2, padding=1), normal(2, 3, 9, 9)),
)
add(
    "max_pool-minus-inf",
    case(lambda x: F.max_pool2d(x.masked_fill(x > -2, -INF), 3, padding=1), normal(2, 3, 9, 9)),
)
for number, prepare in enumerate((torch.log, lambda x: torch.relu(torch.log(x)))):
    add(
        f"max_pool-nan-{number}",
        case(lambda x, f=prepare: F.max_pool2d(f(x + 1), 3, 2, 1), normal(2, 3, 9, 9)),
    )
    add(
        f"max_pool-nan-dilated-{number}",
        case(lambda x, f=prepare: F.max_pool2d(f(x + 1), 2, dilation=2), normal(2, 3, 9, 9)),
    )
add("lp_pool", case(lambda x: F.lp_pool2d(x, 3, 3, ceil_mode=True), normal(2, 3, 9, 9)))
for out in (1, 3, 5, (3, None)):
    add(
        f"adaptive_avg-{out}",
        case(lambda x, o=out: F.adaptive_avg_pool2d(x, o), normal(2, 3, 7, 9)),
    )
    add(
        f"adaptive_max-{out}",
        case(lambda x, o=out: F.adaptive_max_pool2d(x, o, return_indices=True), normal(2, 3, 7, 9)),
    )

sizes: list[dict[str, Any]] = [
    {"size": (5, 11)},
    {"scale_factor": 2},
    {"scale_factor": (1.7, 0.6)},
    {"scale_factor": (1.7, 0.6), "recompute_scale_factor": True},
]
for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
    smooth = mode in ("bilinear", "bicubic")
    for number, options in enumerate(sizes):
        for align in (True, False) if smooth else (None,):
            add(
                f"{mode}-{number}-{align}",
                case(
                    lambda x, m=mode, a=align, o=options: F.interpolate(
                        x, mode=m, align_corners=a, **o
                    ),
                    normal(2, 3, 8, 7),
                ),
            )
        if smooth:
            add(
                f"{mode}-{number}-antialias",
                case(
                    lambda x, m=mode, o=options: F.interpolate(x, mode=m, antialias=True, **o),
                    normal(2, 3, 8, 7),
                ),
            )
add("linear-1d", case(lambda x: F.interpolate(x, scale_factor=0.7, mode="linear"), normal(2, 3, 8)))
add(
    "trilinear",
    case(lambda x: F.interpolate(x, size=(3, 9, 5), mode="trilinear"), normal(1, 2, 4, 6, 5)),
)
add(
    "nearest-uint8",
    case(
        lambda x: F.interpolate(x, scale_factor=2), integers(0, 255, 1, 3, 5, 5, dtype=torch.uint8)
    ),
)
for mode in ("bilinear", "bicubic"):  # of bytes, in PyTorch's fixed point
    for antialias in (True, False):
        for size in ((9, 7), (4, 50)):
            add(
                f"{mode}-uint8-{antialias}-{size}",
                case(
                    lambda x, m=mode, a=antialias, s=size: F.interpolate(
                        x, size=s, mode=m, antialias=a
                    ),
                    integers(0, 255, 1, 3, 31, 40, dtype=torch.uint8),
                ),
            )
add(
    "bilinear-rounded",  # as torchvision resizes bytes: the last bit decides
    case(
        lambda x: (
            F.interpolate(x.float(), size=(32, 40), mode="bilinear", antialias=True)
            .round()
            .to(torch.uint8)
        ),
        integers(0, 255, 1, 3, 48, 64, dtype=torch.uint8),
    ),
)
for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        for align in (True, False):
            add(
                f"grid-{mode}-{padding}-{align}",
                case(
                    lambda x, g, m=mode, p=padding, a=align: F.grid_sample(
                        x, g * 1.7, mode=m, padding_mode=p, align_corners=a
                    ),
                    normal(2, 3, 5, 6),
                    normal(2, 4, 7, 2),
                ),
            )
add(
    "grid-volume",
    case(
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        normal(1, 2, 4, 5, 6),
        normal(1, 3, 4, 5, 3),
    ),
)
for align in (True, False):
    add(
        f"affine_grid-{align}",
        case(lambda t, a=align: F.affine_grid(t, [2, 3, 4, 5], align_corners=a), normal(2, 2, 3)),
    )
add(
    "affine_grid-volume",
    case(lambda t: F.affine_grid(t, [2, 3, 4, 5, 6], align_corners=False), normal(2, 3, 4)),
)
for mode in ("constant", "reflect", "replicate", "circular"):
    add(f"pad-{mode}", case(lambda x, m=mode: F.pad(x, (1, 2, 2, 1), mode=m), normal(2, 3, 5, 6)))
    add(f"pad1-{mode}", case(lambda x, m=mode: F.pad(x, (3, 1), mode=m), normal(2, 3, 5)))
    add(
        f"pad-crop-{mode}",
        case(lambda x, m=mode: F.pad(x, (-1, 2, 1, -2), mode=m), normal(2, 3, 5, 6)),
    )
add("pad-inf", case(lambda x: F.pad(x, (1, 2), value=-INF), normal(2, 5)))
add("pad-int", case(lambda x: F.pad(x, (1, 2), value=7), integers(-9, 9, 2, 5)))
add("pad-bool", case(lambda x: F.pad(x, (1, 2), value=True), mask(2, 5)))

add(
    "layer_norm",
    case(lambda x, w, b: F.layer_norm(x, (4,), w, b, 1e-3), normal(2, 3, 4), normal(4), normal(4)),
)
add("group_norm", case(lambda x, w: F.group_norm(x, 3, w), normal(2, 6, 4, 5), normal(6)))
add("instance_norm", case(F.instance_norm, normal(2, 6, 4, 5)))
add("rms_norm", case(lambda x, w: F.rms_norm(x, (4,), w, 0.1), normal(2, 3, 4), normal(4)))
add(
    "batch_norm",
    case(lambda x, m, v: F.batch_norm(x, m, v.abs()), normal(2, 6, 4), normal(6), normal(6)),
)
add(
    "local_response",
    case(lambda x: F.local_response_norm(x, 4, alpha=0.1, k=2), normal(2, 6, 4, 5)),
)
add("gelu", case(lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), normal(3, 9)))
add("embedding", case(lambda w, i: F.embedding(i, w), normal(9, 4), integers(0, 9, 2, 3)))
add("one_hot", case(lambda i: F.one_hot(i, 7), integers(0, 7, 2, 3)))
add("unfold", case(lambda x: F.unfold(x, (2, 3), padding=1, stride=2), normal(2, 3, 5, 6)))
add("fold", case(lambda x: F.fold(x, (5, 6), 2, padding=1, stride=2, dilation=2), normal(2, 12, 9)))
add("pixel_shuffle", case(lambda x: F.pixel_shuffle(x, 2), normal(2, 8, 3, 4)))
add("weight_norm", case(nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), normal(2, 4)))


@pytest.mark.parametrize("name", CASES)
def test_layer(name: str, bench: Workbench) -> None:
    with torch.no_grad():
        check(bench, CASES[name], rounds=1)
