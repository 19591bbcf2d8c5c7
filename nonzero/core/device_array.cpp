#include "nonzero/core/device_array.hpp"

namespace nz {

device_array<void>::device_array(gpu on, std::size_t bytes)
    : device_(on.device), stream_(on.stream), at_(bytes == 0 ? nullptr : allocate(on, bytes)) {}

device_array<void>::device_array(device_array&& o) noexcept { *this = std::move(o); }

device_array<void>& device_array<void>::operator=(device_array&& o) noexcept {
    std::swap(device_, o.device_);
    std::swap(stream_, o.stream_);
    std::swap(at_, o.at_);
    return *this;
}

device_array<void>::~device_array() {
    if (at_ != nullptr) release({.device = device_, .stream = stream_}, at_);
}

}  // namespace nz
