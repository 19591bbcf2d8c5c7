// One method on one matrix with one number of threads: set up, timed and checked.
#pragma once

#include "nonzero/formats/oracle.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/plan/measure.hpp"

namespace nz {

/// Who takes part: a method of the registry or a peer, and on how many threads.
template <class V>
struct contender {
    const method<V>* m;
    int threads;
    bool peer = false;
};

struct trial {
    std::string method;
    int threads = 1;
    bool peer = false;
    std::string declined = {};   ///< why nothing below was measured; empty where it was
    double setup_s = 0;          ///< building the layout from CSR                         [s]
    double matrix_bytes = 0;     ///< of the arrays built                              [bytes]
    double vector_bytes = 0;     ///< x read once and y written once                   [bytes]
    timing time = {};            ///< of one product, y = A x
    agreement error = {};        ///< of y against the oracle
    double serial_l2 = 0;        ///< norm of y - csr.serial's y
    double serial_l2_bound = 0;  ///< of that norm, where both keep the componentwise bound

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

/// True for the methods that run on one thread whatever they are given: `layout.serial` and
/// variants such as `layout.column_serial`.
bool is_serial(std::string_view method_name);

/// Every method with every number of threads; serial ones once, with one thread.
template <class V>
std::vector<contender<V>> contenders(std::span<const method<V>* const> methods,
                                     std::span<const int> threads, bool peers = false);

/// Sets up, checks and times all contenders on A, in groups whose layouts fit memory together and
/// whose blocks take turns. One trial a contender, in order; those that an interruption left out
/// have no blocks. A method that is out of memory declines.
template <class V>
std::vector<trial> run_trials(const csr<V, host_view>& A, std::span<const contender<V>> contenders,
                              const measure_options&);

}  // namespace nz
