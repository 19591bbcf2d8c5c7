// Every kernel that has a trace x the zoo: what its warps touch is what the product needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "nonzero/explain/traffic.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/packed/packed_trace.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

/// How often each element is touched, by its number.
class touches {
  public:
    void add(std::int64_t element, int times = 1) {
        if (std::size_t(element) >= of_.size()) of_.resize(std::size_t(element) + 1);
        of_[std::size_t(element)] += times;
    }
    /// f(element, how often) for those that are touched.
    template <class F>
    void for_each(F f) const {
        for (std::size_t k = 0; k < of_.size(); ++k)
            if (of_[k] > 0) f(std::int64_t(k), of_[k]);
    }
    [[nodiscard]] std::size_t count() const {
        return of_.size() - std::size_t(std::count(of_.begin(), of_.end(), 0));
    }
    friend bool operator==(const touches&, const touches&) = default;

  private:
    std::vector<int> of_;
};

/// Elements that all warps of one launch touch, by array.
class collector final : public access_sink {
  public:
    void take(const access& a) override {
        auto& of = (a.store ? stored : loaded)[{a.to.role, a.to.name}];
        for (const std::int64_t k : a.at)
            if (k != idle) of.add(k);
    }
    /// The arrays of that role, of which a layout has one at most.
    [[nodiscard]] touches of(array_role r) const {
        for (const auto& [array, elements] : loaded)
            if (array.first == r) return elements;
        return {};
    }
    std::map<std::pair<array_role, std::string_view>, touches> loaded, stored;
};

std::vector<collector> launches_of(const kernel_trace& t) {
    std::vector<collector> all;
    std::int64_t warp = 0;
    for (const warp_grid& g : t.grids()) {
        all.emplace_back();
        for (std::int64_t w = 0; w < g.warps; ++w) t.trace(warp++, all.back());
    }
    return all;
}

template <class V>
touches columns_of_entries(const csr<V, host>& A) {
    touches count;
    for (const index j : A.col_ind) count.add(j);
    return count;
}

void expect_once(const touches& elements, const char* what) {
    elements.for_each(
        [&](std::int64_t element, int times) { EXPECT_EQ(times, 1) << what << " " << element; });
}

template <class V>
void check_entries(std::string_view method, const csr<V, host>& A,
                   const std::vector<collector>& launches) {
    touches x;
    std::size_t values = 0;
    for (const collector& c : launches) {
        const touches columns = c.of(array_role::columns), val = c.of(array_role::values);
        const bool a_column_each =
            method != "bsr.block" && method != "dia.row" && method != "packed.warp";
        expect_once(val, "value");
        if (a_column_each) {
            EXPECT_TRUE(columns == val);
        }
        c.of(array_role::x).for_each([&](std::int64_t j, int times) { x.add(j, times); });
        values += val.count();
    }
    EXPECT_TRUE(x == columns_of_entries(A));
    if (method == "packed.warp") return;  // one value may serve several entries
    const bool reads_padding = method.starts_with("ell") || method.starts_with("hll") ||
                               method.starts_with("sell") || method.starts_with("hyb") ||
                               method.starts_with("jds_ell");
    if (reads_padding) {
        EXPECT_GE(values, A.val.size());
    } else {
        EXPECT_EQ(values, A.val.size());
    }
}

/// The rows that a kernel stores: each once, or, of one that adds up, rows that have entries.
template <class V>
void check_rows(std::string_view method, const csr<V, host>& A,
                const std::vector<collector>& launches) {
    const bool adds = method.starts_with("coo");
    touches y;
    for (const collector& c : launches) {
        if (const auto at = c.stored.find({array_role::y, "y"}); at != c.stored.end())
            at->second.for_each([&](std::int64_t row, int times) { y.add(row, times); });
        if (method.starts_with("hyb")) break;  // what follows adds to these
    }
    if (adds) {
        y.for_each([&](std::int64_t row, int) {
            ASSERT_LT(row, A.shape.rows);
            const auto i = std::size_t(row);
            EXPECT_LT(A.row_ptr[i], A.row_ptr[i + 1]) << "row " << row;
        });
        return;
    }
    touches every;
    for (index i = 0; i < A.shape.rows; ++i) every.add(i);
    EXPECT_TRUE(y == every);
}

/// Those of the zoo with patterns of their own: others differ in their values only.
template <class V>
std::vector<zoo_entry<V>> patterns() {
    std::vector<zoo_entry<V>> all;
    for (zoo_entry<V>& z : zoo<V>())
        if (z.bug != "a number in the table that wraps around") all.push_back(std::move(z));
    return all;
}

template <class V>
class trace : public testing::Test {};
using real_types = testing::Types<float, double>;
TYPED_TEST_SUITE(trace, real_types);

TYPED_TEST(trace, of_every_kernel_touches_what_the_product_needs) {
    using V = TypeParam;
    int traced = 0;
    for (const auto& [name, bug, A] : patterns<V>()) {
        const matrix_stats stats = compute_stats(view(A));
        for (const std::string_view method : traced_methods<V>()) {
            if (!find_method<V>(method).cost(stats).declined.empty()) continue;
            SCOPED_TRACE(std::string(method) + " on '" + name + "'");
            const auto t = trace_of<V>(method, view(A));
            ASSERT_NE(t, nullptr);
            const auto launches = launches_of(*t);
            check_entries(method, A, launches);
            if (A.shape.rows > 0) check_rows(method, A, launches);
            if (this->HasFailure()) return;
            ++traced;
        }
    }
    EXPECT_GT(traced, 500);
}

/// Compares the accesses of all warps to A, packed by these options, with A.
template <class V>
packed<V, host> check_packed(const csr<V, host>& A, const packed_options& o) {
    packed<V, host> P = packed<V, host>::from(view(A), o);
    collector c;
    warp_trace to(c);
    for (std::int64_t w = 0; w < launches(packed_warp{}, view(P))[0].warps; ++w)
        nz::trace(packed_warp{}, view(P), w, to);
    check_entries("packed.warp", A, {c});
    check_rows("packed.warp", A, {c});
    return P;
}

TYPED_TEST(trace, of_packed_chunks_that_only_large_matrices_have) {
    using V = TypeParam;
    std::mt19937_64 rng(5);
    std::vector<index> lengths(3000);
    for (index& n : lengths) n = index(rng() % 40 == 0 ? 60 : rng() % 4);
    const auto ragged = from_lengths<V>(lengths, 3000);
    EXPECT_GT(check_packed(ragged, {.tile_gain = 1}).tiles, 0);
    lengths[7] = 2900;  // segments as well
    const auto P = check_packed(from_lengths<V>(lengths, 3000), {.tile_gain = 1});
    EXPECT_TRUE(P.tiles > 0 && P.segment_chunks > 0);

    auto stencil = from_columns<V>(4096, 4099, [](index i) {
        return std::vector<index>{i, i + 1, i + 3};
    });
    for (const bool constant : {false, true}) {
        if (constant) std::fill(stencil.val.begin(), stencil.val.end(), V(2));
        EXPECT_EQ(check_packed(stencil, {.pair_min_chunks = 1}).chunks_per_warp, 2);
        EXPECT_EQ(check_packed(stencil, {.quad_min_chunks = 1}).chunks_per_warp, 4);
    }
}

TYPED_TEST(trace, counts_are_the_same_for_any_number_of_threads) {
    using V = TypeParam;
    const auto A = from_lengths<V>(std::vector<index>(40000, 3), 500);
    const matrix_stats stats = compute_stats(view(A));
    for (const std::string_view method : traced_methods<V>()) {
        if (!find_method<V>(method).cost(stats).declined.empty()) continue;
        const auto t = trace_of<V>(method, view(A));
        EXPECT_EQ(total(traffic_of(*t, 1)), total(traffic_of(*t, 5))) << method;
    }
}

TYPED_TEST(trace, of_every_kernel_but_that_with_work_on_the_cpu_exists) {
    using V = TypeParam;
    const auto traced = traced_methods<V>();
    for (const method<V>& m : methods<V>()) {
        if (!m.exists_on_gpu || m.name == "packed.stripes")
            continue;  // its kernel is packed.warp's
        const bool there = std::find(traced.begin(), traced.end(), m.name) != traced.end();
        EXPECT_EQ(there, m.name != "hyb.host_tail") << m.name;
    }
}

traffic total_of(std::string_view method, const csr<double, host>& A) {
    return total(traffic_of(*trace_of<double>(method, view(A))));
}

/// n x n, rows of `width` entries from the row's own column on.
csr<double, host> band(index rows, index width) {
    return from_columns<double>(rows, rows + width, [&](index i) {
        std::vector<index> c(std::size_t(width), i);
        std::iota(c.begin(), c.end(), i);
        return c;
    });
}

// Counted by hand, for doubles: a sector holds 8 columns or 4 values.

TEST(trace_by_hand, ell_row_reads_whole_lines) {
    const traffic t = total_of("ell.row", band(32, 4));
    EXPECT_EQ(t.of(array_role::columns),
              (request_counts{.requests = 4, .sectors = 16, .lanes = 128, .used_bytes = 512}));
    EXPECT_EQ(t.of(array_role::values),
              (request_counts{.requests = 4, .sectors = 32, .lanes = 128, .used_bytes = 1024}));
    // x of 32 neighbours, from 0, 1, 2 and 3 on: 8 sectors, then 9.
    EXPECT_EQ(t.of(array_role::x),
              (request_counts{.requests = 4, .sectors = 35, .lanes = 128, .used_bytes = 1024}));
    EXPECT_EQ(t.stores,
              (request_counts{.requests = 1, .sectors = 8, .lanes = 32, .used_bytes = 256}));
    EXPECT_EQ(t.warps, 8);  // a block
    EXPECT_EQ(t.working_warps, 1);
    EXPECT_EQ(t.busiest_requests, 13);
}

TEST(trace_by_hand, csr_scalar_reads_a_sector_a_lane) {
    const traffic t = total_of("csr.scalar", band(32, 32));
    EXPECT_EQ(t.of(array_role::columns),
              (request_counts{.requests = 32, .sectors = 1024, .lanes = 1024, .used_bytes = 4096}));
    EXPECT_EQ(t.of(array_role::values).sectors_a_request(), 32);
    // 32 row pointers from element 1 on, then from 0 on: 5 sectors and 4.
    EXPECT_EQ(t.of(array_role::structure),
              (request_counts{.requests = 2, .sectors = 9, .lanes = 64, .used_bytes = 256}));
}

TEST(trace_by_hand, csr_vector_reads_whole_lines_where_rows_are_long) {
    const traffic t = total_of("csr.vector", band(32, 32));
    EXPECT_EQ(t.of(array_role::columns),
              (request_counts{.requests = 32, .sectors = 128, .lanes = 1024, .used_bytes = 4096}));
    EXPECT_EQ(t.of(array_role::values).sectors_a_request(), 8);
    // A warp's lanes want the same two row pointers.
    EXPECT_EQ(t.of(array_role::structure),
              (request_counts{.requests = 64, .sectors = 64, .lanes = 2048, .used_bytes = 256}));
    EXPECT_EQ(t.stores.lanes, 32);
    EXPECT_EQ(t.warp_imbalance(), 1);
}

TEST(trace_by_hand, lanes_of_short_rows_are_idle) {
    const traffic t = total_of("csr.vector", band(32, 4));
    EXPECT_EQ(t.of(array_role::values).lanes_a_request(), 4);
    // Two lanes a row at least reach the mean length of 2.
    EXPECT_EQ(total_of("csr.subwarp", band(32, 2)).of(array_role::values).lanes_a_request(), 32);
}

TEST(trace_by_hand, hll_row_reads_a_padded_row_a_lane) {
    std::vector<index> lengths(32, 1);
    lengths[5] = 3;
    const auto A = from_lengths<double>(lengths, 64);
    const traffic by_row = total_of("hll.row", A), by_column = total_of("hll.column", A);
    // Three places a row, a row 12 bytes of columns from the next: 12 sectors hold all of them.
    EXPECT_EQ(by_row.of(array_role::columns),
              (request_counts{.requests = 3, .sectors = 36, .lanes = 96, .used_bytes = 384}));
    EXPECT_EQ(by_column.of(array_role::columns),
              (request_counts{.requests = 3, .sectors = 12, .lanes = 96, .used_bytes = 384}));
    EXPECT_EQ(by_row.of(array_role::x).lanes, 34);  // not for padding
}

TEST(trace_by_hand, dia_row_reads_a_word_a_warp_and_diagonal) {
    const traffic t = total_of("dia.row", band(32, 2));
    // Of two diagonals a word of bits and an offset.
    EXPECT_EQ(t.of(array_role::structure),
              (request_counts{.requests = 4, .sectors = 4, .lanes = 128, .used_bytes = 16}));
    EXPECT_EQ(t.of(array_role::values).sectors_a_request(), 8);
    EXPECT_EQ(t.of(array_role::columns).requests, 0);
}

TEST(trace_by_hand, coo_reads_512_entries_a_warp_and_carries_rows_across) {
    const traffic t = total_of("coo.segmented", band(64, 16));
    EXPECT_EQ(t.working_warps, 2);
    EXPECT_EQ(t.of(array_role::columns).sectors, 128);
    EXPECT_EQ(t.of(array_role::values).sectors, 256);
    // Of a warp's 32 rows all but the first and the last are added to y.
    EXPECT_EQ(t.of(array_role::y).lanes, 60);
}

TEST(trace_by_hand, a_long_row_is_one_warps_work) {
    std::vector<index> lengths(320, 1);
    lengths[0] = 301;
    const traffic t = total_of("csr.scalar", from_lengths<double>(lengths, 400));
    // A warp: two bounds, three loads an entry of its longest row, y.
    EXPECT_EQ(t.busiest_requests, 2 + 3 * 301 + 1);
    EXPECT_EQ(t.requests(), 906 + 9 * 6);
    EXPECT_EQ(t.working_warps, 10);
    EXPECT_DOUBLE_EQ(t.warp_imbalance(), 906.0 * 10 / 960);
    EXPECT_DOUBLE_EQ(t.block_imbalance(), (906.0 * 8 + 6 * 2) / 960);
}

TEST(trace_by_hand, says_where_there_is_none) {
    const auto A = band(40, 3);
    EXPECT_EQ(trace_of<double>("csr.serial", view(A)), nullptr);
    EXPECT_THROW((void)trace_of<double>("csr.nothing", view(A)), argument_error);
    const auto t = trace_of<double>("ell.row", view(A));
    EXPECT_EQ(t->warps(), 8);
    EXPECT_THROW((void)traffic_of_warp(*t, 8), argument_error);
    EXPECT_THROW((void)traffic_of_warp(*t, -1), argument_error);
    EXPECT_EQ(traffic_of_warp(*t, 7).requests(), 0);
}

}  // namespace
}  // namespace nz::test
