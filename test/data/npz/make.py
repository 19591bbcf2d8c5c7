#!/usr/bin/env python3
"""Writes the .npz files of this folder: valid/ (each with the same matrix as .mtx) and invalid/.

Needs NumPy and SciPy. The files are committed; run this only to add a case.
"""
import io
import os
import zipfile

import numpy as np
import scipy.sparse as sp

HERE = os.path.dirname(os.path.abspath(__file__))


def mtx(name, A):
    A = sp.coo_array(A)
    cplx = np.iscomplexobj(A.data)
    with open(f"{HERE}/valid/{name}.mtx", "w") as f:
        f.write(f"%%MatrixMarket matrix coordinate {'complex' if cplx else 'real'} general\n")
        f.write(f"{A.shape[0]} {A.shape[1]} {A.nnz}\n")
        for i, j, v in zip(A.row.tolist(), A.col.tolist(), A.data.tolist()):
            text = f"{v.real!r} {v.imag!r}" if cplx else repr(float(v))
            f.write(f"{i + 1} {j + 1} {text}\n")


def valid():
    rng = np.random.default_rng(1)
    mask = rng.random((7, 5)) < 0.4
    mask[3] = False
    real = np.where(mask, rng.integers(-9, 9, mask.shape) + 0.5, 0)

    def save(name, A, compressed=True):
        sp.save_npz(f"{HERE}/valid/{name}.npz", A, compressed=compressed)
        mtx(name, A)

    for layout in ("csr", "csc", "coo"):
        save(f"{layout}_f8", sp.coo_matrix(real).asformat(layout))
        save(f"{layout}_f8_stored", sp.coo_matrix(real).asformat(layout), compressed=False)
    save("csr_array_class", sp.csr_array(real))
    for dtype in "b1 i1 u1 i2 u2 i4 u4 i8 u8 f4 c8 c16".split():
        values = np.abs(real) if dtype[0] in "bu" else real
        if dtype[0] == "c":
            values = values * (1 + 2j)
        save(f"csr_{dtype}", sp.csr_matrix(values.astype(dtype)))
    save("empty", sp.csr_matrix((3, 4)))
    save("no_rows", sp.csr_matrix((0, 4)))
    save("no_columns", sp.csr_matrix((4, 0)))
    A = sp.csr_matrix(real)
    raw("valid/csr_int64_indices", csr(A, indptr=A.indptr.astype("i8"), indices=A.indices.astype("i8")))
    mtx("csr_int64_indices", A)
    raw("valid/csr_big_endian", csr(A, indptr=A.indptr.astype(">i4"), indices=A.indices.astype(">i4"),
                                    data=A.data.astype(">f8")))
    mtx("csr_big_endian", A)
    C = A * (1 - 3j)
    raw("valid/csr_big_endian_complex", csr(C, data=C.data.astype(">c16")))
    mtx("csr_big_endian_complex", C)
    raw("valid/csr_unicode_format", csr(A, format=np.array("csr")))
    mtx("csr_unicode_format", A)
    raw("valid/csr_surplus_entries", csr(A, indices=np.append(A.indices, 4), data=np.append(A.data, 9.0)))
    mtx("csr_surplus_entries", A)
    order = np.concatenate([np.arange(b, e)[::-1] for b, e in zip(A.indptr, A.indptr[1:])])
    raw("valid/csr_unsorted", csr(A, indices=A.indices[order], data=A.data[order]))
    mtx("csr_unsorted", A)
    D = sp.coo_matrix(([1.0, 2.0, 4.0, 0.0], ([1, 0, 1, 2], [1, 0, 1, 2])), shape=(3, 3))
    save("coo_duplicates_and_a_zero", D)
    raw("valid/csr_duplicates", dict(format=np.array(b"csr"), shape=np.array([2, 3]), indptr=np.array([0, 3, 4]),
                                     indices=np.array([2, 0, 2, 1]), data=np.array([1.0, 2.0, 4.0, 8.0])))
    mtx("csr_duplicates", sp.coo_matrix(([1.0, 2.0, 4.0, 8.0], ([0, 0, 0, 1], [2, 0, 2, 1])), shape=(2, 3)))
    raw("valid/coo_coords", dict(format=np.array(b"coo"), shape=np.array([3, 3]), data=D.data,
                                 coords=np.array([D.row, D.col])))
    mtx("coo_coords", D)


def csr(A, **other):
    arrays = dict(format=np.array(b"csr"), shape=np.array(A.shape), indptr=A.indptr, indices=A.indices, data=A.data)
    arrays.update(other)
    return {k: v for k, v in arrays.items() if v is not None}


def npy(array, version=(1, 0)):
    to = io.BytesIO()
    np.lib.format.write_array(to, np.asanyarray(array), version=version)
    return to.getvalue()


def raw(name, arrays, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(f"{HERE}/{name}.npz", "w", method) as z:
        for key, value in arrays.items():
            z.writestr(zipfile.ZipInfo(key + ".npy"), value if isinstance(value, bytes) else npy(value), method)


def header(text, data=b""):
    text = text.encode() + b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def invalid():
    A = sp.csr_matrix(np.array([[1.0, 0, 2], [0, 0, 0], [3, 4, 0]]))

    def case(name, **other):
        raw(f"invalid/{name}", csr(A, **other))

    for key in ("format", "shape", "indptr", "indices", "data"):
        case(f"no_{key}", **{key: None})
    case("format_bsr", format=np.array(b"bsr"))
    case("format_garbage", format=np.array(b"\x00\xff\x01"))
    case("format_number", format=np.array(3))
    case("format_two_words", format=np.array([b"csr", b"csr"]))
    case("shape_one_size", shape=np.array([3]))
    case("shape_three_sizes", shape=np.array([3, 3, 3]))
    case("shape_negative", shape=np.array([-3, 3]))
    case("shape_too_large", shape=np.array([2**40, 3]))
    case("shape_float", shape=np.array([3.0, 3.0]))
    case("indptr_short", indptr=A.indptr[:-1])
    case("indptr_long", indptr=np.append(A.indptr, 4))
    case("indptr_starts_late", indptr=np.array([1, 2, 2, 4]))
    case("indptr_decreases", indptr=np.array([0, 3, 2, 4]))
    case("indptr_negative", indptr=np.array([0, -1, 2, 4]))
    case("indptr_beyond", indptr=np.array([0, 2, 2, 5]))
    case("indptr_huge", indptr=np.array([0, 2, 2, 2**62]))
    case("indptr_float", indptr=A.indptr.astype("f8"))
    case("indices_negative", indices=np.array([0, -1, 0, 1]))
    case("indices_beyond", indices=np.array([0, 3, 0, 1]))
    case("indices_wrap", indices=np.array([0, 2**32, 0, 1]))
    case("indices_unsigned_huge", indices=np.array([0, 2**64 - 1, 0, 1], dtype="u8"))
    case("data_short", data=A.data[:-1])
    case("data_long", data=np.append(A.data, 1.0))
    case("data_two_dimensions", data=A.data.reshape(2, 2))
    case("data_half", data=A.data.astype("f2"))
    case("data_long_double", data=A.data.astype("g"))
    case("data_text", data=np.array([b"a", b"b", b"c", b"d"]))
    case("data_dates", data=A.data.astype("M8[s]"))
    case("data_structured", data=np.zeros(4, dtype=[("a", "f8")]))
    case("data_object", data=header("{'descr': '|O', 'fortran_order': False, 'shape': (4,), }", b"\x80\x04N."))
    case("header_no_magic", data=b"NUMPY" + bytes(200))
    case("header_version_9", data=b"\x93NUMPY\x09\x00" + bytes(200))
    case("header_empty", data=b"")
    case("header_short", data=b"\x93NUM")
    case("header_too_long", data=b"\x93NUMPY\x01\x00\xff\xff{'descr'")
    case("header_version_2_too_long", data=b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'" + bytes(99))
    case("header_no_descr", data=header("{'fortran_order': False, 'shape': (4,), }", A.data.tobytes()))
    case("header_no_shape", data=header("{'descr': '<f8', 'fortran_order': False, }", A.data.tobytes()))
    case("header_descr_open", data=header("{'descr': '<f8", A.data.tobytes()))
    case("header_descr_huge", data=header("{'descr': '<f99999999999', 'fortran_order': False, 'shape': (4,), }"))
    case("header_descr_zero", data=header("{'descr': '<f0', 'fortran_order': False, 'shape': (4,), }"))
    case("header_shape_open", data=header("{'descr': '<f8', 'fortran_order': False, 'shape': (4,", A.data.tobytes()))
    case("header_shape_negative", data=header("{'descr': '<f8', 'fortran_order': False, 'shape': (-4,), }", A.data.tobytes()))
    case("header_shape_huge", data=header("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }", A.data.tobytes()))
    case("header_shape_overflow", data=header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", A.data.tobytes()))
    case("header_shape_product_overflow",
         data=header("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", A.data.tobytes()))
    case("header_shape_word", data=header("{'descr': '<f8', 'fortran_order': False, 'shape': (four,), }", A.data.tobytes()))
    case("fewer_bytes_than_told", data=npy(A.data)[:-8])
    case("more_bytes_than_told", data=npy(A.data) + bytes(8))
    for key, value in dict(row=np.array([0, 1, -1]), col=np.array([0, 1, 3])).items():
        good = dict(format=np.array(b"coo"), shape=np.array([3, 3]), row=np.array([0, 1, 2]),
                    col=np.array([0, 1, 2]), data=np.ones(3))
        raw(f"invalid/coo_{key}_outside", {**good, key: value})
        raw(f"invalid/coo_{key}_short", {**good, key: value[:2] * 0})
    coords = dict(format=np.array(b"coo"), shape=np.array([3, 2]), data=np.ones(2))
    raw("invalid/coo_coords_flat", {**coords, "coords": np.array([0, 1])})
    raw("invalid/coo_coords_outside", {**coords, "coords": np.array([[0, 1], [2, 0]])})
    raw("invalid/not_a_matrix", dict(x=np.ones(3)))
    raw("invalid/empty_archive", {})

    def damage(name, method, change):
        raw(f"invalid/{name}", csr(A), method)
        path = f"{HERE}/invalid/{name}.npz"
        with open(path, "rb") as f:
            data = bytearray(f.read())
        data = change(data)
        with open(path, "wb") as f:
            f.write(data)

    def flip(data):
        data[data.find(np.float64(3.0).tobytes()) + 6] ^= 1
        return data

    damage("wrong_checksum", zipfile.ZIP_STORED, flip)
    damage("truncated", zipfile.ZIP_STORED, lambda d: d[: len(d) // 2])
    damage("directory_cut", zipfile.ZIP_STORED, lambda d: d[:-10])
    damage("just_the_magic", zipfile.ZIP_STORED, lambda d: d[:4])

    def claim(data):  # the central directory says that data.npy holds 2^31 bytes
        at = data.rfind(b"PK\x01\x02")
        data[at + 20 : at + 28] = (2**31).to_bytes(4, "little") * 2
        return data

    damage("size_claimed", zipfile.ZIP_STORED, claim)
    raw("invalid/bomb", csr(A, data=bytes(1 << 20)), zipfile.ZIP_DEFLATED)


valid()
invalid()
