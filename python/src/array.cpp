#include "python/src/array.hpp"

#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include <cstring>
#include <limits>

namespace nz::python {
namespace {

/// NumPy's character for a buffer's format or an array interface's typestr; 0 for any other.
char code_of_format(const char* format) {
    std::string_view f = format == nullptr ? "B" : format;
    if (!f.empty() && (f[0] == '@' || f[0] == '=' || f[0] == '<')) f.remove_prefix(1);
    if (f == "f" || f == "f4") return 'f';
    if (f == "d" || f == "f8") return 'd';
    if (f == "Zf" || f == "c8") return 'F';
    if (f == "Zd" || f == "c16") return 'D';
    if (f == "i" || f == "i4") return 'i';
    if (f == "l" || f == "q" || f == "i8") return 'l';
    return 0;
}

std::int64_t size_of(char code) {
    switch (code) {
        case 'f':
        case 'i':
            return 4;
        case 'D':
            return 16;
        default:
            return 8;
    }
}

std::string device_name(int device) {
    return device < 0 ? "CPU memory" : fmt::format("the memory of GPU {}", device);
}

[[noreturn]] void raise(PyObject* type, const std::string& text) {
    PyErr_SetString(type, text.c_str());
    throw nb::python_error();
}

}  // namespace

std::string type_name(char code) {
    switch (code) {
        case 'f':
            return "float32";
        case 'd':
            return "float64";
        case 'F':
            return "complex64";
        case 'D':
            return "complex128";
        case 'i':
            return "int32";
        case 'l':
            return "int64";
        default:
            return "another type";
    }
}

array::array(nb::handle from, const char* name, bool written) : name_(name) {
    if (PyObject_CheckBuffer(from.ptr())) {
        buffer_.emplace();
        const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(from.ptr(), &*buffer_, flags) != 0) {
            buffer_.reset();
            PyErr_Clear();
            raise(PyExc_ValueError,
                  fmt::format("{}: {}", name_,
                              written ? "a read-only array, expected one that can be written to"
                                      : "its memory cannot be used as it lies"));
        }
        from_buffer();
    } else if (nb::hasattr(from, "typestr")) {
        from_device(from, written);
    } else {
        raise(PyExc_TypeError, fmt::format("{}: a {}, expected an array", name_,
                                           nb::cast<std::string>(from.type().attr("__name__"))));
    }
}

array::~array() {
    if (buffer_) PyBuffer_Release(&*buffer_);
}

void array::from_buffer() {
    const Py_buffer& b = *buffer_;
    data_ = b.buf;
    type_ = code_of_format(b.format);
    type_text_ = type_ != 0 ? type_name(type_) : fmt::format("'{}'", b.format ? b.format : "B");
    dimensions_ = b.ndim;
    if (b.ndim < 1 || b.ndim > 2) {
        const int dimensions = b.ndim;
        PyBuffer_Release(&*buffer_);
        buffer_.reset();
        raise(PyExc_ValueError,
              fmt::format("{}: an array of {} dimensions, expected 1 or 2", name_, dimensions));
    }
    const std::int64_t size = std::max<std::int64_t>(b.itemsize, 1);
    for (int k = 0; k < b.ndim; ++k) {
        shape_[std::size_t(k)] = b.shape[k];
        stride_[std::size_t(k)] = b.strides[k] / size;
        if (b.strides[k] % size != 0) type_ = 0, type_text_ = "a field of records";
    }
    if (b.ndim == 1) stride_[1] = shape_[0];
    const auto part = std::uintptr_t(type_ == 'F' || type_ == 'D' ? size / 2 : size);
    if (type_ != 0 && reinterpret_cast<std::uintptr_t>(data_) % part != 0 && this->size() > 0) {
        PyBuffer_Release(&*buffer_);
        buffer_.reset();
        raise(PyExc_ValueError,
              fmt::format("{}: its elements are not aligned in memory, expected aligned ones, as "
                          "a copy has them",
                          name_));
    }
}

void array::from_device(nb::handle d, bool written) {
    data_ = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(d.attr("pointer")));
    type_text_ = nb::cast<std::string>(d.attr("typestr"));
    type_ = code_of_format(type_text_.c_str());
    if (type_ != 0) type_text_ = type_name(type_);
    device_ = nb::cast<int>(d.attr("device"));
    const nb::object shape = d.attr("shape"), strides = d.attr("strides");
    dimensions_ = int(nb::len(shape));
    if (dimensions_ < 1 || dimensions_ > 2)
        raise(PyExc_ValueError,
              fmt::format("{}: an array of {} dimensions, expected 1 or 2", name_, dimensions_));
    if (written && nb::cast<bool>(d.attr("readonly")))
        raise(PyExc_ValueError,
              fmt::format("{}: a read-only array, expected one that can be written to", name_));
    for (int k = 0; k < dimensions_; ++k) shape_[std::size_t(k)] = nb::cast<std::int64_t>(shape[k]);
    for (int k = 0; k < dimensions_; ++k)
        stride_[std::size_t(k)] = strides.is_none()
                                      ? (k + 1 < dimensions_ ? shape_[1] : 1)
                                      : nb::cast<std::int64_t>(strides[k]) / size_of(type_);
    if (dimensions_ == 1) stride_[1] = shape_[0];
}

void array::expect_type(char code) const {
    if (type_ == code) return;
    raise(PyExc_TypeError,
          fmt::format("{}: of dtype {}, expected {}", name_, type_text_, type_name(code)));
}

void array::expect_device(int device) const {
    if (device_ == device) return;
    raise(PyExc_TypeError, fmt::format("{}: in {}, expected in {}", name_, device_name(device_),
                                       device_name(device)));
}

void array::expect_shape(std::int64_t rows, std::int64_t columns) const {
    const bool right = columns < 0 ? dimensions_ == 1 && shape_[0] == rows
                                   : dimensions_ == 2 && shape_[0] == rows && shape_[1] == columns;
    if (right) return;
    const std::string is = dimensions_ == 1 ? fmt::format("({},)", shape_[0])
                                            : fmt::format("({}, {})", shape_[0], shape_[1]);
    const std::string wanted =
        columns < 0 ? fmt::format("({},)", rows) : fmt::format("({}, {})", rows, columns);
    raise(PyExc_ValueError, fmt::format("{}: of shape {}, expected {}", name_, is, wanted));
}

void array::expect_contiguous() const {
    if (dimensions_ == 1 && (shape_[0] <= 1 || stride_[0] == 1)) return;
    raise(PyExc_ValueError, fmt::format("{}: {}, expected one dimension, contiguous", name_,
                                        dimensions_ == 1 ? "strided" : "of two dimensions"));
}

template <class V, class S>
borrowed_csr<V, S>::borrowed_csr(nz::shape shape, const array& indptr, const array& indices,
                                 const array& data) {
    indptr.expect_contiguous(), indices.expect_contiguous(), data.expect_contiguous();
    const auto rows = std::size_t(indptr.length(0)), nnz = std::size_t(indices.length(0));
    const bool wide = indptr.type() == 'l';
    view_.shape = shape;
    if constexpr (std::is_same_v<S, host_view>) {
        if (wide) {
            view_.row_ptr = std::span<const std::int64_t>(indptr.elements<std::int64_t>());
        } else {
            view_.row_ptr = std::span<const std::int32_t>(indptr.elements<std::int32_t>());
        }
        view_.val = data.elements<V>();
        if (indices.type() != 'l') {
            view_.col_ind = indices.elements<index>();
            return;
        }
        const auto from = indices.elements<std::int64_t>();
        narrow_.resize(nnz);
        constexpr std::int64_t most = std::numeric_limits<index>::max();
        const std::int64_t outside = parallel_reduce(
            thread_count({}), std::ssize(from), std::int64_t(-1), larger_of(), [&](std::int64_t k) {
                const std::int64_t j = from[std::size_t(k)];
                narrow_[std::size_t(k)] = index(j);
                return j < 0 || j > most ? k : std::int64_t(-1);
            });
        if (outside >= 0)
            raise(PyExc_ValueError, fmt::format("indices: {} at position {}, expected 0 to {}",
                                                from[std::size_t(outside)], outside, most));
        view_.col_ind = narrow_;
    } else {
        for (const array* a : {&indptr, &indices, &data}) a->expect_device(data.device());
        indptr.expect_type(wide ? 'l' : 'i');
        view_.row_ptr = {wide ? static_cast<const void*>(indptr.data<std::int64_t>())
                              : static_cast<const void*>(indptr.data<std::int32_t>()),
                         rows, wide};
        view_.col_ind = {indices.data<index>(), nnz};
        view_.val = {data.data<V>(), std::size_t(data.length(0))};
    }
}

#define NZ_INSTANTIATE(V)                      \
    template class borrowed_csr<V, host_view>; \
    template class borrowed_csr<V, device_view>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::python
