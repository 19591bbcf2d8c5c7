#include "nonzero/formats/packed/values.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "nonzero/core/parallel.hpp"

namespace nz {
namespace {

struct bits_hash {
    template <class V>
    std::size_t operator()(const value_bits<V>& b) const {
        std::uint64_t h = 0;
        for (const std::uint64_t w : b.words) h = (h ^ w) * 0x9e3779b97f4a7c15U;
        return std::size_t(h ^ h >> 32);
    }
};

template <class V>
bool narrows_to_float32(V v) {
    if constexpr (std::is_same_v<V, double>) {
        return value_bits<V>(double(float(v))) == value_bits<V>(v);
    } else {
        return false;
    }
}

/// The distinct values of a share, as many as a table holds and one more; and whether all values
/// are floats.
template <class V>
struct distinct {
    std::unordered_set<value_bits<V>, bits_hash> set = {};
    bool all_float32 = true;

    void add(std::span<const V> values) {
        value_bits<V> last;
        for (const V& v : values) {
            all_float32 = all_float32 && narrows_to_float32(v);
            if (set.size() > most_table_values<V>) {
                if (!all_float32) return;
                continue;
            }
            const value_bits<V> bits(v);
            if (set.empty() || bits != last) set.insert(last = bits);
        }
    }
};

template <class V>
distinct<V> distinct_values(std::span<const V> values) {
    constexpr std::int64_t parts = 64;
    distinct<V> all;
    std::mutex one_at_a_time;
    parallel_for(thread_count({}), parts, [&](std::int64_t part) {
        const range r = share(std::int64_t(values.size()), parts, part);
        distinct<V> mine;
        mine.add(values.subspan(std::size_t(r.first), std::size_t(r.last - r.first)));
        const std::lock_guard lock(one_at_a_time);
        all.set.merge(mine.set);
        all.all_float32 = all.all_float32 && mine.all_float32;
    });
    return all;
}

}  // namespace

template <class V>
value_encoder<V> value_encoder<V>::of(std::span<const V> values) {
    const distinct<V> all = distinct_values(values);
    const std::size_t count = all.set.size();
    value_encoder c{encoding_for<V>(count, all.all_float32)};
    if (count == 0 || count > most_table_values<V>) return c;
    std::vector<value_bits<V>> bits(all.set.begin(), all.set.end());
    std::sort(bits.begin(), bits.end());
    c.table.resize(count);
    for (std::size_t k = 0; k < count; ++k)
        std::memcpy(static_cast<void*>(&c.table[k]), bits[k].words.data(), sizeof(V));
    return c;
}

template <class V>
void value_encoder<V>::put(V v, std::byte* to, std::size_t at) const {
    const auto store = [&](auto code) { std::memcpy(to + at * sizeof code, &code, sizeof code); };
    if (encoding == value_encoding::constant) return;
    if (encoding == value_encoding::none) return store(v);
    if constexpr (std::is_same_v<V, double>) {
        if (encoding == value_encoding::float32) return store(float(v));
    }
    const auto before = [](const V& a, const value_bits<V>& b) { return value_bits<V>(a) < b; };
    const auto number =
        std::lower_bound(table.begin(), table.end(), value_bits<V>(v), before) - table.begin();
    if (encoding == value_encoding::dictionary8) return store(std::uint8_t(number));
    store(std::uint16_t(number));
}

#define NZ_INSTANTIATE(V) template struct value_encoder<V>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
