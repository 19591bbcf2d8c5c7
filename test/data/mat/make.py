"""Writes the MAT-files of this folder with SciPy, and beside each valid one its matrix."""

from pathlib import Path

import numpy as np
import scipy.io as io
import scipy.sparse as sp

here = Path(__file__).parent
valid, invalid = here / "valid", here / "invalid"
valid.mkdir(exist_ok=True)
invalid.mkdir(exist_ok=True)

rng = np.random.default_rng(1)
A = sp.random_array((7, 5), density=0.4, rng=rng, format="csc")
C = (A + 2j * sp.random_array((7, 5), density=0.3, rng=rng, format="csc")).tocsc()
empty = sp.csc_array((3, 4))


def keep(name: str, matrix: sp.csc_array, variables: dict, compressed: bool = False) -> None:
    """Write the variables as a MAT-file and the matrix beside it."""
    io.savemat(valid / f"{name}.mat", variables, do_compression=compressed)
    io.mmwrite(valid / f"{name}.mtx", matrix.tocoo(), precision=17)


keep("plain", A, {"A": A})
keep("compressed", A, {"A": A}, compressed=True)
keep("complex", C, {"C": C})
keep("empty", empty, {"E": empty})
keep("logical", (A != 0).astype(float), {"L": A != 0})
keep("behind_others", A, {"name": "text", "x": np.ones(3), "S": A})
problem = {"title": "a problem", "b": np.ones((7, 1)), "A": A}
keep("problem", A, {"Problem": problem})
keep("problem_compressed", C, {"Problem": problem | {"A": C}}, compressed=True)

io.savemat(invalid / "dense.mat", {"x": np.ones((2, 2))})
io.savemat(invalid / "nothing.mat", {})
io.savemat(invalid / "struct_without_A.mat", {"Problem": {"b": np.ones(2)}})
whole = (valid / "plain.mat").read_bytes()
(invalid / "cut.mat").write_bytes(whole[: len(whole) // 2])
(invalid / "version_4.mat").write_bytes(bytes(20))
hdf5 = b"MATLAB 7.3 MAT-file, Platform: GLNXA64" + bytes(600)
(invalid / "version_7_3.mat").write_bytes(hdf5)
