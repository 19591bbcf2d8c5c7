// A x = b by what suits A: method and preconditioner chosen, and others tried where they fail.
#pragma once

#include <optional>
#include <string_view>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/solve/direct/factor_forecast.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/multigrid/candidates.hpp"
#include "nonzero/solve/preconditioners/factors.hpp"

namespace nz {

template <class V>
struct matrix_slice;

/// direct: gmres with the factors of A for its preconditioner, which refines what they give.
/// fgmres: gmres that takes another preconditioner in every iteration. refine: fgmres whose
/// preconditioner solves A z = r in single precision, to 1e-4.
enum class krylov_method { cg, minres, bicgstab, gmres, direct, fgmres, idrs, refine };
enum class preconditioning {
    none,
    jacobi,
    block_jacobi,
    gauss_seidel,
    amg,
    matching,
    ilut,
    ilu,
    ic,
    fsai,
    saddle,
    spai,
    ict
};
/// Their names, as `nz solve` has them.
std::string_view name_of(krylov_method);
std::string_view name_of(preconditioning);

/// Where one of both is given it is used alone, and the other chosen; nothing else is tried.
/// max_iter is for the first attempt; those that follow share as many again. max_seconds is for all
/// of it, setup included; planning and a preconditioner under way are finished first.
struct system_options : gmres_options {
    std::optional<krylov_method> method = {};
    std::optional<preconditioning> preconditioner = {};
    /// Unknowns that belong together, for block_jacobi, ilu, ic, fsai, spai and amg. 0: amg looks
    /// for them (`amg_options::block`), the others take each by itself.
    index block = 0;
    /// For amg: what its coarser levels must represent, such as `rigid_body_modes`; of this rank's
    /// rows. Without: the constant, one for each of a node's unknowns.
    candidates<double> near = {};
    int fill_level = 0;  ///< of ilu, ic, fsai and spai
    /// Over ranks, of ilu, ilut, ic, ict, fsai and spai: steps along A's entries from a rank's rows
    /// to those of others that its preconditioner is made of as well, 0 to 10. Where they overlap,
    /// an element is that of the rank that owns it; for cg and minres the mean of all, which is
    /// symmetric.
    int overlap = 0;
    bool iterative = false;  ///< the direct solver is left out
    /// For cg with several b on the CPU: blocks of 16 share their directions (O'Leary's block CG),
    /// which takes fewer iterations of more arithmetic each; b that depend on others do no harm. On
    /// a GPU and over ranks it changes nothing.
    bool block_cg = false;
    /// The library that factorizes for it. Another than eigen: the result depends on what is
    /// installed.
    factor_forecast::libraries direct_solver = factor_forecast::libraries::eigen;
    /// The most that its factors may take  [bytes]; without, half of the machine's memory.
    std::optional<double> most_factor_bytes = {};
};

struct system_report {
    /// One method with one preconditioner, and why it ended.
    struct attempt {
        krylov_method method;
        preconditioning preconditioner;
        solve_report report;  ///< relative is infinite, why says it, where M could not be made
        double preconditioner_s = 0;  ///< making the preconditioner                        [s]
        double solve_s = 0;           ///< everything after that                            [s]
        double predicted_s = 0;       ///< of direct its factors, else an iteration         [s]
        std::optional<factor_forecast> forecast = {};  ///< of direct, where it has one
        std::optional<factor_report> factors = {};     ///< of direct, ilu and ic, where made
    };

    std::vector<attempt> attempts;     ///< in their order
    std::size_t best = 0;              ///< the one whose x it is: the least residual
    bool negated = false;              ///< -A x = -b was solved, as A's diagonal is negative
    std::string product;               ///< A's method
    double plan_s = 0;                 ///< planning and building the product                [s]
    std::vector<std::string> reasons;  ///< facts and forecasts that decided, a sentence each
    /// Where it has not converged: what stands in the way and what to try next, a sentence each.
    std::vector<std::string> advice;
    [[nodiscard]] const attempt& result() const { return attempts[best]; }
    [[nodiscard]] bool converged() const { return result().report.converged; }
};

/// The matrix does not suit the method or the preconditioner that was asked for.
struct unsuitable : error {
    using error::error;
};

/// Solves A x = b; x: the initial guess on entry, the best solution found afterwards. Arrays lie on
/// the host, the iterations run where `on` says.
///
/// A whose diagonal is negative throughout is negated with b. Where A is symmetric (hermitian) and
/// its diagonal positive, cg is tried with amg (real values only), jacobi and sgs, then minres with
/// jacobi, then gmres with jacobi; as soon as cg meets a direction with (p, A p) <= 0 the other
/// attempts with it are left out. Where A is symmetric otherwise: minres, then gmres with ilut,
/// then gmres, then bicgstab; else bicgstab, gmres with ilut, gmres, then gmres with sgs; all of
/// them with jacobi, or with none where a diagonal entry is zero, in which case gmres with matching
/// follows. For minres jacobi takes the absolute values of the diagonal.
///
/// If a saddle point is found, with a hundredth of all rows for its constraints or more and no row
/// beyond 1,000 entries, gmres with saddle is tried when the first of these has taken 1,000
/// iterations, or failed. Not over ranks.
///
/// Before these, on a CPU where no diagonal entry is zero, come probes, whose setup is cheap: of a
/// symmetric A with a positive diagonal and at most 200,000 entries, cg with ic for 60 iterations;
/// of one that is not symmetric and has at most 2,000,000, bicgstab with jacobi for 75, up to
/// 50,000 entries for 30, up to 10,000 not at all, then with ilu for 75, beyond 200,000 entries for
/// 150. From its tenth iteration on a probe ends, for good, where its residual falls more slowly
/// than would reach tol by its last.
///
/// The direct solver comes first where its forecast is below what a thousand iterations cost: at
/// once where A is small, or when probes have failed, else when the first attempt has not halved
/// its residual in 300 iterations (where A is symmetric with a positive diagonal: after 1,000; on a
/// CPU, where A has at most 2,000,000 entries, after 150, or when it is too slow for these, as a
/// probe is); elsewhere it is last. Where `iterative` is set it is left out; over ranks it is the
/// first rank's, which gathers A. Where A is not symmetric, ilut is tried before the first attempt
/// goes on from there. The direct solver's work is the CPU's also on a GPU.
///
/// Another attempt ends as its method has it, and where others are left also when the least
/// residual has not halved in max_iter / 4 iterations (500 at least). The next one starts from the
/// best x so far and may take half of the iterations that are left, the last one all; one that was
/// ended by that goes on when the others have failed. The search ends early where |b - A x| is
/// within 8 units of rounding of | |A| |x| + |b| |: no method gets nearer. But where these units
/// alone are above tol (and above 1e-8, in single precision 2e-4) x is huge, the null space of A
/// may have grown in it, and the next attempt starts from the x before; so it does where CG ended
/// as A is not definite. An attempt that throws is told as one that failed. x is never worse than
/// the guess.
///
/// Throws   argument_error where A is malformed, its columns not ascending, a length or an option
///          wrong; unavailable where direct_solver is not there; unsuitable where A is not square,
///          or not what the method or preconditioner asked for needs; what planning and the monitor
///          throw; and, where every attempt threw, what the last one did.
template <class V, class B>
system_report solve(B on, const csr<V, host_view>& A, std::span<const V> b, std::span<V> x,
                    const system_options& = {});

/// The same for several b, by one plan and one preconditioner. Returns a report for each.
///
/// Where cg comes first, or a single method was asked for that is cg, minres, bicgstab or gmres, up
/// to 64 of them go in step and share every product. Else the first b finds the method: in step
/// where it is one of these, else each of the others begins with it, by the same preconditioner or
/// factors. A b that this does not solve goes on alone, as above. Each fulfils its own bound or its
/// report says why not; times of an attempt in step are those of all of them.
///
/// b and x hold as many vectors, in either order; x as above. max_iter is each vector's,
/// max_seconds that of all; in step the monitor is called with the largest of the relative
/// residuals, and once it has stopped one solve it stops all. Same bits in every run
/// with these b; beside others they may differ by rounding.
///
/// Throws   as above; argument_error where b and x are not as many, or too few elements;
///          out_of_memory where blocks of 64 vectors do not fit.
template <class V, class B>
std::vector<system_report> solve(B on, const csr<V, host_view>& A, in_columns<V, cpu> b,
                                 out_columns<V, cpu> x, const system_options& = {});

/// The same of what lies in the GPU's memory, in on.stream: A, b and x stay there, and facts,
/// product and preconditioner are made there by the same rules; so x is what it is from the CPU's
/// memory, up to rounding, by the same attempts. What is made on the CPU alone (block_jacobi, sgs,
/// matching, ilut, ilu, ic, ict, fsai, saddle, spai, refine, the direct solver) takes one copy of A
/// there when an attempt needs it, and `reasons` says so. Of real values. The matrix of `amg` has
/// less than 2^31 entries.
///
/// Throws   as above; unavailable where `on` cannot be used, and for complex values.
template <class V>
system_report solve(gpu on, const csr<V, device_view>& A, device_span<V> b, device_out<V> x,
                    const system_options& = {});
/// The same for several b.
template <class V>
std::vector<system_report> solve(gpu on, const csr<V, device_view>& A, in_columns<V, gpu> b,
                                 out_columns<V, gpu> x, const system_options& = {});

/// As nz::solve of a whole matrix, over on.ranks: b and x are this rank's elements, on the host.
///
/// The same methods and preconditioners are tried in the same order, by what all ranks see of A,
/// and an attempt ends, and another begins, by the same rules. amg is over all ranks. The other
/// preconditioners are those of the rank's own block, rows and columns, and of the rows that
/// `overlap` adds: entries between blocks do not enter them, so that with more ranks all of them
/// but jacobi take more iterations; jacobi takes as many. A is not needed afterwards; its rows are
/// held twice while more than one attempt may come, or while multigrid's levels are made. Called by
/// all ranks; all get the same report but for times.
///
/// Throws   on all ranks, as `solve` of a whole matrix, naming the whole matrix's rows;
///          argument_error where on.ranks is null.
template <class V, class B>
system_report solve(B on, matrix_slice<V> A, std::span<const V> b, std::span<V> x,
                    const system_options& = {});

}  // namespace nz
