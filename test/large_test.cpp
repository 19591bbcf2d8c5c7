// Matrices of 2^31 - 1 rows, of 2^31 - 1 columns and of 2.5 * 10^9 entries: planned, built and
// multiplied by every method, and solved. What repeats takes little memory; what does not fit the
// memory is skipped, with the reason. It takes minutes, so it runs only where it is asked for:
//
//     NZ_LARGE=1 build/release/test/large_test      all of it: 128 GB of memory
//
// Values and vectors are small whole numbers, so that every sum is exact whatever its order.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/scatter.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz::test {
namespace {

constexpr index most = std::numeric_limits<index>::max();
constexpr double gb = 1e9;

/// Bytes that may be used, as the system and, in a container, its limit tell.
double available_memory() {
    double available = 0;
    std::ifstream system("/proc/meminfo");
    for (std::string word; system >> word;)
        if (word == "MemAvailable:") system >> available;
    available *= 1024;
    const auto number_in = [](const char* path) {
        double v = std::numeric_limits<double>::infinity();
        if (std::ifstream file(path); !(file >> v)) v = std::numeric_limits<double>::infinity();
        return v;
    };
    const double limit = number_in("/sys/fs/cgroup/memory.max"),
                 used = number_in("/sys/fs/cgroup/memory.current");
    return limit < HUGE_VAL && used < HUGE_VAL ? std::min(available, limit - used) : available;
}

/// Why `bytes` cannot be had, or nothing.
std::string why_not(double bytes) {
    constexpr double spare = 0.5 * gb;
    const double available = available_memory();
    if (bytes + spare <= available) return {};
    return "it takes " + std::to_string(bytes / gb) + " GB, of which " +
           std::to_string(available / gb) + " are available";
}

bool asked_for() { return std::getenv("NZ_LARGE") != nullptr; }

/// n elements, a block again and again, that share the block's pages until they are written to.
template <class T>
class repeated {
  public:
    /// @param block  of whole pages; n elements are whole blocks
    repeated(const host_vector<T>& block, std::size_t n) : n_(n) {
        const std::size_t bytes = block.size() * sizeof(T);
        const int file = memfd_create("repeated", 0);
        if (file < 0 || n % block.size() != 0 || bytes % std::size_t(sysconf(_SC_PAGESIZE)) != 0 ||
            ::write(file, block.data(), bytes) != ssize_t(bytes))
            throw std::logic_error("no block");
        void* const all = mmap(nullptr, n * sizeof(T), PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) throw std::bad_alloc();
        at_ = static_cast<T*>(all);
        for (std::size_t k = 0; k < n; k += block.size())
            if (mmap(at_ + k, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED)
                throw std::bad_alloc();
        close(file);
    }
    repeated(const repeated&) = delete;
    repeated& operator=(const repeated&) = delete;
    ~repeated() { munmap(at_, n_ * sizeof(T)); }
    [[nodiscard]] T* data() { return at_; }
    [[nodiscard]] std::span<const T> first(std::size_t n) const { return {at_, n}; }

  private:
    T* at_ = nullptr;
    std::size_t n_;
};

/// A matrix, and what its product with x is.
struct large_matrix {
    csr<float, host_view> A;
    std::span<const float> x;
    std::function<float(std::int64_t)> product;  ///< row i of A x
};

host_vector<float> filled(index n, float v) {
    host_vector<float> all(static_cast<std::size_t>(n));
    float* const to = all.data();
    parallel_for(thread_count({}), n, [to, v](std::int64_t i) { to[i] = v; });
    return all;
}

void expect_product(const std::string& by, const large_matrix& m, std::span<const float> y) {
    const auto rows = std::ssize(y);
    const std::int64_t first_wrong = parallel_reduce(
        thread_count({}), rows, rows, smaller_of(),
        [&](std::int64_t i) { return y[std::size_t(i)] == m.product(i) ? rows : i; });
    EXPECT_EQ(first_wrong, rows) << by << ": the first wrong row";
    std::cout << "    " << by << ": " << rows << " rows compared" << std::endl;
}

void skip(const std::string& what, const std::string& why) {
    std::cout << "    " << what << " is skipped: " << why << std::endl;
}

/// The kernels that read the CSR as it lies.
template <class... Kernel>
void multiply_as_it_lies(const large_matrix& m, Kernel... kernel) {
    const double bytes = 4.0 * m.A.shape.rows;
    if (const auto why = why_not(bytes); !why.empty()) return skip("CSR as it lies", why);
    auto y = filled(m.A.shape.rows, 1);
    const auto run = [&](auto k) {
        std::fill_n(y.begin(), std::min<std::size_t>(y.size(), 1000), 1.0F);
        spmv(cpu{}, k, 1.0F, m.A, m.x, 0.0F, std::span<float>(y));
        expect_product(std::string(k.name), m, y);
    };
    (run(kernel), ...);
}

/// Bytes that building takes for a moment in addition to the layout: positions, in 8 bytes each, of
/// rows.
double scratch_bytes(const method<float>& m, const csr<float, host_view>& A) {
    const double rows = A.shape.rows;
    if (m.layout() == "coo" || m.layout() == "csr") return 0;
    if (m.layout() == "packed") return 3 * rows;
    if (m.layout() == "bsr") return 4 * rows;
    if (m.layout() == "csc")
        return 16.0 * A.shape.cols + 8 * double(A.val.size()) + 8.0 * A.shape.cols;
    return 26 * rows;
}

void multiply_by_every_method(const large_matrix& m) {
    const double taken = 8.0 * (double(m.A.val.size()) + m.A.shape.rows);
    const double planning = std::min(taken, 3.0 * (double(m.A.shape.rows) + m.A.shape.cols) + 1e8);
    if (const auto why = why_not(planning); !why.empty()) return skip("planning", why);
    const auto p = make_plan(m.A, cpu{});
    std::cout << "    the plan: " << p.why << std::endl;
    for (const plan_report::candidate& c : p.candidates) {
        if (!c.declined.empty()) continue;
        const auto& by = find_method<float>(c.method);
        const double bytes = c.matrix_bytes + 4.0 * m.A.shape.rows + scratch_bytes(by, m.A);
        if (const auto why = why_not(bytes); !why.empty()) {
            skip(c.method, why);
            continue;
        }
        const auto op = build(by, cpu{}, m.A);
        auto y = filled(m.A.shape.rows, 1);
        op->apply(1, m.x, 0, y);
        expect_product(c.method, m, y);
    }
}

#if defined(NZ_WITH_CUDA)
void multiply_on_the_gpu(const large_matrix& m) {
    if (const auto why = why_no_gpu(); !why.empty()) return skip("the GPU", why);
    const gpu on{};
    const double vectors = 4.0 * (double(m.A.shape.rows) + m.A.shape.cols);
    const double bytes = vectors + double(nz::bytes(m.A));
    const auto fits = [&](const std::string& what, double wanted) {
        const double available = double(memory_of(on).free_bytes) - 1e9;
        if (wanted <= available) return true;
        skip(what, "it takes " + std::to_string(wanted / gb) +
                       " GB of the GPU's memory, of which " + std::to_string(available / gb) +
                       " are available");
        return false;
    };
    if (const auto why = why_not(4.0 * m.A.shape.rows); !why.empty())
        return skip("the GPU's y on the CPU", why);
    if (!fits("the matrix", bytes)) return;
    const auto A = upload(on, m.A);
    const auto x = to_device(on, m.x);
    device_array<float> y(on, std::size_t(m.A.shape.rows));
    const auto check = [&](const std::string& by, const linear_operator<float, gpu>& op) {
        op.apply(1, x, 0, y);
        expect_product(by, m, to_host<float>(on, device_span<float>(y)));
    };
    if (!fits("planning", 34.0 * m.A.shape.rows)) return;
    const auto p = make_plan(view(A), on);
    std::cout << "    the plan: " << p.why << std::endl;
    for (const plan_report::candidate& c : p.candidates) {
        if (!c.declined.empty()) continue;
        // The sorts and sums of building take more memory: without it, they say so.
        if (!fits(c.method, c.matrix_bytes)) continue;
        try {
            check(c.method, *build(find_method<float>(c.method), on, view(A)));
        } catch (const device_error& e) {
            skip(c.method, e.what());
        }
    }
}
#else
void multiply_on_the_gpu(const large_matrix&) {}
#endif

class large : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!asked_for()) GTEST_SKIP() << "it takes minutes and much memory; set NZ_LARGE=1";
    }
};

class large_product : public large, public ::testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(by, large_product, ::testing::Values("cpu", "gpu"),
                         [](const auto& with) { return with.param; });

/// Rows of a matrix whose pattern repeats after `period` rows: blocks are whole pages, whatever a
/// row has.
constexpr index period = 1 << 16;
constexpr index periods = 424;

/// 90 entries a row, 2,500,853,760 in all.
class many_entries {
  public:
    static constexpr index length = 90, cols = 60030, step = cols / length;
    static constexpr index rows = period * periods;
    many_entries()
        : col_(block<index>([](index i, index k) { return k * step + (i * 7 + k * 31) % step; }),
               entries()),
          val_(block<float>([](index i, index k) { return float((i + 3 * k) % 7 - 3); }),
               entries()),
          ptr_(std::size_t(rows) + 1),
          x_(std::size_t(cols)) {
        for (std::size_t i = 0; i < ptr_.size(); ++i) ptr_[i] = offset(i) * length;
        for (std::size_t j = 0; j < x_.size(); ++j) x_[j] = float(j % 11) - 5;
        for (std::size_t i = 0; i < want_.size(); ++i)
            for (std::size_t k = i * length; k < (i + 1) * length; ++k)
                want_[i] += val_.data()[k] * x_[std::size_t(col_.data()[k])];
    }
    [[nodiscard]] large_matrix get() const {
        return {{{rows, cols},
                 offset_span(std::span<const offset>(ptr_)),
                 col_.first(entries()),
                 val_.first(entries())},
                x_,
                [this](std::int64_t i) { return want_[std::size_t(i % period)]; }};
    }

  private:
    static constexpr std::size_t entries() { return std::size_t(rows) * length; }
    template <class T, class F>
    static host_vector<T> block(F f) {
        host_vector<T> b(std::size_t(period) * length);
        for (index i = 0; i < period; ++i)
            for (index k = 0; k < length; ++k) b[std::size_t(i * length + k)] = f(i, k);
        return b;
    }
    repeated<index> col_;
    repeated<float> val_;
    host_vector<offset> ptr_;
    host_vector<float> x_;
    host_vector<float> want_ = host_vector<float>(std::size_t(period), 0.0F);
};

TEST_P(large_product, more_entries_than_31_bits_count) {
    const many_entries all;
    const large_matrix m = all.get();
    ASSERT_GT(m.A.val.size(), std::size_t(1) << 31);
    if (GetParam() == "gpu") return multiply_on_the_gpu(m);
    multiply_as_it_lies(m, csr_serial{}, csr_static{}, csr_guided{}, csr_balanced{}, csr_merge{});
    multiply_by_every_method(m);
}

TEST_F(large, more_entries_than_31_bits_count_transposed) {
    const many_entries all;
    const large_matrix m = all.get();
    const auto xt = filled(m.A.shape.rows, 1);
    host_vector<std::byte> scratch(
        scatter_scratch_bytes<float>(cpu{}, std::size_t(m.A.shape.cols)));
    cpu on;
    on.scratch = scratch;
    host_vector<float> y(std::size_t(m.A.shape.cols), 1.0F), want(y.size(), 0.0F);
    scatter(on, transposition::transpose, 1.0F, m.A, std::span<const float>(xt), 0.0F,
            std::span<float>(y));
    for (std::size_t k = 0; k < std::size_t(period) * many_entries::length; ++k)
        want[std::size_t(m.A.col_ind[k])] += periods * m.A.val[k];
    EXPECT_EQ(y, want);
}

TEST_P(large_product, most_rows) {
    constexpr std::size_t block = std::size_t(1) << 22, pointers = std::size_t(1) << 31;
    // Entries in the first rows, and in the last ones.
    const std::vector<std::pair<std::int64_t, index>> places = {
        {0, 3},           {0, 7},           {31, 0},
        {32, 9},          {1000, 4},        {most - 1000LL, 2},
        {most - 33LL, 5}, {most - 32LL, 1}, {most - 31LL, 6},
        {most - 2LL, 8},  {most - 1LL, 0},  {most - 1LL, 9}};
    const auto before = [&](std::int64_t row) {
        return std::int32_t(std::count_if(places.begin(), places.end(),
                                          [&](const auto& p) { return p.first < row; }));
    };
    repeated<std::int32_t> ptr(host_vector<std::int32_t>(block, before(1 << 20)), pointers);
    for (std::size_t i = 0; i < 2000; ++i) {
        ptr.data()[i] = before(std::int64_t(i));
        ptr.data()[pointers - 1 - i] = before(std::int64_t(pointers - 1 - i));
    }
    host_vector<index> col;
    host_vector<float> val, x;
    for (const auto& [i, j] : places) col.push_back(j), val.push_back(float(j + 1));
    for (index j = 0; j < 10; ++j) x.push_back(float(2 * j - 7));
    const large_matrix m{
        {{most, 10}, offset_span(ptr.first(pointers)), col, val}, x, [&](std::int64_t i) {
            if (i > 2000 && i < most - 2000LL) return 0.0F;
            float sum = 0;
            for (const auto& [row, j] : places)
                if (row == i) sum += float(j + 1) * x[std::size_t(j)];
            return sum;
        }};
    if (GetParam() == "gpu") return multiply_on_the_gpu(m);
    multiply_as_it_lies(m, csr_serial{}, csr_static{}, csr_guided{}, csr_balanced{}, csr_merge{});
    multiply_by_every_method(m);
}

TEST_P(large_product, most_columns) {
    constexpr std::size_t block = std::size_t(1) << 22;
    host_vector<float> pattern(block);
    for (std::size_t j = 0; j < block; ++j) pattern[j] = float(j % 13) - 6;
    const repeated<float> x(pattern, std::size_t(1) << 31);
    host_vector<index> col;
    host_vector<float> val;
    host_vector<offset> ptr{0};
    for (index i = 0; i < 5; ++i) {
        for (index k = 0; k < 40; ++k) {
            col.push_back(k < 39 ? index(k * (most / 40LL) + i) : most - 1 - i);
            val.push_back(float(k % 5 - 2 + i));
        }
        ptr.push_back(offset(col.size()));
    }
    const auto want = [&](std::int64_t i) {
        float sum = 0;
        for (auto k = std::size_t(ptr[std::size_t(i)]); k < std::size_t(ptr[std::size_t(i) + 1]);
             ++k)
            sum += val[k] * pattern[std::size_t(col[k]) % block];
        return sum;
    };
    const large_matrix m{
        {{5, most}, offset_span(std::span<const offset>(ptr)), col, val}, x.first(most), want};
    if (GetParam() == "gpu") return multiply_on_the_gpu(m);
    multiply_as_it_lies(m, csr_serial{}, csr_static{}, csr_guided{}, csr_balanced{}, csr_merge{});
    multiply_by_every_method(m);
}

/// How far x is from ones: the root of the mean square, and the largest of all |1 - x_i|.
struct distance {
    double mean_square = 0;
    float largest = 0;
};
distance from_ones(std::span<const float> x) {
    const int threads = thread_count({});
    const auto off = [&](std::int64_t i) { return 1 - x[std::size_t(i)]; };
    const double squares =
        parallel_reduce(threads, std::ssize(x), 0.0, std::plus<>(),
                        [&](std::int64_t i) { return double(off(i)) * double(off(i)); });
    return {std::sqrt(squares / double(x.size())),
            parallel_reduce(threads, std::ssize(x), 0.0F, larger_of(),
                            [&](std::int64_t i) { return std::abs(off(i)); })};
}

/// Solves A x = b for b = A times ones.
void solve_for_ones(const csr<float, host_view>& A, float condition) {
    const auto p = make_plan(A, cpu{}, {.methods = {"packed.warp"}});
    const auto op = build(p, A);
    host_vector<float> b(std::size_t(A.shape.rows));
    {
        const auto ones = filled(A.shape.cols, 1);
        op->apply(1, ones, 0, b);
    }
    auto x = filled(A.shape.cols, 0);
    constexpr float tol = 1e-5F;
    const auto report = cg<float, cpu>(cpu{}, *op, b, x, {.tol = tol, .max_iter = 100});
    EXPECT_TRUE(report.converged) << report.why;
    std::cout << "    " << report.iterations << " iterations" << std::endl;
    // |x - 1| <= |A^-1| |r| <= condition tol |1| in the 2-norm. One element may be off by far more
    // than the mean: here those of the first and last rows are. None may be missing.
    const distance error = from_ones(x);
    EXPECT_LE(error.mean_square, condition * tol);
    EXPECT_LE(error.largest, 0.5F);
}

/// 63 diagonals: 80 on the main one and -1 beside, where the matrix has them, else a stored 0. The
/// eigenvalues lie between 80 - 62 and 80 + 62.
TEST_F(large, more_entries_than_31_bits_count_solved) {
    constexpr index half = 31, length = 2 * half + 1, n = period * 606;
    constexpr std::size_t entries = std::size_t(n) * length;
    static_assert(entries > std::size_t(1) << 31);
    const double columns = 4.0 * double(entries), vectors = 8 * 4.0 * n;
    if (const auto why = why_not(columns + vectors + 45.0 * n); !why.empty()) GTEST_SKIP() << why;
    const auto first_column = [](std::int64_t i) {
        return std::clamp<std::int64_t>(i - half, 0, n - length);
    };
    const auto value = [&](std::int64_t i, std::int64_t k) {
        const std::int64_t away = std::abs(first_column(i) + k - i);
        return away == 0 ? 80.0F : away <= half ? -1.0F : 0.0F;
    };
    host_vector<float> block(std::size_t(period) * length);
    for (std::size_t e = 0; e < block.size(); ++e) block[e] = value(half, std::int64_t(e) % length);
    repeated<float> val(block, entries);
    for (std::int64_t i = 0; i < half; ++i)
        for (std::int64_t k = 0; k < length; ++k) {
            val.data()[i * length + k] = value(i, k);
            val.data()[(n - 1 - i) * length + k] = value(n - 1 - i, k);
        }
    host_vector<index> col(entries);
    host_vector<offset> ptr(std::size_t(n) + 1);
    parallel_for(thread_count({}), n + std::int64_t(1), [&](std::int64_t i) {
        ptr[std::size_t(i)] = i * length;
        for (std::int64_t k = 0; i < n && k < length; ++k)
            col[std::size_t(i * length + k)] = index(first_column(i) + k);
    });
    solve_for_ones({{n, n}, offset_span(std::span<const offset>(ptr)), col, val.first(entries)},
                   142.0F / 18);
}

TEST_F(large, most_rows_and_columns_solved) {
    const double bytes = 4.0 * most;  // of row pointers, columns and each vector
    if (const auto why = why_not(12 * bytes); !why.empty()) GTEST_SKIP() << why;
    constexpr std::size_t block = std::size_t(1) << 22;
    host_vector<float> pattern(block);
    for (std::size_t i = 0; i < block; ++i) pattern[i] = float(2 + i % 3);
    const repeated<float> val(pattern, std::size_t(1) << 31);
    host_vector<std::int32_t> ptr(std::size_t(most) + 1);
    parallel_for(thread_count({}), std::ssize(ptr),
                 [&](std::int64_t i) { ptr[std::size_t(i)] = std::int32_t(i); });
    const std::span<const index> col(ptr.data(), std::size_t(most));
    solve_for_ones({{most, most},
                    offset_span(std::span<const std::int32_t>(ptr)),
                    col,
                    val.first(std::size_t(most))},
                   2);
}

}  // namespace
}  // namespace nz::test
