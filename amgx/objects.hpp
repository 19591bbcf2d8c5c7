// The objects behind AmgX's handles.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "amgx/blocks_on_gpu.hpp"
#include "amgx/failure.hpp"
#include "amgx/settings.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu_communicator.hpp"
#include "nonzero/dist/shares.hpp"

namespace nz::amgx {

/// Parts of a mode, of which only those in `modes` are served.
struct mode_parts {
    bool on_gpu = false;
    bool is_complex = false;
    bool single_vector = false, single_matrix = false;
    [[nodiscard]] std::size_t vector_bytes() const {
        return (single_vector ? 4 : 8) * (is_complex ? 2 : 1);
    }
    [[nodiscard]] std::size_t matrix_bytes() const {
        return (single_matrix ? 4 : 8) * (is_complex ? 2 : 1);
    }
};
/// Throws failure with BAD_MODE where it is none that is served, NOT_SUPPORTED_TARGET where it asks
/// for a GPU that is not there.
mode_parts parts_of(AMGX_Mode);

/// The place of computations: a GPU's stream, made when it is first asked for, and the ranks.
class resources {
  public:
    /// mpi_comm: a pointer to an MPI_Comm, or null. device: -1: the one that is current. Called by
    /// all ranks. Throws failure with NOT_IMPLEMENTED where there is no MPI in this build.
    resources(void* mpi_comm, int device);
    ~resources();
    [[nodiscard]] const communicator* ranks() const { return ranks_.get(); }
    [[nodiscard]] cpu on_cpu() const { return {.ranks = ranks_.get()}; }
    /// Called by all ranks where there are several.
    [[nodiscard]] gpu on_gpu();
    [[nodiscard]] int device() const { return device_; }
    /// By the first rank alone.
    void tell(std::string_view text) const;

  private:
    std::unique_ptr<const communicator> ranks_;
    int device_;
    std::unique_ptr<gpu_stream> stream_;
    std::unique_ptr<gpu_communicator> gpu_ranks_;
};

class system;

/// The blocks of a matrix as they were uploaded: on the host, or in a mode of GPUs, without ranks
/// and below 2^31 entries, on the GPU, from where they come to the host when that is asked for.
struct matrix {
    AMGX_Mode mode;
    mode_parts parts;
    std::shared_ptr<resources> on;

    int n = 0, nnz = 0, block_x = 1, block_y = 1;
    int n_global = 0;  ///< block rows of all ranks
    std::optional<blocks_on_gpu> gpu_blocks = {};
    bool diagonal_is_apart = false;
    host_vector<int> row_ptr;                 ///< on the host always
    mutable host_vector<int> col_ind;         ///< over ranks numbered as in `rows`
    host_vector<int> given_columns;           ///< where those were numbered otherwise
    mutable host_vector<std::byte> val;       ///< block_x * block_y values a block, by rows
    mutable host_vector<std::byte> diagonal;  ///< a block a row, where the diagonal is apart
    shares rows;                              ///< block rows; of one rank where there is but one
    std::vector<double> geometry[3];          ///< coordinates of the block rows, where attached
    std::uint64_t pattern_id = 0;             ///< another whenever the pattern is, of all matrices
    std::uint64_t values_id = 0;              ///< another whenever the values are
    std::unique_ptr<amgx::system> product = {};  ///< to multiply by it
    std::uint64_t product_of = 0;                ///< its values_id
    matrix(AMGX_Mode, std::shared_ptr<resources>);
    ~matrix();
    [[nodiscard]] bool is_uploaded() const { return !row_ptr.empty(); }
    /// Copies to the host what is on the GPU alone.
    void bring_home() const;
    [[nodiscard]] std::size_t block_size() const {
        return std::size_t(block_x) * std::size_t(block_y);
    }
};

/// Elements in the precision and the memory of the mode.
struct vector_of_blocks {
    AMGX_Mode mode;
    mode_parts parts;
    std::shared_ptr<resources> on;

    int n = 0, block = 1;
    host_vector<std::byte> here = {};
    device_array<std::byte> there = {};
    [[nodiscard]] std::size_t elements() const { return std::size_t(n) * std::size_t(block); }
    [[nodiscard]] std::size_t bytes() const { return elements() * parts.vector_bytes(); }
    void resize(int n, int block);
};

/// The end of a solve: its status, iterations and residuals.
struct outcome {
    AMGX_SOLVE_STATUS status = AMGX_SOLVE_FAILED;
    int iterations = 0;
    std::vector<double> history = {};  ///< residual norms, from the start on
    std::string why = {};              ///< why it ended
    double solve_s = 0;                ///< [s]
};

/// The matrix of a solver as it computes with it.
class system {
  public:
    virtual ~system() = default;
    /// Other values of the matrix that it was made of.
    virtual void take_values(const matrix&) = 0;
    /// x: the guess, unless from_zero; then the solution.
    virtual outcome solve(const vector_of_blocks& b, vector_of_blocks& x, bool from_zero) = 0;
    /// y = A x
    virtual void multiply(const vector_of_blocks& x, vector_of_blocks& y) = 0;
    [[nodiscard]] virtual int rows() const = 0;  ///< scalar ones, of this rank
};
/// Throws failure where the matrix does not suit. s: null: only to multiply by it.
std::unique_ptr<system> make_system(const matrix&, const settings* s);

struct solver {
    AMGX_Mode mode;
    std::shared_ptr<resources> on;
    settings what;
    std::unique_ptr<amgx::system> made;           ///< null before setup
    const matrix* of = nullptr;                   ///< which it was made of, and may be destroyed
    std::uint64_t pattern_id = 0, values_id = 0;  ///< of that
    std::optional<outcome> last;
};

struct distribution {
    AMGX_DIST_PARTITION_INFO kind = AMGX_DIST_PARTITION_VECTOR;
    const void* data = nullptr;  ///< null: rows in the order of the ranks
    bool narrow = false;         ///< columns of 32 bits
};

}  // namespace nz::amgx
