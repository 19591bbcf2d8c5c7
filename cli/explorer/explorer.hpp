// Data of the page of nz show: every layout of a small matrix, and its kernels step by step.
#pragma once

#include <string>

#include "cli/explorer/built.hpp"
#include "nonzero/core/json.hpp"

namespace nz::cli {

/// The matrix, its layouts and the traced kernels over them, as docs/show.md lists the fields.
/// Layouts are those that the kernels use, but where the options give a number. `format` is the
/// one that is to be seen first; empty: csr.
template <class V>
nz::json explored(const std::string& name, const csr<V, host_view>& A, const layout_options& o,
                  const std::string& format);

}  // namespace nz::cli
