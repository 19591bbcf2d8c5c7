// What planning finds out of a CSR on the GPU that building would find out again.
#pragma once

#include <memory>

namespace nz {

template <class V>
class packed_analysis;

/// Holds for one matrix, as long as it stays as and where it is. Null: not found out.
template <class V>
struct device_analysis {
    std::shared_ptr<const packed_analysis<V>> packing = nullptr;
};

}  // namespace nz
