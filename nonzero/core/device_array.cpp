#include "nonzero/core/device_array.hpp"

namespace nz {

device_block::device_block(gpu on, std::size_t bytes)
    : device_(on.device),
      stream_(on.stream),
      at_(bytes == 0 ? nullptr : allocate_device(on, bytes)) {}

device_block::device_block(device_block&& o) noexcept { *this = std::move(o); }

device_block& device_block::operator=(device_block&& o) noexcept {
    std::swap(device_, o.device_);
    std::swap(stream_, o.stream_);
    std::swap(at_, o.at_);
    return *this;
}

device_block::~device_block() {
    if (at_ != nullptr) release_device({.device = device_, .stream = stream_}, at_);
}

}  // namespace nz
