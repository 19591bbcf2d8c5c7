// nonzero/dist/gpu/peer_mailbox.hpp in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/gpu/peer_mailbox.hpp"

namespace nz {

struct peer_mailbox::boxes {};

peer_mailbox::~peer_mailbox() = default;
std::unique_ptr<peer_mailbox> peer_mailbox::connect(const communicator&, gpu) { return nullptr; }
bool peer_mailbox::takes(std::size_t) { return false; }
void peer_mailbox::gather(gpu on, device_span<std::byte>, device_out<std::byte>) {
    require_gpu(on);
}

}  // namespace nz
