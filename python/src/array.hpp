// Arrays that Python owns, borrowed where they lie: by the buffer protocol from CPU memory, and as
// a description (nonzero._arrays.DeviceArray) from GPU memory.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <complex>
#include <optional>
#include <string>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/value.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz::python {

namespace nb = nanobind;

/// The type of an array's elements, by NumPy's character; 0 for one that nonzero does not know.
template <class T>
constexpr char type_code() {
    if constexpr (std::is_same_v<T, float>) return 'f';
    if constexpr (std::is_same_v<T, double>) return 'd';
    if constexpr (std::is_same_v<T, std::complex<float>>) return 'F';
    if constexpr (std::is_same_v<T, std::complex<double>>) return 'D';
    if constexpr (std::is_same_v<T, std::int32_t>) return 'i';
    if constexpr (std::is_same_v<T, std::int64_t>) return 'l';
}
/// "float32", "int64", ... as NumPy names the type.
std::string type_name(char code);

/// An array of one or two dimensions. Holds what it borrows from; needs the GIL to be made and
/// destroyed, not to be read.
class array {
  public:
    /// @param name  of the argument, for errors
    /// Throws TypeError where `from` is no array of a type that nonzero computes with, ValueError
    /// where it has more than two dimensions, or is written to and read-only.
    array(nb::handle from, const char* name, bool written = false);
    ~array();
    array(const array&) = delete;
    array& operator=(const array&) = delete;

    [[nodiscard]] int device() const { return device_; }  ///< -1 for CPU memory
    [[nodiscard]] int dimensions() const { return dimensions_; }
    [[nodiscard]] std::int64_t length(int axis) const { return shape_[std::size_t(axis)]; }
    [[nodiscard]] std::int64_t size() const { return shape_[0] * shape_[1]; }
    /// From one element to the next along the axis.                                    [elements]
    [[nodiscard]] std::int64_t stride(int axis) const { return stride_[std::size_t(axis)]; }
    [[nodiscard]] char type() const { return type_; }
    [[nodiscard]] const char* name() const { return name_; }

    /// The first element. Throws TypeError where the elements are of another type.
    template <class T>
    [[nodiscard]] T* data() const {
        expect_type(type_code<T>());
        return static_cast<T*>(data_);
    }
    void expect_type(char code) const;
    /// Throws TypeError unless it lies on that device (-1: in CPU memory).
    void expect_device(int device) const;
    /// Throws ValueError unless it has that shape; columns < 0: one dimension.
    void expect_shape(std::int64_t rows, std::int64_t columns) const;

    /// All elements of a one-dimensional array in CPU memory, one after the other. Throws
    /// ValueError where they do not lie so.
    template <class T>
    [[nodiscard]] std::span<T> elements() const {
        expect_device(-1);
        expect_contiguous();
        return {data<T>(), std::size_t(shape_[0])};
    }
    /// Throws ValueError unless it has one dimension and its elements follow each other.
    void expect_contiguous() const;

  private:
    void from_buffer();
    void from_device(nb::handle description, bool written);

    const char* name_;
    void* data_ = nullptr;
    char type_ = 0;
    std::string type_text_;
    int dimensions_ = 0, device_ = -1;
    std::array<std::int64_t, 2> shape_{1, 1}, stride_{1, 1};
    std::optional<Py_buffer> buffer_;
};

/// Whether an array's columns are contiguous, or its rows: whether the library takes it so.
inline bool lies_by(storage_order order, const array& a) {
    const int along = order == storage_order::row_major ? 1 : 0, across = 1 - along;
    return (a.length(along) <= 1 || a.stride(along) == 1) &&
           (a.length(across) <= 1 || a.stride(across) >= a.length(along));
}

/// An array's elements as several vectors in that order, as it lies.
template <class Columns, class V>
Columns columns_of(const array& a, V* data, storage_order order) {
    const bool by_row = order == storage_order::row_major;
    const auto line = std::size_t(a.length(by_row ? 1 : 0));
    const auto lines = std::size_t(a.length(by_row ? 0 : 1));
    const std::size_t stride = lines > 1 ? std::size_t(a.stride(by_row ? 0 : 1)) : line;
    return {
        {data, lines == 0 ? 0 : (lines - 1) * stride + line}, stride, index(a.length(1)), order};
}

/// Columns of an array in CPU memory as the library takes them: borrowed where each is contiguous,
/// or where rows are and they will do, else copied.
template <class V>
class borrowed_columns {
  public:
    borrowed_columns(const array& a, bool rows_will_do)
        : a_(a), data_(a.data<V>()), borrowed_(true) {
        using enum storage_order;
        if (lies_by(column_major, a)) return;
        if (rows_will_do && lies_by(row_major, a)) {
            order_ = row_major;
            return;
        }
        copy();
    }
    /// Copies the elements, one column after the other, if it has not.
    void copy() {
        if (!borrowed_) return;
        borrowed_ = false, order_ = storage_order::column_major;
        copy_.resize(std::size_t(a_.size()));
        each([&](V& own, V& theirs) { own = theirs; });
    }
    [[nodiscard]] columns<std::span<V>> all() {
        using borrowed = columns<std::span<V>>;
        if (borrowed_) return columns_of<borrowed>(a_, data_, order_);
        return {copy_, std::size_t(a_.length(0)), index(a_.length(1))};
    }
    /// Brings what was written to a copy to the array.
    void write_back() {
        if (!borrowed_) each([&](V& own, V& theirs) { theirs = own; });
    }

  private:
    template <class F>
    void each(F f) {
        const std::int64_t rows = a_.length(0), count = a_.length(1);
        parallel_for(thread_count({}), rows, [&](std::int64_t i) {
            for (std::int64_t c = 0; c < count; ++c)
                f(copy_[std::size_t(c * rows + i)], data_[i * a_.stride(0) + c * a_.stride(1)]);
        });
    }

    const array& a_;
    V* data_;
    bool borrowed_;
    storage_order order_ = storage_order::column_major;
    host_vector<V> copy_;
};

/// The three arrays of a CSR that Python owns, borrowed; column indices of 64 bits are copied
/// to 32. S is host_view or device_view.
template <class V, class S>
class borrowed_csr {
  public:
    /// Throws TypeError or ValueError where an array is not what a CSR of that shape has.
    borrowed_csr(nz::shape, const array& indptr, const array& indices, const array& data);
    [[nodiscard]] const csr<V, S>& view() const { return view_; }

  private:
    csr<V, S> view_;
    host_vector<index> narrow_;
};

}  // namespace nz::python
