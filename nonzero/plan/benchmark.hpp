// One method on one matrix, with one number of threads or on a GPU: set up, timed and checked.
#pragma once

#include "nonzero/formats/oracle.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/plan/timing/measure.hpp"

namespace nz {

/// A method of the registry or a baseline, with a number of threads (0: on a GPU).
template <class V>
struct benchmark_case {
    const method<V>* m;
    int threads;
    bool peer = false;
};

/// Which product is timed.
struct product_kind {
    transposition op = transposition::plain;
    index vectors = 1;  ///< vectors multiplied at once, side by side
    storage_order order = storage_order::column_major;  ///< of several vectors, x and y alike
};

struct benchmark_result {
    std::string method;
    int threads = 1;
    bool peer = false;
    bool one_thread = false;     ///< the method takes one thread, whatever it is given
    std::string built = {};      ///< the method whose operator it is, as the operator says
    std::string declined = {};   ///< why nothing below was measured; empty where it was
    double setup_s = 0;          ///< building the operator from CSR                       [s]
    setup_times setup = {};      ///< its parts, on a GPU                                  [s]
    double matrix_bytes = 0;     ///< bytes of the arrays                               [bytes]
    double vector_bytes = 0;     ///< x read once and y written once, of all vectors   [bytes]
    timing time = {};            ///< the time of one product, y = A x, with all vectors
    double rewriting_s = 0;      ///< part of it: rewriting x alone, in launches::chain    [s]
    agreement error = {};        ///< the error of y against the oracle; of the last of several y
    double serial_l2 = 0;        ///< norm of y - csr.serial's y
    double serial_l2_bound = 0;  ///< bound on that norm, where both keep the componentwise bound

    [[nodiscard]] bool measured() const { return declined.empty() && time.median_s > 0; }
    [[nodiscard]] bool validated() const { return error.holds() && serial_l2 <= serial_l2_bound; }
    [[nodiscard]] double setup_products() const { return setup_s / time.median_s; }
    [[nodiscard]] double gbps() const {
        return (matrix_bytes + vector_bytes) / time.median_s * 1e-9;
    }
};

/// Floating-point operations of a product: a multiplication and an addition for each stored
/// entry, which are 8 real ones for complex values.
template <class V>
double flops(std::int64_t nnz) {
    return double(nnz) * (is_complex<V> ? 8 : 2);
}

/// Contents of the GPU's caches before a product: what the one before it left, or nothing of use.
enum class caches { hot, cold };

/// How the products of a block follow each other where caches are hot.
enum class launches {
    stream,  ///< one after the other in a stream
    graph,   ///< the same, launched as a CUDA graph of 20 products
    chain,   ///< before each one an ordinary kernel rewrites x; its time is part of the product's
};

/// Every method with every number of threads; those of one thread once.
template <class V>
std::vector<benchmark_case<V>> make_cases(std::span<const method<V>* const> methods,
                                          std::span<const int> threads, bool peers = false);

/// Every method of them, for run_benchmark on a GPU.
template <class V>
std::vector<benchmark_case<V>> make_gpu_cases(std::span<const method<V>* const> methods,
                                              bool peers = false);

/// Sets up, checks and times all cases on A, in groups whose layouts fit memory together and
/// whose blocks take turns. One benchmark_result a benchmark_case, in order; those that an
/// interruption left out have no blocks. A method that is out of memory, or whose builder refuses
/// A, declines.
template <class V>
std::vector<benchmark_result> run_benchmark(const csr<V, host_view>& A,
                                            std::span<const benchmark_case<V>> cases,
                                            const measure_options&, product_kind = {});

/// The same on a GPU, timed by its own events: hot, a block is an event, its products one after
/// the other, and an event; cold, each product stands alone between two events, and a buffer
/// larger than the L2 cache is written before it. In launches::graph a method that no graph can
/// hold declines. Throws unavailable without a GPU, argument_error where caches are cold and
/// launches not those of a stream.
template <class V>
std::vector<benchmark_result> run_benchmark(gpu on, const csr<V, host_view>& A,
                                            std::span<const benchmark_case<V>> cases,
                                            const measure_options&, caches = caches::hot,
                                            product_kind = {}, launches = launches::stream);

}  // namespace nz
