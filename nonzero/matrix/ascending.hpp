// A CSR known to be valid and in ascending order: what all that is made of a matrix takes. A public
// function makes it once of the arrays that it is given; nothing behind it asks again.
#pragma once

#include <memory>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Throws argument_error, saying where, unless A is a CSR, and, where `canonical` is set, its
/// columns ascend in every row.
template <class V>
void validate(const csr<V, host_view>& A, bool canonical = true);

/// Borrows a CSR whose rows ascend, or holds the canonical copy of one whose rows do not. Copies
/// share what they hold. Backend: where the matrix lies.
template <class V, class B = cpu>
class ascending {
  public:
    using value = V;
    using matrix = csr<V, typename B::view>;
    using owner = csr<V, std::conditional_t<std::is_same_v<B, cpu>, host, device>>;

    /// Looks at every index once. Throws argument_error, saying where, unless A is a CSR.
    explicit ascending(const matrix& A, B on = {});
    /// The same of a matrix that it keeps.
    explicit ascending(owner&& A, B on = {})
        : ascending(std::make_shared<owner>(std::move(A)), on) {}
    /// Of rows that ascend by construction, or that were looked at before: reads nothing.
    static ascending known(const matrix& A, B on = {}) { return ascending(A, true, on); }
    static ascending known(owner&& A, B on = {}) {
        auto kept = std::make_shared<owner>(std::move(A));
        auto M = known(nz::view(*kept), on);
        M.kept_ = std::move(kept);
        return M;
    }

    [[nodiscard]] const matrix& view() const { return view_; }
    /// The matrix as it was given, for what reads rows of any order.
    [[nodiscard]] const matrix& given() const { return given_; }
    [[nodiscard]] bool given_in_order() const { return copy_ == nullptr; }
    /// The same pattern with other values, as many as were given; they must outlive it.
    [[nodiscard]] ascending with_values(const array<V, typename B::view>& values, B on = {}) const {
        matrix other = given_;
        other.val = values;
        ascending M(other, given_in_order(), on);
        M.kept_ = kept_;
        return M;
    }

  private:
    ascending(const matrix& A, bool in_order, B on);
    ascending(std::shared_ptr<const owner> A, B on) : ascending(nz::view(*A), on) {
        kept_ = std::move(A);
    }

    matrix given_, view_;
    std::shared_ptr<const owner> kept_;  ///< given_'s arrays, where they are its own
    std::shared_ptr<const owner> copy_;  ///< view_'s, where the rows given do not ascend
};
template <class V>
ascending(const csr<V, device_view>&, gpu) -> ascending<V, gpu>;
template <class V>
ascending(const csr<V, host_view>&) -> ascending<V, cpu>;
template <class V>
ascending(csr<V, host>&&) -> ascending<V, cpu>;

/// A with columns ascending and duplicates summed in the order given. Throws argument_error, saying
/// where, unless A is a CSR.
template <class V>
csr<V, host> canonical(const csr<V, host_view>& A);
/// The same of a CSR in GPU memory, made there; the two agree bit for bit.
template <class V>
csr<V, device> canonical(gpu on, const csr<V, device_view>& A);
/// A itself, where its rows ascend.
template <class V>
csr<V, host> canonical(csr<V, host>&& A);
template <class V>
csr<V, device> canonical(gpu on, csr<V, device>&& A);

}  // namespace nz
