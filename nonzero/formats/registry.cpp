#include "nonzero/formats/registry.hpp"

#include <algorithm>
#include <functional>
#include <mutex>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/bsr/bsr.hpp"
#include "nonzero/formats/coo/coo.hpp"
#include "nonzero/formats/csc/csc.hpp"
#include "nonzero/formats/csr/csr_adaptive.hpp"
#include "nonzero/formats/dia/dia.hpp"
#include "nonzero/formats/hll/hll.hpp"
#include "nonzero/formats/hyb/hyb.hpp"
#include "nonzero/formats/hyb/hyb_host_tail.hpp"
#include "nonzero/formats/icrs/icrs.hpp"
#include "nonzero/formats/jds/jds.hpp"
#include "nonzero/formats/jds_ell/jds_ell.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/formats/scatter.hpp"
#include "nonzero/formats/sell/sell.hpp"

namespace nz {

template <class V, class B>
void check_overlap(const char* what, in<V, B> x, out<V, B> y) {
    const std::less<const V*> before;
    if (x.size() > 0 && y.size() > 0 && before(x.data(), y.data() + y.size()) &&
        before(y.data(), x.data() + x.size()))
        throw argument_error(std::string(what) + ": x and y overlap");
}

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
    check_overlap<V, B>(what, x, y);
}

/// Throws unless there are `count` vectors of `len` elements each.
template <class Array>
void check_columns(const char* name, const columns<Array>& all, index count, std::size_t len) {
    const auto wrong = [&](const std::string& what) {
        throw argument_error(std::string("apply_many: ") + name + what);
    };
    if (all.count != count || count < 0)
        wrong(" has " + std::to_string(all.count) + " vectors, expected " + std::to_string(count));
    if (count > 1 && all.stride < len)
        wrong("'s stride is " + std::to_string(all.stride) + ", expected at least " +
              std::to_string(len));
    const std::size_t size = all.values.size();
    const auto fits = [&] {
        if (count == 0) return true;
        if (size < len) return false;
        // Divided, as the product with a large stride would wrap around.
        return count == 1 || (size - len) / std::size_t(count - 1) >= all.stride;
    };
    if (!fits())
        wrong(" has " + std::to_string(size) + " elements, too few for " + std::to_string(count) +
              " vectors of " + std::to_string(len) + " at a stride of " +
              std::to_string(all.stride));
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

template <class V, class B>
void linear_operator<V, B>::apply_many(V alpha, in_columns<V, B> X, V beta,
                                       out_columns<V, B> Y) const {
    const auto [rows, cols] = shape();
    check_columns("X", X, Y.count, std::size_t(cols));
    check_columns("Y", Y, Y.count, std::size_t(rows));
    check_overlap<V, B>("apply_many", X.values, Y.values);
    if (Y.count == 1)
        return apply(alpha, column(X, 0, std::size_t(cols)), beta, column(Y, 0, std::size_t(rows)));
    if (alpha == V(0)) {
        for (index c = 0; c < Y.count; ++c) scale(beta, column(Y, c, std::size_t(rows)));
        return;
    }
    if (Y.count > 0) multiply_many(alpha, X, beta, Y);
}

template <class V, class B>
void linear_operator<V, B>::multiply_many(V alpha, in_columns<V, B> X, V beta,
                                          out_columns<V, B> Y) const {
    const auto [rows, cols] = shape();
    for (index c = 0; c < Y.count; ++c)
        multiply(alpha, column(X, c, std::size_t(cols)), beta, column(Y, c, std::size_t(rows)));
}

template <class V, class B>
bool linear_operator<V, B>::take_values(const csr<V, typename B::view>& A) {
    if (A.shape != shape()) throw argument_error("take_values: the matrix is of another shape");
    return takes_values() && replace_values(A);
}

namespace {

/// A kernel that reads CSR needs a copy of it.
template <class K, class V>
concept reads_csr = std::same_as<typename K::template layout<V, device>, csr<V, device>>;

/// Puts A's values into a copy of its arrays. False where there are not as many.
template <class V>
bool replace_in(cpu, const csr<V, host_view>& A, csr<V, host>& to) {
    if (A.val.size() != to.val.size()) return false;
    std::copy(A.val.begin(), A.val.end(), to.val.begin());
    return true;
}
template <class V>
bool replace_in(gpu on, const csr<V, device_view>& A, csr<V, device>& to) {
    if (A.val.size() != to.val.size()) return false;
    copy_on_device(on, A.val.data(), to.val.data(), A.val.size() * sizeof(V));
    synchronize(on);  // the next product may read the matrix before it waits for what is before it
    return true;
}
/// A kernel whose layout can be filled anew on the GPU has K::refill.
template <class K, class V>
concept refilled_on_gpu = requires(gpu on, const csr<V, device_view>& A,
                                   typename K::template layout<V, device>& to) {
    K::refill(on, A, to);
};

/// A kernel may ask for scratch memory: K::scratch_bytes(on, A).
template <class K, class B, class M>
std::size_t scratch_bytes(B on, const M& A) {
    if constexpr (requires { K::scratch_bytes(on, A); }) {
        return K::scratch_bytes(on, A);
    } else {
        return 0;
    }
}

/// A layout that can be rounded as it lies has `rounded`.
template <class M>
concept has_rounded = requires(const M& A) {
    rounded(view(A));
};

template <class K, class V, class M>
class cpu_operator final : public linear_operator<V, cpu> {
  public:
    cpu_operator(cpu on, M A) : on_(on), A_(std::move(A)) {}
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }
    [[nodiscard]] std::string_view method_name() const override { return K::name; }
    [[nodiscard]] bool takes_values() const override { return reads_csr<K, V>; }
    [[nodiscard]] std::unique_ptr<linear_operator<float, cpu>> in_single() const override {
        if constexpr (has_rounded<M>) {
            if (auto A = rounded(view(A_)))
                return std::make_unique<cpu_operator<K, float, typename decltype(A)::value_type>>(
                    on_, std::move(*A));
        }
        return nullptr;
    }

  protected:
    bool replace_values(const csr<V, host_view>& A) override {
        if constexpr (reads_csr<K, V>) return replace_in(on_, A, A_);
        return false;
    }
    void multiply_many(V alpha, in_columns<V, cpu> X, V beta,
                       out_columns<V, cpu> Y) const override {
        if constexpr (runs_many_on<K, cpu, V>) {
            spmv_many(on_, K{}, alpha, view(A_), X, beta, Y);
        } else {
            linear_operator<V, cpu>::multiply_many(alpha, X, beta, Y);
        }
    }
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

/// The kernels for GPUs are written for real values, but for those that say K::complex_on_gpu.
template <class K, class V>
concept on_gpu = runs_on<K, gpu, V> &&(std::floating_point<V> || requires { K::complex_on_gpu; });

/// A texture over linear memory holds 2^27 elements on every GPU since Volta; x may start behind
/// the texture, by up to 512 bytes.
constexpr std::int64_t max_texture_elements = (std::int64_t(1) << 27) - 128;

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

/// f(A), or f of A's canonical copy where K's layout needs one: kernels over CSR take the columns
/// of a row in any order, other layouts are made of ascending ones. Throws argument_error where A
/// is no CSR.
template <class K, class V, class F>
auto with_order(const csr<V, host_view>& A, F f) {
    const row_order order = order_of(A);
    if (reads_csr<K, V> || order == row_order::ascending) return f(A);
    const csr<V, host> ordered = canonical(A);
    return f(view(ordered));
}
template <class K, class V, class F>
auto with_order(gpu on, const csr<V, device_view>& A, F f) {
    const row_order order = order_of(on, A);
    if (reads_csr<K, V> || order == row_order::ascending) return f(A);
    const csr<V, device> ordered = canonical(on, A);
    return f(view(ordered));
}

/// The same where f(A) throws argument_error for any flaw of A, if K says so: nothing is then read
/// twice of a matrix without one.
template <class K, class V, class F>
auto with_order_or_refusal(gpu on, const csr<V, device_view>& A, F f) {
    if constexpr (requires { K::refuses_disorder; }) try {
            return f(A);
        } catch (const argument_error&) {  // of which with_order finds out more
        }
    return with_order<K>(on, A, f);
}

template <class K, class V>
std::unique_ptr<linear_operator<V, cpu>> build_on_cpu(cpu on, const csr<V, host_view>& A) {
    auto own = with_order<K>(A, [](const csr<V, host_view>& B) { return build_layout<K>(B); });
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
        : on_(on), A_(std::move(A)), scratch_(on, scratch_bytes<K>(on, view(A_))), setup_(setup) {
        on_.scratch = scratch_;
        zero_on_device(on_, on_.scratch);
    }
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }
    [[nodiscard]] setup_times setup() const override { return setup_; }
    [[nodiscard]] std::string_view method_name() const override { return K::name; }
    [[nodiscard]] bool takes_values() const override {
        return reads_csr<K, V> || refilled_on_gpu<K, V>;
    }

  protected:
    bool replace_values(const csr<V, device_view>& A) override {
        const device_guard guard(on_);
        if constexpr (refilled_on_gpu<K, V>)
            return with_order<K>(
                on_, A, [&](const csr<V, device_view>& B) { return K::refill(on_, B, A_); });
        if constexpr (reads_csr<K, V>) return replace_in(on_, A, A_);
        return false;
    }
    void multiply_many(V alpha, in_columns<V, gpu> X, V beta,
                       out_columns<V, gpu> Y) const override {
        if constexpr (runs_many_on<K, gpu, V>) {
            const device_guard guard(on_);
            const auto mine = lock_scratch();
            if (A_.shape.rows > 0) spmv_many(on_, K{}, alpha, view(A_), X, beta, Y);
            check_launch(K::name.data());
        } else {
            linear_operator<V, gpu>::multiply_many(alpha, X, beta, Y);
        }
    }
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        const device_guard guard(on_);
        const auto mine = lock_scratch();
        if (y.size() > 0) spmv(on_, K{}, alpha, view(A_), x, beta, y);
        check_launch(K::name.data());
    }
    void multiply_transposed(transposition op, V alpha, device_span<V> x, V beta,
                             device_out<V> y) const override {
        if constexpr (runs_transposed_on<K, gpu, V>) {
            const device_guard guard(on_);
            const auto mine = lock_scratch();
            if (y.size() > 0) spmv_transposed(on_, K{}, op, alpha, view(A_), x, beta, y);
            check_launch(K::name.data());
        } else {
            throw unavailable(std::string(K::name) + " has no transposed product on a GPU");
        }
    }
    void scale(V beta, device_out<V> y) const override { scale_vector(on_, beta, y); }

  private:
    /// The kernels of one product follow each other in the stream: those of another thread's, which
    /// use the same scratch memory, come before or after them.
    [[nodiscard]] std::unique_lock<std::mutex> lock_scratch() const {
        return scratch_.size() > 0 ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
    }

    gpu on_;
    M A_;
    device_array<std::byte> scratch_;
    setup_times setup_;
    mutable std::mutex mutex_;
};

/// A kernel that waits for the GPU says so: K::synchronises.
template <class K>
constexpr bool synchronises() {
    if constexpr (requires { K::synchronises; }) return K::synchronises;
    return false;
}

/// A kernel whose layout is built on the GPU has K::build.
template <class K, class V>
concept built_on_gpu = requires(gpu on, const csr<V, device_view>& A) {
    K::build(on, A, device_analysis<V>{});
};

template <class K, class V>
std::unique_ptr<linear_operator<V, gpu>> build_from_device(gpu on, const csr<V, device_view>& A,
                                                           const device_analysis<V>& known) {
    require_gpu(on);
    check_sizes(A);
    const device_guard guard(on);
    const auto start = steady_clock::now();
    const auto build = [&](const csr<V, device_view>& B) {
        if constexpr (built_on_gpu<K, V>) {
            return K::build(on, B, known);
        } else {
            return upload(on, B);
        }
    };
    const auto build_known = [&] {
        return reads_csr<K, V> || known.ordered == nullptr ? build(A) : build(view(*known.ordered));
    };
    auto own = known.checked ? build_known() : with_order_or_refusal<K>(on, A, build);
    synchronize(on);
    const setup_times t{.preprocessing_s = seconds_since(start)};
    return std::make_unique<gpu_operator<K, V, decltype(own)>>(on, std::move(own), t);
}

/// From A, whose columns ascend or which K takes in any order.
template <class K, class V>
std::unique_ptr<linear_operator<V, gpu>> build_from_checked(gpu on, const csr<V, host_view>& A) {
    const auto start = steady_clock::now();
    if constexpr (built_on_gpu<K, V>) try {
            const auto there = upload(on, A);
            setup_times t{.upload_s = seconds_since(start)};
            auto own = K::build(on, view(there), device_analysis<V>{});
            synchronize(on);
            t.preprocessing_s = seconds_since(start) - t.upload_s;
            return std::make_unique<gpu_operator<K, V, decltype(own)>>(on, std::move(own), t);
        } catch (const device_error&) {  // the layout may fit where CSR and scratch do not as well
        }
    const auto here = build_layout<K>(A);
    setup_times t{.conversion_s = seconds_since(start)};
    auto there = upload(on, here);
    t.upload_s = seconds_since(start) - t.conversion_s;
    return std::make_unique<gpu_operator<K, V, decltype(there)>>(on, std::move(there), t);
}

template <class K, class V>
std::unique_ptr<linear_operator<V, gpu>> build_on_gpu(gpu on, const csr<V, host_view>& A) {
    require_gpu(on);
    const device_guard guard(on);
    return with_order<K>(
        A, [&](const csr<V, host_view>& B) { return build_from_checked<K, V>(on, B); });
}

template <class K, class V>
constexpr device_builder<V> gpu_builder_from_device() {
    if constexpr (has_cuda && on_gpu<K, V> && (built_on_gpu<K, V> || reads_csr<K, V>))
        return build_from_device<K, V>;
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
    .any_order = reads_csr<K, V>,
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
