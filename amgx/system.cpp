#include <algorithm>
#include <cmath>
#include <numeric>

#include "amgx/memory.hpp"
#include "amgx/preconditioner.hpp"
#include "amgx/scalar_rows.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/solve/facts_on_gpu.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
#include "nonzero/vector/vector_space.hpp"

namespace nz::amgx {
namespace {

template <class B>
B backend_of(resources& r) {
    if constexpr (std::is_same_v<B, cpu>)
        return r.on_cpu();
    else
        return r.on_gpu();
}

template <class V>
candidates<V> near_of(const matrix& A) {
    const auto& [x, y, z] = A.geometry;
    const index dimension = z.empty() ? 2 : 3;
    if constexpr (!is_complex<V>)
        if (x.size() == std::size_t(A.n) && !y.empty() && A.block_x == dimension) {
            std::vector<double> places(x.size() * std::size_t(dimension));
            for (std::size_t i = 0; i < x.size(); ++i)
                for (std::size_t d = 0; d < std::size_t(dimension); ++d)
                    places[i * std::size_t(dimension) + d] = A.geometry[d][i];
            return rigid_body_modes<V>(places, dimension);
        }
    return {};
}

AMGX_SOLVE_STATUS status_of(const solve_report& r, bool monitored) {
    using enum status;
    // The residual that is carried along has reached the bound, which is all that AmgX asks.
    if (r.converged || r.status == limited_by_rounding) return AMGX_SOLVE_SUCCESS;
    if (r.status == not_finite || r.status == not_finite_at_start || r.status == overflow)
        return AMGX_SOLVE_FAILED;
    if (!monitored) return AMGX_SOLVE_SUCCESS;
    return r.status == diverged ? AMGX_SOLVE_DIVERGED : AMGX_SOLVE_NOT_CONVERGED;
}

template <class V, class B>
class system_on final : public system {
  public:
    system_on(const matrix& A, const settings* s) : on_(A.on) {
        if (s != nullptr) what_ = *s;
        A_.on = backend_of<B>(*on_);
        A_.tells = on_.get();
        A_.near = near_of<V>(A);
        A_.block = A.block_x;
        take(A);
        build_product();
        if (s != nullptr) build_preconditioner();
        release();
    }
    ~system_on() override {
        // The GPU may still work on what is released now.
        if constexpr (std::is_same_v<B, gpu>) try {
                synchronize(A_.on);
            } catch (const error&) {  // the process ends, and CUDA has ended before
            }
    }

    void take_values(const matrix& A) override {
        require(A.n * A.block_x == rows(), "the matrix has other rows than that of the setup");
        const double sign = sign_;
        take(A);
        if (M_.levels == nullptr || !A_.is_whole || sign != sign_) M_ = {};
        A_.is_whole ? give_to_product() : build_product();
        M_.levels ? give_to_levels() : build_preconditioner();
        release();
    }

    outcome solve(const vector_of_blocks& given_b, vector_of_blocks& given_x,
                  bool from_zero) override {
        const auto start = steady_clock::now();
        vector_space<V, B> space(A_.on, rows());
        auto b = taken(given_b);
        auto x = from_zero ? space.zero() : taken(given_x);
        if (sign_ < 0) space.scale(V(-1), b);
        auto r = space.make();
        const double r0 = residual(space, b, x, r), b_norm = double(space.norm(b));
        outcome o{.history = {r0}};
        const double bound = bound_of(r0);
        if (!std::isfinite(r0) || !std::isfinite(b_norm)) {
            o.why = "b, or b - A x at the start, is not finite";
        } else if ((what_.monitored && r0 <= bound) || r0 == 0) {
            o.status = AMGX_SOLVE_SUCCESS, o.why = "the guess fulfils the bound";
        } else if (what_.max_iters == 0) {
            o.status = what_.monitored ? AMGX_SOLVE_NOT_CONVERGED : AMGX_SOLVE_SUCCESS;
            o.why = "max_iters is 0";
        } else if (b_norm == 0) {  // relative residuals are none
            space.fill(V(0), x);
            o.status = AMGX_SOLVE_SUCCESS, o.why = "b is zero, and so is x";
            o.iterations = 1, o.history.push_back(0);
        } else if (what_.is_krylov()) {
            krylov(o, b, x, what_.monitored ? bound / b_norm : 0, b_norm);
        } else {
            richardson(o, space, b, x, r, bound);
        }
        hand(x, given_x);
        o.solve_s = seconds_since(start);
        return o;
    }

    void multiply(const vector_of_blocks& x, vector_of_blocks& y) override {
        auto from = taken(x);
        vector_space<V, B> space(A_.on, rows());
        auto to = space.make();
        A_.product().apply(V(sign_), from, V(0), to);
        y.resize(x.n, x.block);
        hand(to, y);
    }

    [[nodiscard]] int rows() const override { return A_.rows(); }

  private:
    [[nodiscard]] const communicator* ranks() const { return on_->ranks(); }

    /// The values, with rows and columns in order, negated where the diagonal is negative.
    void take(const matrix& A) {
        A_.is_whole = ranks() == nullptr;
        if constexpr (std::is_same_v<B, gpu>)
            if (A.gpu_blocks) return take_from_gpu(A);
        auto scalars = scalar_rows<V>(A);
        expect_square(A, scalars.shape);
        if (A_.is_whole) {
            A_.on_cpu.emplace(std::move(scalars));
            negate_if(diagonal_of(cpu{}, A_.on_cpu->view()));
            if (sign_ < 0) {
                auto other = canonical(A_.on_cpu->view());
                negate(other.val);
                A_.on_cpu.emplace(ascending<V>::known(std::move(other)));
            }
            if constexpr (std::is_same_v<B, gpu>) A_.on_gpu = upload(A_.on, A_.on_cpu->view());
        } else {
            shares scalar = A.rows;
            for (index& first : scalar.first) first *= A.block_x;
            agree(ranks(), [&] { scalars = canonical(std::move(scalars)); });
            A_.slice = {scalar, scalar, std::move(scalars)};
            negate_if(own_diagonal(A_.slice, ranks()->rank()));
            if (sign_ < 0) negate(A_.slice.own.val);
        }
    }
    /// The same of blocks that lie on the GPU.
    void take_from_gpu(const matrix& A) {
        A_.on_gpu = scalar_rows(A_.on, A);
        expect_square(A, A_.on_gpu.shape);
        A_.on_gpu = canonical(A_.on, std::move(A_.on_gpu));
        const auto diagonal = diagonal_of(A_.on, view(A_.on_gpu));
        sign_ = signs_of<V>(A_.on, diagonal).below == A_.on_gpu.shape.rows ? -1 : 1;
        if (sign_ < 0)
            vector_space<V, gpu>(A_.on, std::ssize(A_.on_gpu.val)).scale(V(-1), A_.on_gpu.val);
    }
    void expect_square(const matrix& A, nz::shape s) const {
        if (!on_all(ranks(), s.cols == A.n_global * A.block_x))
            throw failure(
                AMGX_RC_BAD_PARAMETERS,
                fmt::format("the matrix is {} x {}, expected a square one", s.rows, s.cols));
        require(ranks() != nullptr || s.rows > 0, "the matrix has no rows");
    }
    void negate_if(const host_vector<V>& diagonal) {
        const auto is_negative = [](V d) { return std::real(d) < 0; };
        sign_ = on_all(ranks(), std::ranges::all_of(diagonal, is_negative)) ? -1 : 1;
    }
    static void negate(host_vector<V>& values) {
        parallel_for(thread_count({}), std::int64_t(values.size()),
                     [&](std::int64_t k) { values[std::size_t(k)] = -values[std::size_t(k)]; });
    }

    void build_product() {
        if (!A_.is_whole) return build_over_ranks();
        if constexpr (std::is_same_v<B, gpu>)
            A_.planned_product = plan_and_build(ascending<V, gpu>::known(view(A_.on_gpu), A_.on),
                                                A_.on, product_options<V>(A_.on, true));
        else
            A_.planned_product = plan_and_build(A_.whole(), A_.on);
    }
    void build_over_ranks() {
        A_.over_ranks = std::make_unique<distributed<V, B>>(A_.on, A_.slice);
    }
    void build_preconditioner() {
        if (!what_.is_krylov())
            M_ = make_preconditioner(once_of(what_), A_);
        else if (what_.preconditioner)
            M_ = make_preconditioner(*what_.preconditioner, A_);
        else
            for (const auto& sentence : what_.nearest) on_->tell(sentence);
    }
    /// A stationary solver, one iteration of it.
    static settings once_of(settings s) {
        s.max_iters = 1;
        return s;
    }
    void give_to_product() {
        auto& [plan, op] = A_.planned_product;
        if constexpr (std::is_same_v<B, gpu>)
            update_values(op, plan, view(A_.on_gpu));
        else
            update_values(op, plan, A_.whole().view());
    }
    /// Where the values do not suit the levels any more, another preconditioner is made.
    void give_to_levels() {
        if constexpr (!is_complex<V>) try {
                const auto keeps = amg_options::keeps::aggregates;
                if constexpr (std::is_same_v<B, gpu>)
                    M_.levels->take_values(view(A_.on_gpu), keeps, &A_.product());
                else
                    M_.levels->take_values(A_.whole(), keeps, &A_.product());
            } catch (const argument_error&) {
                M_ = {};
                build_preconditioner();
            }
    }
    /// Only what is made of the matrix is needed from now on.
    void release() { A_.on_gpu = {}, A_.on_cpu = {}, A_.slice.own = {}; }

    [[nodiscard]] double bound_of(double r0) const {
        switch (what_.convergence) {
            case criterion::absolute:
                return what_.tolerance;
            case criterion::relative_to_first:
                return what_.tolerance * r0;
            default:
                return std::max(what_.tolerance, what_.relative_tolerance * r0);
        }
    }
    /// r = b - A x; its norm.
    double residual(vector_space<V, B>& space, in<V, B> b, in<V, B> x, out<V, B> r) {
        space.copy(b, r);
        A_.product().apply(V(-1), x, V(1), r);
        return double(space.norm(r));
    }

    void krylov(outcome& o, in<V, B> b, out<V, B> x, double target, double b_norm) {
        const auto report = run_krylov(what_, A_, M_, b, x, target);
        o.status = status_of(report, what_.monitored);
        o.iterations = int(report.iterations);
        o.why = report.why;
        for (std::size_t k = 1; k < report.history.size(); ++k)
            o.history.push_back(report.history[k] * b_norm);
        o.history.resize(std::size_t(o.iterations) + 1, report.residual_norm);
    }

    /// x = x + M (b - A x), over and over.
    void richardson(outcome& o, vector_space<V, B>& space, in<V, B> b, out<V, B> x, out<V, B> r,
                    double bound) {
        auto z = space.make();
        o.status = what_.monitored ? AMGX_SOLVE_NOT_CONVERGED : AMGX_SOLVE_SUCCESS;
        o.why = "max_iters iterations were spent";
        while (o.iterations < what_.max_iters) {
            M_.M->apply(V(1), r, V(0), z);
            space.axpy(V(1), z, x);
            ++o.iterations;
            o.history.push_back(residual(space, b, x, r));
            if (!std::isfinite(o.history.back())) {
                o.status = AMGX_SOLVE_FAILED, o.why = "the residual is not finite";
                return;
            }
            if (what_.monitored && o.history.back() <= bound) {
                o.status = AMGX_SOLVE_SUCCESS, o.why = "converged";
                return;
            }
        }
    }

    /// The elements of a vector where B computes, in V.
    nz::vector<V, B> taken(const vector_of_blocks& v) const {
        if (v.elements() != std::size_t(rows()))
            throw failure(
                AMGX_RC_BAD_PARAMETERS,
                fmt::format("a vector has {} elements, expected {}", v.elements(), rows()));
        const int device = on_->device();
        if (!v.parts.single_vector) {
            auto made = make_vector<V>(A_.on, v.elements());
            if constexpr (std::is_same_v<B, gpu>) synchronize(A_.on);
            copy_anywhere(device, memory_of(v), made.data(), v.bytes());
            return made;
        }
        host_vector<std::byte> bytes(v.bytes());
        copy_anywhere(device, memory_of(v), bytes.data(), bytes.size());
        host_vector<V> wide(v.elements());
        for (std::size_t k = 0; k < wide.size(); ++k) wide[k] = value_at<V>(bytes, true, k);
        return from_host(A_.on, std::span<const V>(wide));
    }
    /// The elements back into a vector of that length.
    void hand(in<V, B> from, vector_of_blocks& v) const {
        if constexpr (std::is_same_v<B, gpu>) synchronize(A_.on);
        const int device = on_->device();
        if (!v.parts.single_vector)
            return copy_anywhere(device, from.data(), memory_of(v), v.bytes());
        const auto wide = to_host<V>(A_.on, from);
        host_vector<std::byte> bytes(v.bytes());
        for (std::size_t k = 0; k < wide.size(); ++k) set_value<V>(bytes, true, k, wide[k]);
        copy_anywhere(device, bytes.data(), memory_of(v), bytes.size());
    }
    static std::byte* memory_of(vector_of_blocks& v) {
        return v.parts.on_gpu ? v.there.data() : v.here.data();
    }
    static const std::byte* memory_of(const vector_of_blocks& v) {
        return v.parts.on_gpu ? v.there.data() : v.here.data();
    }

    std::shared_ptr<resources> on_;
    settings what_;
    double sign_ = 1;  ///< of the matrix that is computed with, times the given one
    prepared_matrix<V, B> A_;
    preconditioner<V, B> M_;
};

template <class V>
std::unique_ptr<system> make(const matrix& A, const settings* s) {
    if (!A.parts.on_gpu) return std::make_unique<system_on<V, cpu>>(A, s);
    if constexpr (has_cuda && !is_complex<V>) return std::make_unique<system_on<V, gpu>>(A, s);
    throw failure(AMGX_RC_NOT_SUPPORTED_TARGET, "there is no GPU for this mode");
}

}  // namespace

std::unique_ptr<system> make_system(const matrix& A, const settings* s) {
    require(A.is_uploaded(), "the matrix was not uploaded");
    return A.parts.is_complex ? make<std::complex<double>>(A, s) : make<double>(A, s);
}

}  // namespace nz::amgx
