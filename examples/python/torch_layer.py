"""A graph convolution in PyTorch: two layers learn which half of a graph a node is in."""

from __future__ import annotations

import sys

import numpy as np
import scipy.sparse as sp
import torch

import nonzero as nz


class GraphConvolution(torch.nn.Module):
    """Mix the features of a node's neighbours, then transform them: A x W + bias."""

    def __init__(self, op: nz.Operator, inputs: int, outputs: int) -> None:
        super().__init__()
        self.op = op
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Give (nodes, outputs) for x of (nodes, inputs)."""
        return self.linear(nz.torch.spmv(self.op, x))


def two_halves(nodes: int, rng: np.random.Generator) -> sp.csr_array:
    """Give a graph whose edges mostly stay within its first or its second half."""
    edges = rng.integers(nodes // 2, size=(2, 8 * nodes))
    edges += nodes // 2 * rng.integers(2, size=8 * nodes)
    across = rng.random(8 * nodes) < 0.1
    edges[1, across] = (edges[1, across] + nodes // 2) % nodes
    A = sp.coo_array((np.ones(8 * nodes, np.float32), tuple(edges)), shape=(nodes, nodes)).tocsr()
    return A + A.T + sp.eye_array(nodes, dtype=np.float32, format="csr")


def main(nodes: int = 2000) -> int:
    """Train a few steps; 0 where most nodes are told apart."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    A = two_halves(nodes, rng)
    # Every row is divided by its sum, so that a layer takes means. It is planned once.
    op = nz.plan(sp.diags_array(1 / A.sum(axis=1)) @ A, device="gpu" if nz.gpu_count() else None)
    device = "cpu" if op.device == "cpu" else f"cuda:{op.device}"
    y = torch.arange(nodes, device=device) // (nodes // 2)
    # The features say little about a node: noise, and a weak hint.
    x = torch.randn(nodes, 16, device=device)
    x[:, 0] += 0.8 * (2 * y - 1)

    layers = GraphConvolution(op, 16, 16), torch.nn.ReLU(), GraphConvolution(op, 16, 2)
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    some = torch.randperm(nodes, device=device)[: nodes // 10]  # the labels that are known
    for step in range(41):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x)[some], y[some])
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step}: loss {loss.item():.3f}")
    right = (model(x).argmax(1) == y).float().mean().item()
    print(f"{right:.1%} of the nodes are told apart by {op!r}")
    return 0 if right > 0.9 else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
