// Which method multiplies this matrix fastest on this machine, and why.
#pragma once

#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "nonzero/matrix/build.hpp"
#include "nonzero/plan/machine_speeds.hpp"
#include "nonzero/plan/storage/value_storage.hpp"

namespace nz {

struct plan_options {
    /// So many products that setup time is ignored.
    static constexpr std::int64_t many_products = std::numeric_limits<std::int64_t>::max();

    /// Products that must repay the setup, one and a half times where it is predicted and not
    /// timed.
    std::int64_t expected_products = many_products;
    bool tune = false;          ///< times the few methods predicted to be fastest
    bool cache = true;          ///< keeps tuned plans in a file, and reads them
    bool fresh = false;         ///< measures and tunes anew, whatever is in the file
    bool deterministic = true;  ///< only methods with the same bits in every run
    /// The methods to choose from; empty: all, with `tune`, or all but those that teach.
    std::vector<std::string> methods = {};
    /// Vectors that apply_many multiplies at once. For more than one the plan takes a method that
    /// reads an entry once for several of them, where this machine has one.
    index vectors = 1;
    /// Also plans products with A^T, for which `build` stores A^T in addition to A. On a GPU, most
    /// methods have no such product otherwise; on a CPU it is faster.
    bool transposed = false;
    /// The precision of the stored values, of A^T too. Fewer bytes are read where methods have a
    /// narrow encoding; the others multiply the same rounded values.
    value_storage storage = value_storage::exact;
    double tune_s = 0.1;  ///< the timing of each method                   [s]
    /// Acceptance of the choice. `measured`: where products without end are expected, `build` times
    /// it beside plain CSR, on a GPU csr.adaptive, or that or packed.stripes beside packed.warp, at
    /// most eight products, and takes the other where that is clearly faster. The outcome is kept
    /// for the process, and with `cache` in a file: the bits of products follow from it.
    /// `predicted`: nothing is timed, as with `speeds`, `tune`, several vectors or a number of
    /// expected products.
    enum class acceptance { measured, predicted };
    acceptance accept = acceptance::measured;
    /// The machine to plan for, in place of this one as it was measured. Without tune, the choice
    /// then follows from the matrix and these numbers alone: it is the same on every machine and in
    /// every run. speeds_of(on) has those of this machine. A tuned plan is then not cached.
    std::optional<machine_speeds> speeds = {};
};

/// Report of a plan, the same for all values and backends.
struct plan_report {
    /// Findings of the planner about one method.
    struct candidate {
        std::string method;
        std::string declined = {};     ///< why it is out of the question; empty where it is not
        double matrix_bytes = 0;       ///< matrix bytes                                     [bytes]
        double bytes = 0;              ///< bytes that one product moves                     [bytes]
        double predicted_s = 0;        ///< predicted time of a product                          [s]
        double predicted_setup_s = 0;  ///< predicted time to build                              [s]
        double measured_s = 0;         ///< measured time of a product; 0: not timed             [s]
        double measured_setup_s = 0;   ///< measured time to build; 0 where it was not timed     [s]

        [[nodiscard]] double product_s() const { return measured_s > 0 ? measured_s : predicted_s; }
        [[nodiscard]] double setup_s() const {
            return measured_s > 0 ? measured_setup_s : predicted_setup_s;
        }
    };

    nz::shape shape = {};
    std::int64_t nnz = 0;
    std::string machine;  ///< the machine that the plan is for
    std::int64_t expected_products = plan_options::many_products;
    value_storage storage = value_storage::exact;  ///< as plan_options has it
    std::int64_t longest_row = 0;                  ///< entries of the longest row
    storage_bound bound = {};                      ///< error bound of its products
    std::vector<candidate> candidates;             ///< best first; those that decline last, by name
    std::string why;                               ///< the choice, in one sentence
    /// The timing by which `build` accepts the choice (plan_options::accept).
    struct acceptance_timing {
        std::string beside = {};   ///< the other method; empty: nothing is timed
        std::string kept_as = {};  ///< name of the outcome; empty: no file has it
        bool in_file = false;      ///< kept for other processes, too
    } timing = {};

    /// Makes it the choice. It must be one of the candidates.
    void put_first(std::string_view method);
    /// The method chosen.
    [[nodiscard]] const candidate& chosen() const { return candidates.front(); }
    /// The method with the cheapest setup: the choice for a single product.
    [[nodiscard]] const candidate& cheapest() const;
    /// Products from which on the chosen one pays, against the cheapest to set up; 0 where it is
    /// that one.
    [[nodiscard]] double break_even_products() const;
};

/// The choice and why, when its setup pays, and a table of the best five candidates.
std::string to_text(const plan_report&);
std::ostream& operator<<(std::ostream&, const plan_report&);

/// Only chosen from, never timed or built, until `build`.
template <class V, class B>
struct plan : plan_report {
    B on;                                           ///< where it multiplies
    std::span<const method<V>> among;               ///< the methods it names
    std::shared_ptr<const plan> of_transpose = {};  ///< the plan of A^T, where it was asked for
    [[nodiscard]] bool empty() const { return candidates.empty(); }
};

/// The plan for A: its stats, each method's estimate, what that takes on this machine. The columns
/// of a row may stand in any order, and more than once: methods that need them ascending are built
/// from a canonical copy, whose making counts as setup. The choice is deterministic unless `tune`
/// is set. Throws argument_error for arrays that are no CSR, an unknown method, a negative option,
/// values that the storage asked for does not hold, and unavailable where the machine, or every
/// method, is.
template <class V, class B>
plan<V, B> make_plan(const csr<V, host_view>& A, B on, const plan_options& = {});
template <class V, class B>
plan<V, B> make_plan(const csr<V, host>& A, B on, const plan_options& options = {}) {
    return make_plan(view(A), on, options);
}
/// The same from the user's own CSR in GPU memory, which is analysed on the GPU and not copied. The
/// choice is among the methods that the GPU builds: others would take hundreds of SpMVs to build.
/// They take part where they are named in `methods`, or with `tune`; then, and where the values are
/// complex, A is copied to the CPU. Also throws device_error where the GPU lacks the memory for the
/// analysis (34 bytes a row, and 8 an entry where values are rounded).
template <class V>
plan<V, gpu> make_plan(const csr<V, device_view>& A, gpu on, const plan_options& = {});
template <class V>
plan<V, gpu> make_plan(const csr<V, device>& A, gpu on, const plan_options& options = {}) {
    return make_plan(view(A), on, options);
}
/// The same of a matrix that is known to be in order, wherever it lies: nothing is checked. The
/// choice is accepted as predicted: what solvers build this way has the same bits in every run.
template <class V, class M, class B>
plan<V, B> make_plan(const ascending<V, M>& A, B on, const plan_options& = {});
/// The same among other methods than the registry's; they must outlive the plan.
template <class V, class B>
plan<V, B> make_plan(const csr<V, host_view>& A, B on, const plan_options&,
                     std::span<const method<V>> among);

/// Builds the chosen method from A's values as the plan stores them, or, where that runs out of
/// memory or its builder refuses A, the next in the order of the plan that is smaller. Throws
/// argument_error where A is not of the shape that was planned for or has values that the plan's
/// storage does not hold, else what the last attempt threw.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> build(const plan<V, B>&, const csr<V, host_view>& A);
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> build(const plan<V, B>& p, const csr<V, host>& A) {
    return build(p, view(A));
}
/// The same from a CSR in GPU memory, built on the GPU where the method can be. A is not needed
/// afterwards.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> build(const plan<V, gpu>&, const csr<V, device_view>& A);
template <class V>
std::unique_ptr<linear_operator<V, gpu>> build(const plan<V, gpu>& p, const csr<V, device>& A) {
    return build(p, view(A));
}

/// The same of a matrix that is known to be in order: nothing is checked.
template <class V, class M, class B>
std::unique_ptr<linear_operator<V, B>> build(const plan<V, B>&, const ascending<V, M>& A);

template <class V, class B = gpu>
struct planned {
    nz::plan<V, B> plan;
    std::unique_ptr<linear_operator<V, B>> op;
};
/// make_plan and build at once: what planning finds out of the matrix, building need not find out
/// again, and A^T is made once.
template <class V, class B>
planned<V, B> plan_and_build(const csr<V, host_view>& A, B on, const plan_options& = {});
template <class V, class B>
planned<V, B> plan_and_build(const csr<V, host>& A, B on, const plan_options& options = {}) {
    return plan_and_build(view(A), on, options);
}
/// The same of a matrix that is given away: where the choice reads CSR and is not timed, its arrays
/// are taken over, not copied, and A is left empty; else A is left as it was.
template <class V>
planned<V, cpu> plan_and_build(csr<V, host>&& A, cpu on, const plan_options& = {});
template <class V>
planned<V> plan_and_build(const csr<V, device_view>& A, gpu on, const plan_options& = {});
template <class V, class M, class B>
planned<V, B> plan_and_build(const ascending<V, M>& A, B on, const plan_options& = {});

/// Gives `op`, which `build` made by this plan, the values of A, whose pattern must be that of the
/// matrix it was built from: for codes that step in time. Nothing is planned again. What op does
/// afterwards is, bit for bit, what build(p, A) would do. In place where the layout
/// is CSR, or on a GPU packed from ascending rows with plain values before and after; otherwise op
/// is built anew by the same plan. On a GPU it waits for the stream. Throws as `build`; op then has
/// its old values or none.
template <class V, class B>
void update_values(std::unique_ptr<linear_operator<V, B>>& op, const plan<V, B>& p,
                   const csr<V, host_view>& A);
template <class V>
void update_values(std::unique_ptr<linear_operator<V, gpu>>& op, const plan<V, gpu>& p,
                   const csr<V, device_view>& A);

}  // namespace nz
