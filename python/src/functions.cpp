// Operators given by a function of Python's.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "python/src/module.hpp"
#include "python/src/operator.hpp"
#include "python/src/owned.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;

/// y = f(x) by a function that takes a NumPy array and gives one of the operator's type and length;
/// where there is an adjoint, x = adjoint(y) for A^H. What they raise leaves the solver as an
/// exception of C++ and is raised again where Python called the solver.
template <class V>
class function_of_python final : public matrix_free_operator<V, cpu> {
  public:
    function_of_python(nz::shape shape, nb::object f, nb::object adjoint, std::string name)
        : matrix_free_operator<V, cpu>(cpu{}, shape),
          f_(std::move(f)),
          adjoint_(std::move(adjoint)),
          name_(std::move(name)) {}
    /// A solver's last owner may be a thread that has released the GIL.
    ~function_of_python() override {
        const nb::gil_scoped_acquire held;
        f_.reset();
        adjoint_.reset();
    }

  protected:
    void map(in<V, cpu> x, out<V, cpu> y) const override { call(f_, x, y); }
    void multiply_transposed(transposition op, V alpha, in<V, cpu> x, V beta,
                             out<V, cpu> y) const override {
        if (!adjoint_.is_valid() || (is_complex<V> && op != transposition::conjugate_transpose))
            return matrix_free_operator<V, cpu>::multiply_transposed(op, alpha, x, beta, y);
        std::vector<V> product(y.size());
        call(adjoint_, x, product);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = scaled(alpha, product[i], beta, y[i]);
    }

  private:
    void call(const nb::object& f, in<V, cpu> x, out<V, cpu> y) const {
        const nb::gil_scoped_acquire held;
        // A copy: the function may keep what it is given, or write to it.
        const nb::object made = f(owned(std::vector<V>(x.begin(), x.end())));
        const array result(made, name_.c_str());
        const auto values = result.elements<V>();
        result.expect_shape(std::int64_t(y.size()), -1);
        std::copy(values.begin(), values.end(), y.begin());
    }

    nb::object f_, adjoint_;  ///< the latter may be null
    std::string name_;
};

std::unique_ptr<any_operator> operator_of(nb::object f, std::tuple<std::int64_t, std::int64_t> s,
                                          char type, const std::string& name, nb::object adjoint) {
    const nz::shape shape = checked_shape(s);
    if (adjoint.is_none()) adjoint = nb::object();
    return with_type(type, name.c_str(), [&]<class V>() {
        return unplanned<V, cpu>(cpu{},
                                 std::make_unique<function_of_python<V>>(shape, f, adjoint, name));
    });
}

}  // namespace

void bind_functions(nb::module_& m) {
    m.def("operator_of", &operator_of, "f"_a, "shape"_a, nb::kw_only(), "dtype"_a, "name"_a,
          "adjoint"_a.none() = nb::none());
}

}  // namespace nz::python
