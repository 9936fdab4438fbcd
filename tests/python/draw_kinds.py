"""Every kind of random draw of PyTorch, as functions of x, which is 0.25 everywhere."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import distributions
from torch.nn import functional

Tensor = torch.Tensor
#: Rows of x, which has 4 columns: enough for the mean of a draw.
COUNT = 4000


def _attention(x: Tensor) -> Tensor:
    rows = x.reshape(1, COUNT // 8, 8, 4)
    return functional.scaled_dot_product_attention(rows, rows, rows, dropout_p=0.5).flatten()


def _generator(x: Tensor) -> Tensor:
    return torch.randn(x.shape, generator=GENERATOR)


#: A generator of the program's own.
GENERATOR = torch.Generator()

#: A temperature near zero.
COLD = torch.tensor(1e-3)

#: Draws with the mean and the standard deviation of their elements.
DRAWS: dict[str, tuple[Callable[[Tensor], Tensor], float, float]] = {
    "randn": (lambda x: torch.randn(COUNT, 4), 0, 1),
    "randn_out": (lambda x: torch.randn(x.shape, out=torch.empty(COUNT, 4)), 0, 1),
    "randn_generator": (_generator, 0, 1),
    "rand": (lambda x: torch.rand(x.shape), 0.5, 0.2887),
    "randn_like": (torch.randn_like, 0, 1),
    "randn_transposed": (lambda x: torch.randn_like(x.T).T, 0, 1),
    "rand_like": (torch.rand_like, 0.5, 0.2887),
    "randn_double": (lambda x: torch.randn_like(x, dtype=torch.float64).float(), 0, 1),
    "randn_half": (lambda x: torch.randn(x.shape, dtype=torch.float16).float(), 0, 1),
    "normal_number": (lambda x: torch.normal(2.0, 3.0, x.shape), 2, 3),
    "normal_mean": (lambda x: torch.normal(x, 3.0), 0.25, 3),
    "normal_std": (lambda x: torch.normal(2.0, x), 2, 0.25),
    "normal_both": (lambda x: torch.normal(2 * x, x), 0.5, 0.25),
    "normal_certain": (lambda x: torch.normal(x, torch.zeros(4)), 0.25, 0),
    "normal_": (lambda x: torch.empty_like(x).normal_(1, 2), 1, 2),
    "normal_part": (lambda x: torch.zeros(COUNT, 8)[:, ::2].normal_(1, 2), 1, 2),
    "log_normal_": (lambda x: torch.empty_like(x).log_normal_(0, 0.25), 1.03174, 0.26203),
    "uniform_": (lambda x: torch.empty_like(x).uniform_(-1, 3), 1, 1.1547),
    "exponential_": (lambda x: torch.empty_like(x).exponential_(2), 0.5, 0.5),
    "geometric_": (lambda x: torch.empty_like(x).geometric_(0.5), 2, 1.4142),
    "cauchy_": (lambda x: torch.empty_like(x).cauchy_(1, 2).sub(1).div(2).atan(), 0, 0.9069),
    "bernoulli": (torch.bernoulli, 0.25, 0.433),
    "bernoulli_p": (lambda x: torch.bernoulli(x, 0.4), 0.4, 0.4899),
    "bernoulli_": (lambda x: torch.empty_like(x).bernoulli_(0.4), 0.4, 0.4899),
    "bernoulli_tensor": (lambda x: torch.empty_like(x).bernoulli_(x), 0.25, 0.433),
    "randint": (lambda x: torch.randint(-2, 3, x.shape).float(), 0, 1.4142),
    "randint_like": (lambda x: torch.randint_like(x, 5), 2, 1.4142),
    "random_": (lambda x: torch.empty_like(x).random_(1, 6), 3, 1.4142),
    "randperm": (lambda x: x[torch.randperm(COUNT)] + torch.randperm(4), 1.75, 1.118),
    "multinomial": (lambda x: torch.multinomial(x, 1).float(), 1.5, 1.118),
    "multinomial_two": (lambda x: torch.multinomial(x, 2).float(), 1.5, 1.118),
    "multinomial_many": (lambda x: torch.multinomial(x, 3, True).float(), 1.5, 1.118),
    "multinomial_row": (lambda x: torch.multinomial(x[:, 0], 2000, True).float(), 1999.5, 1154.7),
    "dropout": (lambda x: functional.dropout(x, 0.2), 0.25, 0.125),
    "dropout_": (lambda x: functional.dropout(x + 0, 0.2, inplace=True), 0.25, 0.125),
    "dropout2d": (
        lambda x: functional.dropout2d(x[None, :, :, None], 0.2)[0, :, :, 0],
        0.25,
        0.125,
    ),
    "alpha_dropout": (lambda x: functional.alpha_dropout(x, 0.5, True), 0.125, 0.8385),
    "feature_alpha_dropout": (
        lambda x: functional.feature_alpha_dropout(x[None, :, :, None], 0.5, True)[0, :, :, 0],
        0.125,
        0.8385,
    ),
    "rrelu": (lambda x: functional.rrelu(-x, 0.2, 0.6, True), -0.1, 0.02887),
    "attention": (_attention, 0.25, 0.08839),
    "gumbel": (lambda x: functional.gumbel_softmax(x, hard=True), 0.25, 0.433),
    "Normal.sample": (lambda x: distributions.Normal(x, 2.0).sample(), 0.25, 2),
    "Normal.rsample": (lambda x: distributions.Normal(x, x).rsample(), 0.25, 0.25),
    "Uniform": (lambda x: distributions.Uniform(x, 1.0).rsample(), 0.625, 0.2165),
    "Bernoulli": (lambda x: distributions.Bernoulli(x).sample(), 0.25, 0.433),
    "Categorical": (lambda x: distributions.Categorical(x).sample().float(), 1.5, 1.118),
    "Laplace": (lambda x: distributions.Laplace(x, 1.0).rsample(), 0.25, 1.4142),
    "Gumbel": (lambda x: distributions.Gumbel(x, 1.0).rsample(), 0.8272, 1.2825),
    "Exponential": (lambda x: distributions.Exponential(4 * x).rsample(), 1, 1),
    "LogNormal": (lambda x: distributions.LogNormal(0 * x, x).rsample(), 1.03174, 0.26203),
    "Geometric": (lambda x: distributions.Geometric(2 * x).sample(), 1, 1.4142),
    "MultivariateNormal": (
        lambda x: distributions.MultivariateNormal(x, torch.eye(4)).rsample(),
        0.25,
        1,
    ),
    "OneHot": (lambda x: distributions.OneHotCategorical(x).sample(), 0.25, 0.433),
    "RelaxedOneHot": (
        lambda x: distributions.RelaxedOneHotCategorical(COLD, x).rsample(),
        0.25,
        0.433,
    ),
}

#: Draws of few elements, which PyTorch computes in another way.
SMALL: dict[str, Callable[[Tensor], Tensor]] = {
    "randn": lambda x: torch.randn(3),
    "rand": lambda x: torch.rand(3),
    "normal": lambda x: torch.normal(1.0, 2.0, (3,)),
    "normal_": lambda x: torch.empty(15).normal_(1, 2),
    "dropout": lambda x: functional.dropout(x[0], 0.5),
    "multinomial": lambda x: torch.multinomial(x[0], 1).float(),
    "randperm": lambda x: torch.randperm(4).float(),
    "rsample": lambda x: distributions.Normal(x[0], 1.0).rsample(),
}
#: Draws that reject samples, so that no fixed arithmetic gives them.
REJECTING: dict[str, Callable[[Tensor], Tensor]] = {
    "poisson": torch.poisson,
    "binomial": lambda x: torch.binomial(8 * x, x),
    "gamma": lambda x: distributions.Gamma(x, x).sample(),
    "dirichlet": lambda x: distributions.Dirichlet(x).sample(),
    "beta": lambda x: distributions.Beta(x, x).sample(),
}
