// Data of the page of nz show: every layout of a small matrix, and its kernels step by step.
#pragma once

#include <string>

#include "cli/explorer/built.hpp"
#include "nonzero/core/json.hpp"

namespace nz::cli {

/// Reason for not showing a matrix of that shape with so many entries; empty where it is shown.
std::string why_too_large(nz::shape shape, std::int64_t entries);

/// Name, shape and entries.
template <class V>
nz::json matrix_json(const std::string& name, const csr<V, host_view>& A);

/// The matrix, its layouts and the traced kernels over them. Layouts are those that the kernels
/// use, but where the options give a number.
template <class V>
nz::json explored(const std::string& name, const csr<V, host_view>& A, const layout_options& o);

}  // namespace nz::cli
