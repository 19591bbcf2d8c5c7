"""Pictures, by matplotlib."""

from __future__ import annotations

from typing import Any

from nonzero import _nonzero
from nonzero._arguments import whole
from nonzero._matrices import as_matrix


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as e:
        raise ImportError("this draws by matplotlib: pip install matplotlib") from e
    return plt.subplots()[1]


def spy(A: Any, *, ax: Any = None, size: int = 512) -> Any:
    """Draw where a matrix has entries, and how densely.

    Parameters
    ----------
    A : sparse matrix
        As `plan` takes it; copied to the CPU where it is on a GPU.
    ax : matplotlib.axes.Axes, optional
        Drawn into. [a new one]
    size : int
        Of the longer side [pixels]. Where entries share a pixel, their number shows on a
        logarithmic scale.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        Without matplotlib.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import nonzero as nz
    >>> nz.spy(nz.generate.laplace2d(8)).get_xlabel()
    '64 columns'
    """
    size = whole(size, "size", 1, 16384)
    axes = _axes(ax)
    host = as_matrix(A).on_cpu()
    density, height, width, most = _nonzero.picture(host.shape, *host.lent(), size, size)
    rows, cols = host.shape
    axes.imshow(
        density.reshape(height, width),
        cmap="Greys",
        vmin=0,
        vmax=1,
        extent=(0, cols, rows, 0),
        aspect="auto" if max(height, width) > 4 * min(height, width) else "equal",
        interpolation="nearest",
    )
    axes.set_xlabel(f"{cols:,} columns")
    axes.set_ylabel(f"{rows:,} rows")
    axes.set_title(f"{len(host.data):,} entries, up to {most:,} a pixel")
    return axes


def residuals_plot(result: Any, ax: Any) -> Any:
    """Draw the residuals of a `SolveResult` over its iterations."""
    axes = _axes(ax)
    axes.semilogy(result.residuals, label=f"{result.method} with {result.preconditioner}")
    axes.set_xlabel("iteration")
    axes.set_ylabel("norm(b - A x) / norm(b)")
    axes.grid(alpha=0.3)
    axes.legend()
    return axes
