// Core of nonzero._operator.Operator: an operator of the library, whatever its value type and
// backend.
#pragma once

#include <memory>
#include <tuple>

#include "nonzero/core/stream.hpp"
#include "nonzero/plan/plan.hpp"
#include "python/src/array.hpp"

namespace nz::python {

/// Between what the caller launched in his stream before and what he launches afterwards, whatever
/// stream the operator was built for. The CPU waits for nothing.
class in_stream_of_caller {
  public:
    in_stream_of_caller(gpu own, gpu callers) : own_(own), callers_(callers) {
        if (own_.stream != callers_.stream) start_after(own_, callers_);
    }
    ~in_stream_of_caller() noexcept(false) {
        if (own_.stream != callers_.stream) start_after(callers_, own_);
    }
    in_stream_of_caller(const in_stream_of_caller&) = delete;
    in_stream_of_caller& operator=(const in_stream_of_caller&) = delete;

  private:
    gpu own_, callers_;
};

/// A linear operator on one backend. x and y lie where it does. Products may run in several
/// threads; what replaces values waits for them.
class any_operator {
  public:
    any_operator() = default;
    any_operator(const any_operator&) = delete;
    any_operator& operator=(const any_operator&) = delete;
    virtual ~any_operator() = default;

    /// y = alpha op(A) x + beta y, for vectors or matrices of as many columns.
    virtual void apply(transposition, nb::handle x, nb::handle y, nb::handle alpha, nb::handle beta,
                       std::uintptr_t stream) const = 0;
    /// y = A x, for vectors in GPU memory that the caller has checked: cols and rows elements of
    /// the operator's type on its device.
    virtual void apply_at(std::uintptr_t x, std::uintptr_t y, std::uintptr_t stream) const = 0;
    /// The planner's report; throws ValueError where the operator is of no plan.
    [[nodiscard]] virtual const plan_report& report() const = 0;
    /// Takes the values of the matrix whose pattern it was planned for.
    virtual void update_values(nb::handle indptr, nb::handle indices, nb::handle data,
                               std::uintptr_t stream) = 0;
    /// Stores A^T too, where it does not yet, so that transposed products are fast or possible.
    virtual void store_transpose(nb::handle indptr, nb::handle indices, nb::handle data,
                                 std::uintptr_t stream) = 0;
    [[nodiscard]] virtual nz::shape shape() const = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;
    [[nodiscard]] virtual char type() const = 0;
    [[nodiscard]] virtual int device() const = 0;
};

/// The library's operator in it, for solvers: who holds it multiplies by the values that it has
/// now, whatever replaces them meanwhile. Throws TypeError where it is on another backend or of
/// other values.
template <class V, class B>
std::shared_ptr<const linear_operator<V, B>> operator_in(const any_operator&, const char* name);

/// An operator that is of no plan: a preconditioner.
template <class V, class B>
std::unique_ptr<any_operator> unplanned(B on, std::unique_ptr<linear_operator<V, B>> op);

/// f.template operator()<V>() for the value type of that character. Throws TypeError for others.
template <class F>
auto with_type(char code, const char* name, F f) {
    switch (code) {
        case 'f':
            return f.template operator()<float>();
        case 'd':
            return f.template operator()<double>();
        case 'F':
            return f.template operator()<std::complex<float>>();
        case 'D':
            return f.template operator()<std::complex<double>>();
        default:
            throw nb::type_error((std::string(name) +
                                  ": of a dtype that nonzero has not, expected float32, float64, "
                                  "complex64 or complex128")
                                     .c_str());
    }
}

/// Throws ValueError where the library counts no such rows or columns.
nz::shape checked_shape(std::tuple<std::int64_t, std::int64_t>);

}  // namespace nz::python
