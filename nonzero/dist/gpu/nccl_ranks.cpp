// Ranks that talk by NCCL. Its library is opened when it is first needed, and its few functions are
// declared here, so that nonzero builds and runs without it (docs/decisions/nccl.md).
#include <dlfcn.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu_communicator.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/gpu/connect.hpp"
#include "nonzero/dist/gpu/gpu_ranks.hpp"
#include "nonzero/dist/gpu/peer_mailbox.hpp"

namespace nz {
namespace {

// As nccl.h of version 2 has them.
struct unique_id {
    std::array<char, 128> bytes;
};
constexpr int nccl_success = 0, nccl_int8 = 0;

struct nccl_functions {
    const char* (*error_string)(int);
    int (*get_unique_id)(unique_id*);
    int (*comm_init_rank)(void** comm, int ranks, unique_id, int rank);
    int (*comm_destroy)(void* comm);
    int (*all_gather)(const void*, void*, std::size_t count, int type, void* comm, void* stream);
    int (*group_start)();
    int (*group_end)();
    int (*send)(const void*, std::size_t count, int type, int peer, void* comm, void* stream);
    int (*receive)(void*, std::size_t count, int type, int peer, void* comm, void* stream);

    void check(int code, const char* what) const {
        if (code != nccl_success) throw device_error(std::string(what) + ": " + error_string(code));
    }
};

template <class F>
void look_up(void* library, const char* symbol, F& to) {
    to = reinterpret_cast<F>(dlsym(library, symbol));
    if (to == nullptr) throw unavailable(std::string("libnccl.so.2 has no ") + symbol);
}

/// Opened once, and never closed: NCCL's threads may still run. Throws unavailable.
const nccl_functions& nccl() {
    static const nccl_functions loaded = [] {
        void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) throw unavailable(std::string("no NCCL here: ") + dlerror());
        nccl_functions f{};
        look_up(library, "ncclGetErrorString", f.error_string);
        look_up(library, "ncclGetUniqueId", f.get_unique_id);
        look_up(library, "ncclCommInitRank", f.comm_init_rank);
        look_up(library, "ncclCommDestroy", f.comm_destroy);
        look_up(library, "ncclAllGather", f.all_gather);
        look_up(library, "ncclGroupStart", f.group_start);
        look_up(library, "ncclGroupEnd", f.group_end);
        look_up(library, "ncclSend", f.send);
        look_up(library, "ncclRecv", f.receive);
        return f;
    }();
    return loaded;
}

class nccl_ranks final : public gpu_communicator {
  public:
    nccl_ranks(const communicator& by_cpu, gpu on) : gpu_communicator(by_cpu) {
        unique_id mine{};
        agree(&by_cpu, [&] {
            require_gpu(on);
            (void)nccl();
            if (rank() == 0) nccl().check(nccl().get_unique_id(&mine), "ncclGetUniqueId");
        });
        const unique_id common = gathered(by_cpu, mine).front();
        agree(&by_cpu, [&] {
            const device_guard guard(on);
            nccl().check(nccl().comm_init_rank(&comm_, size(), common, rank()), "ncclCommInitRank");
        });
        agree(&by_cpu, [&] { connect_all(on); });
        mailbox_ = peer_mailbox::connect(by_cpu, on);
    }
    nccl_ranks(const nccl_ranks&) = delete;
    nccl_ranks& operator=(const nccl_ranks&) = delete;
    ~nccl_ranks() override { nccl().comm_destroy(comm_); }

    [[nodiscard]] std::string_view transport() const override { return "NCCL"; }

    void gather_on_gpu(gpu on, device_span<std::byte> mine,
                       device_out<std::byte> all) const override {
        if (mailbox_ != nullptr && peer_mailbox::takes(mine.size()))
            return mailbox_->gather(on, mine, all);
        const device_guard guard(on);
        nccl().check(
            nccl().all_gather(mine.data(), all.data(), mine.size(), nccl_int8, comm_, on.stream),
            "ncclAllGather");
    }
    void start_on_gpu(gpu on, std::span<const gpu_send> out,
                      std::span<const gpu_receive> in) const override {
        under_way_ = !out.empty() || !in.empty();
        if (!under_way_) return;
        const gpu aside = beside(on);
        start_after(aside, on);
        const device_guard guard(on);
        nccl().check(nccl().group_start(), "ncclGroupStart");
        for (const gpu_receive& m : in)
            nccl().check(nccl().receive(m.bytes.data(), m.bytes.size(), nccl_int8, m.peer, comm_,
                                        aside.stream),
                         "ncclRecv");
        for (const gpu_send& m : out)
            nccl().check(
                nccl().send(m.bytes.data(), m.bytes.size(), nccl_int8, m.peer, comm_, aside.stream),
                "ncclSend");
        nccl().check(nccl().group_end(), "ncclGroupEnd");
    }
    void wait_on_gpu(gpu on) const override {
        if (std::exchange(under_way_, false)) start_after(on, beside(on));
    }

  private:
    /// A byte between each two ranks, for which NCCL connects them: 0.2 s of two H100. Else plans
    /// and solves wait for it, each where it meets a new pair. Fewer channels connect in 34 ms, and
    /// halos of random columns take four times as long (docs/experiments/several-gpus.md).
    void connect_all(gpu on) const {
        device_array<std::byte> all(on, std::size_t(size()));
        std::vector<gpu_send> out;
        std::vector<gpu_receive> in;
        for (int r = 0; r < size(); ++r) {
            if (r == rank()) continue;
            out.push_back({r, {all.data() + rank(), 1}});
            in.push_back({r, {all.data() + r, 1}});
        }
        zero_on_device(on, all);
        start_on_gpu(on, out, in);
        wait_on_gpu(on);
        synchronize(on);
    }

    void* comm_ = nullptr;
    std::unique_ptr<peer_mailbox> mailbox_;  ///< null where the GPUs do not reach each other
    mutable bool under_way_ = false;
};

}  // namespace

std::unique_ptr<gpu_communicator> connect_by_nccl(const communicator& by_cpu, gpu on) {
    return std::make_unique<nccl_ranks>(by_cpu, on);
}

}  // namespace nz
