// Operators given by a function of Python's.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>

#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "python/src/module.hpp"
#include "python/src/operator.hpp"
#include "python/src/owned.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;

/// y = f(x) by a function that takes a NumPy array and gives one of the operator's type and length.
/// What it raises leaves the solver as an exception of C++ and is raised again where Python called
/// the solver.
template <class V>
class function_of_python final : public matrix_free_operator<V, cpu> {
  public:
    function_of_python(nz::shape shape, nb::object f, std::string name)
        : matrix_free_operator<V, cpu>(cpu{}, shape), f_(std::move(f)), name_(std::move(name)) {}
    /// A solver's last owner may be a thread that has released the GIL.
    ~function_of_python() override {
        const nb::gil_scoped_acquire held;
        f_.reset();
    }

  protected:
    void map(in<V, cpu> x, out<V, cpu> y) const override {
        const nb::gil_scoped_acquire held;
        // A copy: the function may keep what it is given, or write to it.
        const nb::object made = f_(owned(std::vector<V>(x.begin(), x.end())));
        const array result(made, name_.c_str());
        const auto values = result.elements<V>();
        result.expect_shape(std::int64_t(y.size()), -1);
        std::copy(values.begin(), values.end(), y.begin());
    }

  private:
    nb::object f_;
    std::string name_;
};

std::unique_ptr<any_operator> operator_of(nb::object f, std::tuple<std::int64_t, std::int64_t> s,
                                          char type, const std::string& name) {
    const nz::shape shape = checked_shape(s);
    return with_type(type, name.c_str(), [&]<class V>() {
        return unplanned<V, cpu>(cpu{}, std::make_unique<function_of_python<V>>(shape, f, name));
    });
}

}  // namespace

void bind_functions(nb::module_& m) {
    m.def("operator_of", &operator_of, "f"_a, "shape"_a, nb::kw_only(), "dtype"_a, "name"_a);
}

}  // namespace nz::python
