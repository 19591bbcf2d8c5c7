#include "nonzero/formats/packed/values.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "nonzero/core/parallel.hpp"

namespace nz {
namespace {

template <class V>
bool narrows_to_float32(V v) {
    if constexpr (std::is_same_v<V, double>) {
        return value_bits<V>(double(float(v))) == value_bits<V>(v);
    } else {
        return false;
    }
}

/// The distinct values that a thread met, as many as a table holds and one more; and whether all
/// values are floats.
template <class V>
struct distinct {
    std::size_t most;
    std::vector<value_bits<V>> met = {};
    bool all_float32 = true;
    value_numbers<V> numbers = {};

    [[nodiscard]] bool too_many() const { return met.size() > most; }
    void add(V v) {
        const value_bits<V> bits(v);
        if (!numbers.add(bits, std::uint16_t(met.size()))) return;
        met.push_back(bits);
        all_float32 = all_float32 && narrows_to_float32(v);
    }
    /// Up to the first too many of them; of those behind only whether they are floats.
    void add(std::span<const V> values) {
        std::size_t k = 0;
        while ((k += numbers.known(values.subspan(k))) < values.size() && !too_many())
            add(values[k++]);
        look_for_other_than_floats(values.subspan(k));
    }
    void look_for_other_than_floats(std::span<const V> values) {
        for (std::size_t k = 0; k < values.size() && all_float32; ++k)
            all_float32 = narrows_to_float32(values[k]);
    }
    void take_over(distinct&& other) {
        all_float32 = all_float32 && other.all_float32;
        if (other.too_many()) {
            met = std::move(other.met);
            return;
        }
        for (const value_bits<V>& v : other.met)
            if (!too_many() && numbers.add(v, std::uint16_t(met.size()))) met.push_back(v);
    }
};

template <class V>
distinct<V> distinct_values(std::span<const V> values, std::size_t most) {
    constexpr std::int64_t run = 4096;  // values
    const std::int64_t runs = (std::ssize(values) + run - 1) / run;
    distinct<V> all{most};
    std::atomic<bool> too_many = false;
    std::mutex one_at_a_time;
    shared_range left(runs, 1);
    parallel(thread_count({}), [&](int) {
        distinct<V> mine{most};
        left.take([&](std::int64_t k) {
            const auto first = std::size_t(k * run);
            const auto here =
                values.subspan(first, std::min(values.size() - first, std::size_t(run)));
            if (too_many.load(std::memory_order_relaxed))
                return mine.look_for_other_than_floats(here);
            mine.add(here);
            if (mine.too_many()) too_many = true;
        });
        const std::lock_guard lock(one_at_a_time);
        all.take_over(std::move(mine));
    });
    return all;
}

}  // namespace

template <class V>
value_encoder<V> value_encoder<V>::of(std::span<const V> values, std::size_t most) {
    distinct<V> all = distinct_values(values, most);
    value_encoder c{encoding_for<V>(all.met.size(), all.all_float32, most)};
    if (all.met.empty() || all.too_many()) return c;
    std::sort(all.met.begin(), all.met.end());
    c.table.resize(all.met.size());
    for (std::size_t k = 0; k < all.met.size(); ++k) {
        std::memcpy(static_cast<void*>(&c.table[k]), all.met[k].words.data(), sizeof(V));
        c.numbers.add(all.met[k], std::uint16_t(k));
    }
    return c;
}

#define NZ_INSTANTIATE(V) template struct value_encoder<V>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
