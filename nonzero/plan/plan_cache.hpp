// Plans that are kept from one run to the next. A file that is stale, corrupt or of another
// matrix, machine or version is ignored, never trusted.
#pragma once

#include <optional>

#include "nonzero/plan/plan.hpp"

namespace nz {

/// Inputs of a plan, apart from the machine: shape, pattern, and how often values repeat.
struct structure_key {
    nz::shape shape = {};
    std::int64_t nnz = 0;
    std::uint64_t pattern = 0;         ///< hash of row_ptr and col_ind
    std::int64_t distinct_values = 0;  ///< up to most_distinct_values + 1, which stands for more
    bool in_float = false;             ///< every value is one of half the width
    friend bool operator==(const structure_key&, const structure_key&) = default;
};
/// Beyond this many values a table saves nothing: the indices take 16 bits.
inline constexpr std::int64_t most_distinct_values = 65536;

/// O(nnz), parallel in the pattern; the same whatever the number of threads.
template <class V>
structure_key key_of(const csr<V, host_view>& A);

/// Where the plan of that matrix on that backend is kept; empty where there is no place.
template <class V, class B>
std::string plan_path(const structure_key&, B on);

/// The plan that the file keeps for this matrix, machine, version and these options, among the
/// registry's methods; nothing where the file is missing, corrupt, or of another.
template <class V, class B>
std::optional<plan<V, B>> load_plan(const std::string& path, const structure_key&, B on,
                                    const plan_options&);
/// Makes the folder. Throws nz::error where the file cannot be written.
template <class V, class B>
void save_plan(const std::string& path, const structure_key&, const plan<V, B>&,
               const plan_options&);

}  // namespace nz
