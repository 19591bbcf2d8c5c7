#include "nonzero/formats/registry.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/bsr.hpp"
#include "nonzero/formats/coo.hpp"
#include "nonzero/formats/csc.hpp"
#include "nonzero/formats/csr_adaptive.hpp"
#include "nonzero/formats/dia.hpp"
#include "nonzero/formats/hll.hpp"
#include "nonzero/formats/hyb.hpp"
#include "nonzero/formats/hyb_host_tail.hpp"
#include "nonzero/formats/icrs.hpp"
#include "nonzero/formats/jds.hpp"
#include "nonzero/formats/jds_ell.hpp"
#include "nonzero/formats/packed.hpp"
#include "nonzero/formats/scatter.hpp"
#include "nonzero/formats/sell.hpp"

namespace nz {

template <class V, class B>
void check_lengths(const char* what, std::size_t want_x, std::size_t want_y, in<V, B> x,
                   out<V, B> y) {
    const auto length = [&](const char* name, std::size_t got, std::size_t want) {
        if (got != want)
            throw argument_error(std::string(what) + ": " + name + " has " + std::to_string(got) +
                                 " elements, expected " + std::to_string(want));
    };
    length("x", x.size(), want_x);
    length("y", y.size(), want_y);
    const std::less<const V*> before;
    if (x.size() > 0 && y.size() > 0 && before(x.data(), y.data() + y.size()) &&
        before(y.data(), x.data() + x.size()))
        throw argument_error(std::string(what) + ": x and y overlap");
}

template <class V, class B>
void linear_operator<V, B>::apply(V alpha, in<V, B> x, V beta, out<V, B> y) const {
    const auto [rows, cols] = shape();
    check_lengths<V, B>("apply", std::size_t(cols), std::size_t(rows), x, y);
    if (alpha == V(0)) return scale(beta, y);
    multiply(alpha, x, beta, y);
}

template <class V, class B>
void linear_operator<V, B>::apply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                                             out<V, B> y) const {
    if (op == transposition::plain) return apply(alpha, x, beta, y);
    const auto [rows, cols] = shape();
    check_lengths<V, B>("apply_transposed", std::size_t(rows), std::size_t(cols), x, y);
    if (alpha == V(0)) return scale(beta, y);
    multiply_transposed(op, alpha, x, beta, y);
}

namespace {

template <class V>
void scale_vector(cpu, V beta, std::span<V> y) {
    for (V& v : y) v = beta == V(0) ? V(0) : product(beta, v);
}

/// A kernel may ask for scratch memory: K::scratch_bytes(on, A).
template <class K, class B, class M>
std::size_t scratch_bytes(B on, const M& A) {
    if constexpr (requires { K::scratch_bytes(on, A); }) {
        return K::scratch_bytes(on, A);
    } else {
        return 0;
    }
}

template <class K, class V, class M>
class cpu_operator final : public linear_operator<V, cpu> {
  public:
    cpu_operator(cpu on, M A) : on_(on), A_(std::move(A)) {}
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }
    [[nodiscard]] std::string_view method_name() const override { return K::name; }

  protected:
    void multiply(V alpha, std::span<const V> x, V beta, std::span<V> y) const override {
        const auto A = view(A_);
        with_scratch(scratch_bytes<K>(on_, A),
                     [&](cpu on) { spmv(on, K{}, alpha, A, x, beta, y); });
    }
    void multiply_transposed(transposition op, V alpha, std::span<const V> x, V beta,
                             std::span<V> y) const override {
        const auto A = view(A_);
        if constexpr (runs_transposed_on<K, cpu, V>) {
            spmv_transposed(on_, K{}, op, alpha, A, x, beta, y);
        } else {
            with_scratch(scatter_scratch_bytes<V>(on_, y.size()),
                         [&](cpu on) { scatter(on, op, alpha, A, x, beta, y); });
        }
    }
    void scale(V beta, std::span<V> y) const override { scale_vector(on_, beta, y); }

  private:
    // Per call, so that one operator serves several threads at once.
    template <class F>
    void with_scratch(std::size_t bytes, F f) const {
        host_vector<std::byte> scratch(bytes);
        cpu on = on_;
        on.scratch = scratch;
        f(on);
    }
    cpu on_;
    M A_;
};

/// The layout of K; a kernel that wants other parameters than the layout's own has K::from.
template <class K, class V>
auto build_layout(const csr<V, host_view>& A) {
    if constexpr (requires { K::from(A); }) {
        return K::from(A);
    } else {
        return K::template layout<V, host>::from(A);
    }
}

/// Of the layout: what the arrays built take.
template <class K, class V>
estimate layout_cost(const matrix_stats& s) {
    if constexpr (requires { K::template cost<V>(s); }) {
        return K::template cost<V>(s);
    } else {
        return K::template layout<V, host>::cost(s);
    }
}

estimate with_work(estimate e, const work& w) {
    e.gathers = w.gathers, e.steps = w.steps, e.critical_steps = w.critical_steps;
    e.launches = w.launches, e.imbalance = w.imbalance, e.passes_by = w.passes_by;
    return e;
}

template <class K, class V>
estimate cost_of(const matrix_stats& s) {
    estimate e = layout_cost<K, V>(s);
    if constexpr (requires { K::work_on_cpu(s); }) e = with_work(e, K::work_on_cpu(s));
    // Methods of this name take one thread, which no other helps. One that says nothing of itself
    // asks of every entry whether it is padding, or adds it to memory: about two steps.
    if (K::name.ends_with("serial")) e.critical_steps = e.steps > 0 ? e.steps : 2 * double(s.nnz);
    return e;
}

/// The kernels for GPUs are written for real values.
template <class K, class V>
concept on_gpu = std::floating_point<V> && runs_on<K, gpu, V>;

/// A texture over linear memory holds this many elements on every GPU since Volta.
constexpr std::int64_t max_texture_elements = std::int64_t(1) << 27;

/// A kernel that gives few threads a whole row says from which length on that is hopeless, and
/// one that reads x by texture has its limit; others know reasons of their own.
template <class K, class V>
estimate cost_on_gpu(const matrix_stats& s) {
    estimate e = layout_cost<K, V>(s);
    if (!e.declined.empty()) return e;
    if constexpr (requires { K::work_on_gpu(s); }) e = with_work(e, K::work_on_gpu(s));
    if constexpr (requires { K::longest_row_on_gpu(s); }) {
        if (const std::int64_t longest = K::longest_row_on_gpu(s); s.max_row_nnz() > longest)
            e.declined = "too few threads would share a row of " + std::to_string(s.max_row_nnz()) +
                         " entries, more than " + std::to_string(longest);
    }
    if constexpr (requires { K::declined_on_gpu(s); }) {
        if (std::string why = K::declined_on_gpu(s); !why.empty()) e.declined = std::move(why);
    }
    if constexpr (requires { K::gathers_by_texture; }) {
        if (s.cols > max_texture_elements)
            e.declined = "x is longer than a texture's " + std::to_string(max_texture_elements) +
                         " elements";
    }
    return e;
}

template <class K, class V>
std::unique_ptr<linear_operator<V, cpu>> build_on_cpu(cpu on, const csr<V, host_view>& A) {
    auto own = build_layout<K>(A);
    return std::make_unique<cpu_operator<K, V, decltype(own)>>(on, std::move(own));
}

template <class K, class V>
constexpr builder<V, cpu> cpu_builder() {
    if constexpr (runs_on<K, cpu, V>) return build_on_cpu<K, V>;
    return nullptr;
}

template <class K, class V, class M>
class gpu_operator final : public linear_operator<V, gpu> {
  public:
    gpu_operator(gpu on, M A, const setup_times& setup)
        : on_(on), A_(std::move(A)), scratch_(scratch_bytes<K>(on, view(A_))), setup_(setup) {
        on_.scratch = scratch_;
        zero_on_device(on_, on_.scratch);
    }
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }
    [[nodiscard]] setup_times setup() const override { return setup_; }
    [[nodiscard]] std::string_view method_name() const override { return K::name; }

  protected:
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        const device_guard guard(on_);
        if (y.size() > 0) spmv(on_, K{}, alpha, view(A_), x, beta, y);
        check_launch(K::name.data());
    }
    void multiply_transposed(transposition op, V alpha, device_span<V> x, V beta,
                             device_out<V> y) const override {
        if constexpr (runs_transposed_on<K, gpu, V>) {
            const device_guard guard(on_);
            if (y.size() > 0) spmv_transposed(on_, K{}, op, alpha, view(A_), x, beta, y);
            check_launch(K::name.data());
        } else {
            throw unavailable(std::string(K::name) + " has no transposed product on a GPU");
        }
    }
    void scale(V beta, device_out<V> y) const override {
        const device_guard guard(on_);
        scale_vector(on_, beta, y);
        check_launch("scale");
    }

  private:
    gpu on_;
    M A_;
    device_array<std::byte> scratch_;
    setup_times setup_;
};

/// A kernel that waits for the GPU says so: K::synchronises.
template <class K>
constexpr bool synchronises() {
    if constexpr (requires { K::synchronises; }) return K::synchronises;
    return false;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A kernel whose layout is built on the GPU has K::build.
template <class K, class V>
concept built_on_gpu = requires(gpu on, const csr<V, device_view>& A) {
    K::build(on, A);
};

template <class K, class V>
std::unique_ptr<linear_operator<V, gpu>> build_from_device(gpu on, const csr<V, device_view>& A) {
    require_gpu(on);
    const device_guard guard(on);
    const auto start = std::chrono::steady_clock::now();
    auto own = K::build(on, A);
    const setup_times t{.preprocessing_s = seconds_since(start)};
    return std::make_unique<gpu_operator<K, V, decltype(own)>>(on, std::move(own), t);
}

template <class K, class V>
std::unique_ptr<linear_operator<V, gpu>> build_on_gpu(gpu on, const csr<V, host_view>& A) {
    require_gpu(on);
    const device_guard guard(on);
    const auto start = std::chrono::steady_clock::now();
    if constexpr (built_on_gpu<K, V>) {
        const auto there = upload(on, A);
        setup_times t{.upload_s = seconds_since(start)};
        auto own = K::build(on, view(there));
        t.preprocessing_s = seconds_since(start) - t.upload_s;
        return std::make_unique<gpu_operator<K, V, decltype(own)>>(on, std::move(own), t);
    } else {
        const auto here = build_layout<K>(A);
        setup_times t{.conversion_s = seconds_since(start)};
        auto there = upload(on, here);
        t.upload_s = seconds_since(start) - t.conversion_s;
        return std::make_unique<gpu_operator<K, V, decltype(there)>>(on, std::move(there), t);
    }
}

template <class K, class V>
constexpr device_builder<V> gpu_builder_from_device() {
    if constexpr (has_cuda && on_gpu<K, V> && built_on_gpu<K, V>) return build_from_device<K, V>;
    return nullptr;
}

template <class K, class V>
constexpr builder<V, gpu> gpu_builder() {
    if constexpr (has_cuda && on_gpu<K, V>) return build_on_gpu<K, V>;
    return nullptr;
}

template <class K, class V>
constexpr method<V> row = {
    .name = K::name,
    .deterministic = K::deterministic,
    .synchronises = synchronises<K>(),
    .source = K::source,
    .cost = cost_of<K, V>,
    .cost_on_gpu = cost_on_gpu<K, V>,
    .transposed_on_cpu = runs_on<K, cpu, V>,
    .transposed_on_gpu = on_gpu<K, V>&& runs_transposed_on<K, gpu, V>,
    .exists_on_cpu = runs_on<K, cpu, V>,
    .exists_on_gpu = on_gpu<K, V>,
    .on_cpu = cpu_builder<K, V>(),
    .on_gpu = gpu_builder<K, V>(),
    .from_device = gpu_builder_from_device<K, V>(),
};

}  // namespace

template <class V>
std::span<const method<V>> methods() {
    // clang-format off: one line a method, by name
    static constexpr method<V> table[] = {
        row<bsr_block, V>,
        row<bsr_serial, V>,
        row<coo_atomic, V>,
        row<coo_segmented, V>,
        row<coo_serial, V>,
        row<csc_scatter, V>,
        row<csc_serial, V>,
        row<csr_adaptive_blocks, V>,
        row<csr_balanced, V>,
        row<csr_guided, V>,
        row<csr_merge, V>,
        row<csr_scalar, V>,
        row<csr_serial, V>,
        row<csr_static, V>,
        row<csr_subwarp, V>,
        row<csr_vector, V>,
        row<csr_vector_ldg, V>,
        row<csr_vector_shared, V>,
        row<csr_vector_shared2d, V>,
        row<csr_vector_texture, V>,
        row<dia_row, V>,
        row<dia_serial, V>,
        row<ell_row, V>,
        row<ell_serial, V>,
        row<hll_column, V>,
        row<hll_column_guided, V>,
        row<hll_column_serial, V>,
        row<hll_row, V>,
        row<hll_row_guided, V>,
        row<hll_serial, V>,
        row<hll_warp, V>,
        row<hll_warp_shared, V>,
        row<hyb_device, V>,
        row<hyb_host_tail_trip, V>,
        row<hyb_row, V>,
        row<hyb_serial, V>,
        row<icrs_row, V>,
        row<icrs_row_32, V>,
        row<icrs_row_texture, V>,
        row<icrs_row_texture_32, V>,
        row<icrs_serial, V>,
        row<jds_row, V>,
        row<jds_serial, V>,
        row<jds_diagonals, V>,
        row<jds_ell_sections, V>,
        row<jds_ell_serial, V>,
        row<packed_warp, V>,
        row<sell_chunk, V>,
        row<sell_row, V>,
        row<sell_serial, V>,
    };
    // clang-format on
    return table;
}

template <class V>
const method<V>& find_method(std::string_view name) {
    std::string near;
    for (const method<V>& m : methods<V>()) {
        if (m.name == name) return m;
        if (m.layout() == name.substr(0, name.find('.'))) near += " " + std::string(m.name);
    }
    throw argument_error("no method '" + std::string(name) + "'" +
                         (near.empty() ? "; `nz methods` lists them" : "; there are" + near));
}

#define NZ_INSTANTIATE(V)                          \
    template class linear_operator<V, cpu>;        \
    template class linear_operator<V, gpu>;        \
    template std::span<const method<V>> methods(); \
    template const method<V>& find_method(std::string_view);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
