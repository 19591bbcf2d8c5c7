#include "nonzero/gen/distinct.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "nonzero/core/parallel.hpp"
#include "nonzero/gen/counter.hpp"
#include "nonzero/gen/rows.hpp"

namespace nz {
namespace {

template <class T>
using bits_of = std::conditional_t<
    sizeof(T) == 4, std::uint32_t,
    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::array<std::uint64_t, 2>>>;

template <class R>
constexpr int mantissa_bits = std::numeric_limits<R>::digits - 1;
/// Bits of the exponent that may vary; with more, sums of such numbers might overflow.
constexpr int most_exponent_bits = 6;

/// A bijection of the numbers of `width` bits that scatters neighbours.
class permutation {
  public:
    permutation(std::uint64_t seed, int width)
        : add_(scatter_bits(seed)), mask_((std::uint64_t(1) << width) - 1), half_(width / 2 + 1) {}
    [[nodiscard]] std::uint64_t operator()(std::uint64_t k) const {
        for (const std::uint64_t odd : {0xbf58476d1ce4e5b9U, 0x94d049bb133111ebU}) {
            k = (k + add_) * odd & mask_;
            k ^= k >> half_;
        }
        return k;
    }

  private:
    std::uint64_t add_, mask_;
    int half_;
};

/// `value` with the lowest `width` bits of its mantissa replaced by those of `id`; bits that the
/// mantissa does not hold shift the exponent of 1.
template <class R>
R with_low_bits(R value, std::uint64_t id, int width) {
    using bits = bits_of<R>;
    const int beyond = width - mantissa_bits<R>;
    if (beyond > 0) {
        const auto octave = int(id >> mantissa_bits<R>) - (1 << (beyond - 1));
        value = std::copysign(std::ldexp(R(1), octave), value);
        width = mantissa_bits<R>;
    }
    const auto mask = bits((bits(1) << width) - 1);
    return std::bit_cast<R>(bits((std::bit_cast<bits>(value) & ~mask) | (bits(id) & mask)));
}

template <class R>
R scaled_part(R part, double factor) {
    return R(factor) * (part == 0 || !std::isfinite(part) ? R(1) : part);
}

template <class V>
V distinct_value(V v, double factor, std::uint64_t id, int width) {
    if constexpr (is_complex<V>) {
        using R = real<V>;
        const int half = (width + 1) / 2;
        return {with_low_bits<R>(scaled_part(v.real(), factor), id, half),
                with_low_bits<R>(scaled_part(v.imag(), factor), id >> half, half)};
    } else {
        return with_low_bits(scaled_part(v, factor), id, width);
    }
}

}  // namespace

template <class V>
void make_distinct(std::span<V> val, std::uint64_t seed) {
    make_distinct(val, seed, 0, val.size());
}

template <class V>
void make_distinct(std::span<V> val, std::uint64_t seed, std::uint64_t first, std::uint64_t count) {
    expect(first <= count && val.size() <= count - first,
           "make_distinct: a part of other values than there are");
    const int width = std::max(int(std::bit_width(std::max<std::uint64_t>(count, 1) - 1)), 1);
    const int most = std::is_same_v<V, float> ? mantissa_bits<float> + most_exponent_bits
                                              : 2 * mantissa_bits<float>;
    expect(width <= most, "make_distinct: more entries than values of that type");
    const permutation id(seed, width);
    const counter random(seed, 0);
    parallel_for(thread_count({}), std::int64_t(val.size()), [&](std::int64_t k) {
        const std::uint64_t number = first + std::uint64_t(k);
        const double factor = (1 + random.uniform(number)) / 2;
        V& v = val[std::size_t(k)];
        v = distinct_value(v, factor, id(number), width);
    });
}

/// By buckets of hashes, each sorted by one thread.
template <class V>
std::int64_t count_distinct(std::span<const V> val) {
    constexpr std::size_t buckets = 1024;
    using bits = bits_of<V>;
    const auto bucket = [](V v) {
        std::uint64_t hash = 0;
        if constexpr (sizeof(V) == 16) {
            const auto [a, b] = std::bit_cast<bits>(v);
            hash = scatter_bits(scatter_bits(a) ^ b);
        } else {
            hash = scatter_bits(std::bit_cast<bits>(v));
        }
        return std::size_t(hash % buckets);
    };
    expect_memory("counting the values", 2.0 * double(val.size_bytes()));
    const int threads = thread_count({});
    const auto n = std::int64_t(val.size());
    std::vector<std::array<std::size_t, buckets>> at(static_cast<std::size_t>(threads));
    parallel(threads, [&](int t) {
        const range mine = share(n, threads, t);
        for (std::int64_t k = mine.first; k < mine.last; ++k)
            ++at[std::size_t(t)][bucket(val[std::size_t(k)])];
    });
    std::vector<std::size_t> first(buckets + 1);
    for (std::size_t b = 0, sum = 0; b < buckets; ++b) {
        first[b] = sum;
        for (auto& of_thread : at) sum += std::exchange(of_thread[b], sum);
        first[b + 1] = sum;
    }
    host_vector<bits> sorted(val.size());
    parallel(threads, [&](int t) {
        const range mine = share(n, threads, t);
        for (std::int64_t k = mine.first; k < mine.last; ++k) {
            const V v = val[std::size_t(k)];
            sorted[at[std::size_t(t)][bucket(v)]++] = std::bit_cast<bits>(v);
        }
    });
    std::atomic<std::int64_t> distinct = 0;
    parallel_for(threads, std::int64_t(buckets), 1, [&](std::int64_t b) {
        const auto from = sorted.begin() + std::ptrdiff_t(first[std::size_t(b)]);
        const auto to = sorted.begin() + std::ptrdiff_t(first[std::size_t(b) + 1]);
        std::sort(from, to);
        distinct += std::unique(from, to) - from;
    });
    return distinct;
}

#define NZ_INSTANTIATE(V)                                                                   \
    template void make_distinct(std::span<V>, std::uint64_t);                               \
    template void make_distinct(std::span<V>, std::uint64_t, std::uint64_t, std::uint64_t); \
    template std::int64_t count_distinct(std::span<const V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
