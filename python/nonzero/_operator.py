"""Planned products with a sparse matrix."""

from __future__ import annotations

import html
import operator
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonzero import _nonzero
from nonzero._arguments import names, whole
from nonzero._arrays import (
    VALUE_TYPES,
    as_dtype,
    assign,
    copied,
    dense,
    device_of,
    dtype_of,
    empty,
    finished,
    lend,
    library_of,
    on_gpu,
    stream_of,
)
from nonzero._device import device_product
from nonzero._linear_operator import (
    CONJUGATE,
    PLAIN,
    TRANSPOSE,
    ArrayOperator,
    LinearOperator,
    from_left,
)
from nonzero._matrices import Matrix, as_matrix
from nonzero._plan import Plan
from nonzero._transposed import TransposedOperator

if TYPE_CHECKING:
    from typing_extensions import Self

_ndarray, _empty = np.ndarray, np.empty
_PRECONDITIONERS = ("amg", "fsai", "ic", "ilu", "spai")


class Operator(ArrayOperator):
    """A linear operator that multiplies by a sparse matrix, or by a preconditioner.

    `plan` and `amg` make it. It is a `scipy.sparse.linalg.LinearOperator` where SciPy is
    installed, and CuPy's solvers take it as one. Several threads may multiply at once.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    dtype : numpy.dtype
        Of the values: float32, float64, complex64 or complex128. Vectors have the same, or in
        ``op @ x`` one that NumPy would multiply by it: x of a higher precision is multiplied in
        that precision, by a second layout that is planned when the first such x comes.
    device : int or "cpu"
        Where the operator, x and y lie: the number of a GPU, or the CPU. As `plan` takes it.
    nnz : int
        Entries of the matrix; of a preconditioner there are none to count.
    nbytes : int
        Of the layout that it multiplies by.
    """

    def __init__(self, core: Any, matrix: Matrix | None, options: dict[str, Any]) -> None:
        self._core = core
        self._matrix = matrix
        self._options = options
        self._changing = threading.Lock()  # _matrix and what the core has of it, together
        self._has_transpose = matrix is None
        self._wider: Operator | None = None
        self.shape = tuple(core.shape)
        self.dtype = np.dtype(core.dtype)
        self._device = int(core.device)  # -1 for the CPU, as the library counts
        self._dtype_name = self.dtype.name
        # x is fastest in CPU memory and of this dtype; for no dtype it is elsewhere.
        self._fast_dtype = self.dtype if self._device < 0 else None

    # Products.

    def __matmul__(self, x: Any) -> Any:
        """Multiply a vector (cols,) or the columns of a matrix (cols, k); see `apply`."""
        if type(x) is _ndarray and x.dtype is self._fast_dtype and x.ndim == 1:
            y = _empty(self.shape[0], x.dtype)
            self._core.apply(PLAIN, x, y, None, None, 0)
            return y
        if self._device >= 0:
            y = device_product(self, x)
            if y is not None:
                return y
        if isinstance(x, LinearOperator) or np.isscalar(x):
            return super().__matmul__(x)
        return self._product(PLAIN, x)

    def __rmatmul__(self, x: Any) -> Any:
        """Multiply from the left, x A: by the transposed product."""
        if isinstance(x, LinearOperator) or np.isscalar(x):
            return super().__rmatmul__(x)
        return from_left(self._product, TRANSPOSE, x)

    def matvec(self, x: Any) -> Any:
        """Multiply a vector (cols,) or (cols, 1); the result has as many dimensions."""
        return self._of_vector(PLAIN, x, self.shape[1])

    def rmatvec(self, x: Any) -> Any:
        """Multiply a vector by the conjugate transpose."""
        return self._of_vector(CONJUGATE, x, self.shape[0])

    def matmat(self, X: Any) -> Any:
        """Multiply the columns of a matrix (cols, k)."""
        return self._product(PLAIN, X)

    def rmatmat(self, X: Any) -> Any:
        """Multiply the columns of a matrix by the conjugate transpose."""
        return self._product(CONJUGATE, X)

    _matvec, _rmatvec, _matmat, _rmatmat = matvec, rmatvec, matmat, rmatmat

    def apply(self, x: Any, out: Any = None, *, alpha: complex = 1.0, beta: complex = 0.0) -> Any:
        """Compute alpha A x + beta out.

        Parameters
        ----------
        x : array, (cols,) or (cols, k)
            Of the operator's dtype and on its device: an array of NumPy, CuPy, PyTorch or JAX. It
            is used where it lies; a matrix neither whose columns nor whose rows are contiguous is
            copied.
        out : array, (rows,) or (rows, k), optional
            Takes the result, and is read where beta is not 0. It may not overlap with x. Made
            where it is not given: then beta must be 0.
        alpha, beta : number
            Real where the values are.

        Returns
        -------
        array
            `out`, or a new array of the library of x. On a GPU it is complete in the current
            stream of that library; nothing is waited for.

        Raises
        ------
        TypeError
            Where x or out are of another dtype or on another device.
        ValueError
            Where a length does not fit; out overlaps with x, which is seen where neither is
            copied; out is read-only or is missing.

        Examples
        --------
        >>> import numpy as np, nonzero as nz
        >>> op = nz.plan(([2.0, 3.0], [0, 1], [0, 1, 2]), shape=(2, 2))
        >>> y = np.ones(2)
        >>> op.apply(np.array([1.0, 2.0]), out=y, alpha=2.0, beta=-1.0)
        array([ 3., 11.])
        """
        if type(x) is _ndarray and type(out) is _ndarray and x.dtype is self._fast_dtype:
            self._core.apply(PLAIN, x, out, alpha, beta, 0)
            return out
        return self._apply(PLAIN, x, out, alpha, beta)

    # Its other forms.

    @property
    def T(self) -> TransposedOperator:
        """The transposed operator; stores A^T when it first multiplies, as plan says."""
        return TransposedOperator(self, conjugated=False)

    @property
    def H(self) -> TransposedOperator:
        """The conjugate transpose; stores A^T when it first multiplies, as plan says."""
        return TransposedOperator(self, conjugated=True)

    # Properties.

    @property
    def device(self) -> int | str:
        """The number of the GPU on which the operator, x and y lie, or "cpu"."""
        return "cpu" if self._device < 0 else self._device

    @property
    def nnz(self) -> int:
        """Entries of the matrix that it was planned from.

        Raises
        ------
        RuntimeError
            Where it is a preconditioner.
        """
        if self._options.get("name") in _PRECONDITIONERS:
            raise RuntimeError("nnz: this operator is a preconditioner, not a matrix")
        return int(self._core.report()["nnz"])

    def diagonal(self) -> Any:
        """Give the diagonal of the matrix; entries that stand in one place are added.

        Returns
        -------
        array, (min(rows, cols),)
            Of NumPy, in CPU memory.

        Raises
        ------
        RuntimeError
            Where the operator does not keep its matrix: see `plan`.

        Examples
        --------
        >>> import nonzero as nz
        >>> nz.plan(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 3]), shape=(2, 3)).diagonal()
        array([1., 3.])
        """
        return self._kept("diagonal").on_cpu().diagonal()

    @property
    def nbytes(self) -> int:
        """Bytes of the layout that it multiplies by; the copy of A that `plan` keeps is beside."""
        return int(self._core.nbytes)

    @property
    def plan(self) -> Plan:
        """The method chosen, from which candidates, and why."""
        return Plan(self._core.report())

    def __repr__(self) -> str:
        """Name the method, the shape and the device."""
        where = "the CPU" if self._device < 0 else f"GPU {self._device}"
        rows, cols = self.shape
        return f"<{self._method()}: {rows} x {cols}, {self.dtype} on {where}>"

    def _repr_html_(self) -> str:
        return self.plan._repr_html_() if self._matrix is not None else html.escape(repr(self))

    def _method(self) -> str:
        return self.plan.method if self._matrix is not None else str(self._options["name"])

    # How it changes.

    def update_values(self, data: Any) -> None:
        """Take other values for the same pattern: for codes that step in time.

        Parameters
        ----------
        data : array, (nnz,)
            In the order of the arrays that the operator was planned from, which were CSR; of the
            same dtype and on the same device. It is copied.

        Raises
        ------
        TypeError, ValueError
            Where data is not as long, of another dtype or on another device.
        RuntimeError
            Where the operator does not keep its matrix: see `plan`.
        """
        A = self._kept("update_values")
        if not (hasattr(data, "dtype") and hasattr(data, "shape")):
            raise TypeError(f"data: a {type(data).__name__}, expected an array")
        if dtype_of(data) != self.dtype:
            raise TypeError(f"data: of dtype {dtype_of(data)}, expected {self.dtype}")
        if tuple(data.shape) != tuple(A.data.shape):
            raise ValueError(f"data: of shape {tuple(data.shape)}, expected {tuple(A.data.shape)}")
        self._take_values(copied(data))

    def _take_values(self, data: Any) -> None:
        """Take values that no one else changes."""
        A = self._kept("update_values")
        changed = Matrix(data, A.indices, A.indptr, A.shape)
        with self._changing:
            self._core.update_values(*changed.lent(), stream_of(changed.data))
            self._matrix = changed
            self._wider = None

    def __reduce__(self) -> Any:
        """Pickle the matrix and the options; unpickling plans again."""
        A = self._kept("pickling")
        return _planned, (A, self._options)

    def __copy__(self) -> Self:
        """Give itself: operators are shared, not copied."""
        return self

    # How it multiplies.

    def _kept(self, what: str) -> Matrix:
        if self._matrix is None:
            raise RuntimeError(f"{what}: this operator does not keep a matrix")
        return self._matrix

    def _store_transpose(self) -> None:
        if self._has_transpose:
            return
        with self._changing:
            if not self._has_transpose and self._matrix is not None:
                A = self._matrix
                self._core.store_transpose(*A.lent(), stream_of(A.data))
                self._has_transpose = True

    def _in_double(self) -> Operator:
        """Give the operator of the same values that multiplies in double precision.

        Real values are stored as they are, in single precision: a product moves no more of them.
        """
        with self._changing:
            if self._wider is None:
                A = self._kept("a product in double precision")
                real = self.dtype.kind == "f"
                data = as_dtype(A.data, np.dtype(np.float64 if real else np.complex128))
                options = {**self._options, "storage": "single" if real else "exact"}
                self._wider = _planned(Matrix(data, A.indices, A.indptr, A.shape), options)
            return self._wider

    def _apply(
        self, kind: Any, x: Any, out: Any, alpha: complex | None, beta: complex | None
    ) -> Any:
        given, x = x, self._checked(x, "x")
        if kind is not PLAIN:
            self._store_transpose()
        # A GPU multiplies by A^T, or by a preconditioner, column by column.
        by_rows = self._device < 0 or (
            kind is PLAIN and self._options.get("name") not in _PRECONDITIONERS
        )
        if out is None:
            if beta:
                raise ValueError("out: missing, expected an array, as beta is not 0")
            rows = self.shape[0] if kind is PLAIN else self.shape[1]
            order = "C" if x.ndim == 1 or (by_rows and _is_row_major(x)) else "F"
            result = empty((rows, *x.shape[1:]), self.dtype, x, order)
        else:
            result = self._checked(out, "out")
            if self._device < 0 and library_of(out) == "torch" and (out.is_conj() or out.is_neg()):
                raise ValueError("out: a view that conjugates or negates, expected a plain tensor")
        stream = stream_of(x) if self._device >= 0 else 0
        if self._device >= 0:
            x, own = on_gpu(x, rows_will_do=by_rows), on_gpu(result, rows_will_do=by_rows)
            self._core.apply(kind, lend(x), lend(own), alpha, beta, stream)
            if own is not result:
                assign(result, own)
        else:
            self._core.apply(kind, lend(x), lend(result), alpha, beta, stream)
        return finished(result, given) if out is None else out

    def _checked(self, x: Any, name: str) -> Any:
        if name == "out" and library_of(x) == "numpy" and not isinstance(x, _ndarray):
            raise TypeError(f"out: a {type(x).__name__}, expected an array")
        if name == "out" and library_of(x) == "jax":
            raise TypeError("out: an array of JAX, which does not change; leave it out")
        x = dense(x, name)
        if device_of(x) != self._device:
            raise TypeError(
                f"{name}: a {library_of(x)} array {_place(device_of(x))}, expected one "
                f"{_place(self._device)}, where the operator is"
            )
        if dtype_of(x) != self.dtype:
            raise TypeError(f"{name}: of dtype {dtype_of(x)}, expected {self.dtype}")
        if x.ndim not in (1, 2):
            raise ValueError(f"{name}: an array of {x.ndim} dimensions, expected 1 or 2")
        return x

    def _product(self, kind: Any, x: Any) -> Any:
        """Multiply arrays of any dtype, as SciPy's operators do.

        Integers become the operator's dtype. Of x in double precision an operator in single
        precision gives the product in double precision; where it keeps no matrix, as a
        preconditioner, x is rounded and the result widened.
        """
        return finished(self._converted_product(kind, dense(x, "x")), x)

    def _converted_product(self, kind: Any, x: Any) -> Any:
        if isinstance(x, np.matrix):
            return np.asmatrix(self._product(kind, np.asarray(x)))
        if x.ndim not in (1, 2):
            raise ValueError(f"x: an array of {x.ndim} dimensions, expected 1 or 2")
        dtype = dtype_of(x)
        if dtype == self.dtype:
            return self._apply(kind, x, None, None, None)
        known = dtype.name in VALUE_TYPES
        if known and dtype.kind == "c" and self.dtype.kind == "f":
            real = self._product(kind, x.real)
            return real + 1j * self._product(kind, x.imag)
        if dtype.kind in "biu" or np.can_cast(dtype, self.dtype, "safe"):
            return self._apply(kind, as_dtype(x, self.dtype), None, None, None)
        if known and self._matrix is not None:
            return self._in_double()._product(kind, x)
        if known:
            wide = np.result_type(self.dtype, dtype)
            return as_dtype(self._apply(kind, as_dtype(x, self.dtype), None, None, None), wide)
        raise TypeError(f"x: of dtype {dtype}, expected one of {', '.join(VALUE_TYPES)}")

    def _of_vector(self, kind: Any, x: Any, length: int) -> Any:
        shape = tuple(dense(x, "x").shape)
        if shape not in ((length,), (length, 1)):
            raise ValueError(f"x: of shape {shape}, expected ({length},) or ({length}, 1)")
        return self._product(kind, x)


def _is_row_major(x: Any) -> bool:
    if library_of(x) == "jax":
        return True
    if library_of(x) == "torch":
        return bool(x.stride(1) == 1)
    return bool(x.strides[1] <= x.strides[0])


def _place(device: int) -> str:
    return "in CPU memory" if device < 0 else f"on GPU {device}"


def plan(
    A: Any,
    *,
    shape: tuple[int, int] | None = None,
    device: int | str | None = None,
    threads: int = 0,
    products: int | None = None,
    tune: bool = False,
    fresh: bool = False,
    deterministic: bool = True,
    methods: str | Sequence[str] = (),
    transposed: bool = False,
    vectors: int = 1,
    storage: str = "exact",
    accept: str = "measured",
    keep: bool = True,
) -> Operator:
    """Choose and build the fastest product with a sparse matrix.

    Parameters
    ----------
    A : sparse matrix or array of SciPy, CuPy, PyTorch or JAX, or (data, indices, indptr)
        CSR is read where it lies; other formats are converted by their library. Columns may stand
        in any order and more than once in a row. 64-bit column indices are copied to 32 bits.
        Integer and boolean values become float64, before what stands in one place is added.
    shape : (int, int), optional
        Of (data, indices, indptr).
    device : int or "cpu" or "gpu", optional
        Where to multiply: the GPU of that number. [where A lies]
    threads : int
        On the CPU; 0: as many as OpenMP offers.
    products : int, optional
        Products that must repay the setup. [enough that the setup does not count]
    tune : bool
        Time the methods that are predicted to be fastest.
    fresh : bool
        Measure machine and methods anew, whatever earlier runs have kept.
    deterministic : bool
        Only methods that give the same bits in every run.
    methods : str or sequence of str
        To choose from. [all]
    transposed : bool
        Store A^T in addition now, and not when ``op.T`` first multiplies.
    vectors : int
        Vectors that ``op @ X`` multiplies at once. With more than one, a method is chosen that
        reads an entry of A once for several of them.
    storage : "exact" or "single"
        Precision of the stored values, of A^T too: bit for bit, or float64 rounded to float32,
        which takes fewer bytes; products are summed in float64. ``op.plan.bound`` says how far
        they may be from A x.
    accept : "measured" or "predicted"
        With neither products, tune nor vectors: time the choice beside plain CSR (on a GPU
        csr.adaptive or packed.stripes beside packed.warp, where they come close) for at most
        eight products and take the other where that is clearly faster, or trust the prediction.
        The outcome is kept: the same matrix has the same bits afterwards.
    keep : bool
        Keep a copy of the arrays of A, for ``op.T``, `update_values` and pickling, as well as for
        `solve` and others that take the operator for its matrix.

    Returns
    -------
    Operator
        Of A as it is now: what becomes of A afterwards changes neither the operator nor its
        transpose. With the layout that the method wants, `nbytes` bytes, beside the copy of A.

    Raises
    ------
    TypeError
        Where A is no sparse matrix, or of a dtype that does not become one of nonzero's.
    ValueError
        Where the arrays are no CSR of that shape, an option is wrong, or the storage does not hold
        a value.
    MemoryError
        Where the memory of CPU or GPU does not suffice.
    Unavailable
        Where there is no such GPU.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> op = nz.plan(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 3]), shape=(2, 3))
    >>> op @ np.array([1.0, 1.0, 1.0])
    array([3., 3.])
    """
    if accept not in ("measured", "predicted"):
        raise ValueError(f"accept: {accept!r}, expected 'measured' or 'predicted'")
    matrix = as_matrix(A, shape)
    options: dict[str, Any] = {
        "device": device_number(device, matrix),
        "threads": whole(threads, "threads"),
        "products": None if products is None else whole(products, "products", 1, 2**63 - 1),
        "tune": bool(tune),
        "fresh": bool(fresh),
        "deterministic": bool(deterministic),
        "methods": names(methods, "methods"),
        "transposed": bool(transposed),
        "vectors": whole(vectors, "vectors", 1, 2**31 - 1),
        "storage": str(storage),
        "measured": accept == "measured",
    }
    op = _planned(matrix.copied() if keep else matrix, options)
    if not keep:
        op._matrix = None
        op._options = {"name": op._core.report()["candidates"][0]["method"]}
    return op


def device_number(device: int | str | None, matrix: Matrix) -> int:
    if device is None:
        return matrix.device
    if device == "cpu":
        return -1
    if device == "gpu":
        return max(matrix.device, 0)
    if hasattr(device, "__index__") and not isinstance(device, (bool, str)):
        number = operator.index(device)
        if 0 <= number < 2**31:
            return number
    raise ValueError(f"device: {device!r}, expected 'cpu', 'gpu' or the number of a GPU")


def _planned(matrix: Matrix, options: dict[str, Any]) -> Operator:
    source = matrix.on_cpu() if options["device"] != matrix.device else matrix
    core = _nonzero.plan(matrix.shape, *source.lent(), stream=stream_of(source.data), **options)
    return Operator(core, source, options)
