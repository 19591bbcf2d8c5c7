// What planning finds out of a CSR on the GPU that building would find out again.
#pragma once

#include <memory>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

template <class V>
class packed_analysis;

/// Holds for one matrix, as long as it stays as and where it is. Null: not found out.
template <class V>
struct device_analysis {
    std::shared_ptr<const packed_analysis<V>> packing = nullptr;
    /// The matrix's canonical copy, of which all this is, where its rows do not ascend. Else null.
    std::shared_ptr<const csr<V, device>> ordered = nullptr;
    bool checked = false;  ///< it is a CSR, and its rows ascend or `ordered` is set
};

}  // namespace nz
