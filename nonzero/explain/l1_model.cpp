#include "nonzero/explain/l1_model.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <set>
#include <unordered_map>

#include "nonzero/core/error.hpp"

namespace nz {
namespace {

constexpr std::int64_t line_bytes = 128;
constexpr int sectors_of_line = int(line_bytes / matrix_stats::sector_bytes);

/// A sector of an array, of a request; the last one of a request says so.
struct wanted_sector {
    std::uint64_t line;  ///< the array's number in the upper bits
    std::uint8_t sector;
    bool of_x, bypasses, ends_request;
};

/// Keeps the lines used last.
class lru_cache {
  public:
    explicit lru_cache(std::int64_t bytes) : most_(std::size_t(bytes / line_bytes)) {
        slots_.reserve(most_);
    }
    /// Whether the sector is there; it is afterwards, in the line used last.
    bool touch(std::uint64_t line, int sector) {
        const unsigned bit = 1U << sector;
        const auto found = at_.find(line);
        const std::size_t s = found != at_.end() ? found->second : new_slot(line);
        const bool hit = (slots_[s].sectors & bit) != 0;
        slots_[s].sectors |= bit;
        if (newest_ != s) unlink(s), link(s);
        return hit;
    }

  private:
    static constexpr std::size_t none = ~std::size_t(0);
    struct slot {
        std::uint64_t line;
        unsigned sectors;
        std::size_t older, newer;
    };

    /// For a line that is not there: a free one, or that of the line used longest ago.
    std::size_t new_slot(std::uint64_t line) {
        std::size_t s = slots_.size();
        if (s < most_) {
            slots_.push_back({});
        } else {
            s = oldest_;
            unlink(s);
            at_.erase(slots_[s].line);
        }
        slots_[s] = {line, 0, none, none};
        at_.emplace(line, s);
        link(s);
        return s;
    }
    void link(std::size_t s) {
        slots_[s].older = newest_, slots_[s].newer = none;
        (newest_ == none ? oldest_ : slots_[newest_].newer) = s;
        newest_ = s;
    }
    void unlink(std::size_t s) {
        const auto [line, sectors, older, newer] = slots_[s];
        (older == none ? oldest_ : slots_[older].newer) = newer;
        (newer == none ? newest_ : slots_[newer].older) = older;
    }

    std::size_t most_;
    std::vector<slot> slots_;
    std::unordered_map<std::uint64_t, std::size_t> at_;
    std::size_t oldest_ = none, newest_ = none;
};

/// Writes down the sectors that a warp loads, as far as `most`.
class recorder final : public access_sink {
  public:
    recorder(std::vector<std::string_view>& arrays, std::size_t most)
        : arrays_(arrays), most_(most) {}
    void take(const access& a) override {
        if (a.store || wanted.size() >= most_) return;
        std::array<std::int64_t, warp_lanes> sector;
        std::size_t n = 0;
        for (const std::int64_t k : a.at)
            if (k != idle) sector[n++] = k * a.to.bytes / matrix_stats::sector_bytes;
        std::sort(sector.begin(), sector.begin() + std::ptrdiff_t(n));
        n = std::size_t(std::unique(sector.begin(), sector.begin() + std::ptrdiff_t(n)) -
                        sector.begin());
        for (std::size_t k = 0; k < n; ++k)
            wanted.push_back(
                {number_of(a.to.name) << 48 | std::uint64_t(sector[k] / sectors_of_line),
                 std::uint8_t(sector[k] % sectors_of_line), a.to.role == array_role::x,
                 a.to.bypasses_l1, k + 1 == n});
    }
    std::deque<wanted_sector> wanted;

  private:
    std::uint64_t number_of(std::string_view array) {
        const auto at = std::find(arrays_.begin(), arrays_.end(), array);
        if (at != arrays_.end()) return std::uint64_t(at - arrays_.begin());
        arrays_.push_back(array);
        return arrays_.size() - 1;
    }
    std::vector<std::string_view>& arrays_;
    std::size_t most_;
};

/// One multiprocessor with every multiprocessors-th block of a launch.
class multiprocessor {
  public:
    multiprocessor(const kernel_trace& t, const l1_model& m, const warp_grid& g,
                   std::int64_t first_warp)
        : t_(t), m_(m), g_(g), first_warp_(first_warp), cache_(m.bytes) {}

    void run(std::int64_t first_block, l1_hits& to) {
        next_block_ = first_block;
        const std::int64_t start = to.sectors;
        std::vector<std::deque<wanted_sector>> resident;
        while (to.sectors - start < m_.most_sectors) {
            fill(resident);
            if (resident.empty()) return;
            for (auto& warp : resident) issue(warp, to);
            std::erase_if(resident, [](const auto& warp) { return warp.empty(); });
        }
    }

  private:
    /// Blocks start as long as there is room; the first whatever its size.
    void fill(std::vector<std::deque<wanted_sector>>& resident) {
        while (
            next_block_ < g_.warps / g_.warps_per_block &&
            (resident.empty() || int(resident.size()) + g_.warps_per_block <= m_.resident_warps)) {
            for (int w = 0; w < g_.warps_per_block; ++w) {
                recorder of_warp(arrays_, std::size_t(m_.most_sectors));
                t_.trace(first_warp_ + next_block_ * g_.warps_per_block + w, of_warp);
                if (!of_warp.wanted.empty()) resident.push_back(std::move(of_warp.wanted));
            }
            next_block_ += m_.multiprocessors;
        }
    }
    /// The next request of a warp.
    void issue(std::deque<wanted_sector>& warp, l1_hits& to) {
        for (bool more = true; more && !warp.empty(); warp.pop_front()) {
            const wanted_sector s = warp.front();
            const bool hit = !s.bypasses && cache_.touch(s.line, s.sector);
            ++to.sectors, to.hits += hit ? 1 : 0;
            if (s.of_x) ++to.x_sectors, to.x_hits += hit ? 1 : 0;
            more = !s.ends_request;
        }
    }

    const kernel_trace& t_;
    const l1_model& m_;
    const warp_grid& g_;
    std::int64_t first_warp_, next_block_ = 0;
    lru_cache cache_;
    std::vector<std::string_view> arrays_;
};

double rate_of(std::int64_t hits, std::int64_t all) {
    return all == 0 ? 0 : double(hits) / double(all);
}

}  // namespace

double l1_hits::rate() const { return rate_of(hits, sectors); }
double l1_hits::x_rate() const { return rate_of(x_hits, x_sectors); }

l1_model l1_model::of(const gpu_info& g) {
    const auto kib = [&]() -> std::int64_t {
        switch (g.compute_capability) {
            case 75:
                return 96;
            case 80:
            case 87:
                return 192;
            case 70:
            case 86:
            case 89:
            case 120:
                return 128;
            default:
                return 256;
        }
    };
    const int warps = g.compute_capability == 75                               ? 32
                      : g.compute_capability > 80 && g.compute_capability < 90 ? 48
                      : g.compute_capability >= 120                            ? 48
                                                                               : 64;
    return {.bytes = kib() << 10, .multiprocessors = g.multiprocessors, .resident_warps = warps};
}

l1_hits model_l1(const kernel_trace& t, const l1_model& m) {
    if (m.bytes < line_bytes || m.multiprocessors < 1 || m.resident_warps < 1 || m.most_sectors < 1)
        throw argument_error("l1_model: a size is too small");
    l1_hits all;
    std::int64_t first_warp = 0;
    l1_model of_launch = m;
    constexpr std::int64_t least_sectors = 4096;
    const auto launches = std::int64_t(std::max<std::size_t>(t.grids().size(), 1));
    of_launch.most_sectors =
        std::min(m.most_sectors, std::max(m.most_sectors / launches, least_sectors));
    for (const warp_grid& g : t.grids()) {
        const std::int64_t blocks = g.warps / g.warps_per_block;
        std::set<std::int64_t> starts;
        for (int k = 0; k < std::min(3, m.multiprocessors); ++k) starts.insert(blocks * k / 3);
        for (const std::int64_t b : starts) multiprocessor(t, of_launch, g, first_warp).run(b, all);
        first_warp += g.warps;
    }
    return all;
}

}  // namespace nz
