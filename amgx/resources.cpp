#include <unistd.h>

#include <array>
#include <cstring>

#include "amgx/handles.hpp"
#include "amgx/memory.hpp"
#include "amgx/mpi.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/gpu/connect.hpp"

namespace nz::amgx {
namespace {

/// A host and the address of a GPU there.
using place = std::array<char, 128>;

place place_of(int device) {
    place at{};
    gethostname(at.data(), at.size() / 2 - 1);
    const std::string bus = pci_bus_id({.device = device});
    std::memcpy(at.data() + at.size() / 2, bus.data(), std::min(bus.size(), at.size() / 2 - 1));
    return at;
}

bool share_a_gpu(const communicator& ranks, int device) {
    place mine{};
    agree(&ranks, [&] { mine = place_of(device); });
    const auto all = gathered(ranks, mine);
    for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (all[a] == all[b]) return true;
    return false;
}

std::unique_ptr<gpu_communicator> connect(const communicator& ranks, int device) {
    if (share_a_gpu(ranks, device)) return connect_by_cpu(ranks);
    try {
        return connect_by_nccl(ranks, gpu{.device = device});
    } catch (const unavailable&) {  // on all ranks
        return connect_by_cpu(ranks);
    }
}

}  // namespace

mode_parts parts_of(AMGX_Mode mode) {
    const int number = int(mode);
    mode_parts parts{.on_gpu = number % 2 == 1};
    switch (number & ~1) {
        case AMGX_mode_hDDI:
            break;
        case AMGX_mode_hDFI:
            parts.single_matrix = true;
            break;
        case AMGX_mode_hFFI:
            parts.single_vector = parts.single_matrix = true;
            break;
        case AMGX_mode_hZZI:
            parts.is_complex = true;
            break;
        case AMGX_mode_hZCI:
            parts.is_complex = parts.single_matrix = true;
            break;
        case AMGX_mode_hCCI:
            parts.is_complex = parts.single_vector = parts.single_matrix = true;
            break;
        default:
            throw failure(AMGX_RC_BAD_MODE, fmt::format("{} is no mode that is served", number));
    }
    if (parts.on_gpu && parts.is_complex)
        throw failure(AMGX_RC_BAD_MODE, "complex values are served on the host alone");
    if (parts.on_gpu)
        if (const auto why = why_no_gpu({.device = current_device()}); !why.empty())
            throw failure(AMGX_RC_NOT_SUPPORTED_TARGET, why);
    return parts;
}

resources::resources(void* mpi_comm, int device)
    : ranks_(mpi_comm == nullptr ? nullptr : ranks_of_mpi(mpi_comm)),
      device_(device < 0 ? current_device() : device) {}

resources::~resources() = default;

gpu resources::on_gpu() {
    if (!stream_) stream_ = std::make_unique<gpu_stream>(device_);
    if (ranks_ && !gpu_ranks_) gpu_ranks_ = connect(*ranks_, device_);
    gpu on = *stream_;
    on.ranks = gpu_ranks_.get();
    return on;
}

void resources::tell(std::string_view text) const {
    if (!ranks_ || ranks_->rank() == 0) amgx::tell(text);
}

}  // namespace nz::amgx

using namespace nz::amgx;

AMGX_RC AMGX_resources_create_simple(AMGX_resources_handle* rsc, AMGX_config_handle cfg) {
    return guarded(__func__, [&] {
        not_null(rsc, "rsc");
        object_of<configuration>(cfg);
        give(rsc, std::make_unique<std::shared_ptr<resources>>(
                      std::make_shared<resources>(nullptr, -1)));
    });
}

AMGX_RC AMGX_resources_create(AMGX_resources_handle* rsc, AMGX_config_handle cfg, void* comm,
                              int device_num, const int* devices) {
    return guarded(__func__, [&] {
        not_null(rsc, "rsc");
        object_of<configuration>(cfg);
        require(device_num == 1, "one GPU a rank, which device_num is to be");
        not_null(devices, "devices");
        require(devices[0] >= 0, "a device is negative");
        give(rsc, std::make_unique<std::shared_ptr<resources>>(
                      std::make_shared<resources>(comm, devices[0])));
    });
}

AMGX_RC AMGX_resources_destroy(AMGX_resources_handle rsc) {
    return guarded(__func__, [&] { destroy<std::shared_ptr<resources>>(rsc); });
}
