// AOCL-Sparse, AMD's library, from the wheel of PyPI's `aoclda`, which has it without a header: the
// few functions that a product takes are declared here as its reference manual has them.
#include <dlfcn.h>

#include "bench/peers/peers.hpp"
#include "nonzero/core/threads.hpp"

namespace nz::peers {
namespace {

using status = int;
using handle = void*;
constexpr int zero_based = 0, plain = 111;
constexpr int many_products = 1000000;

template <class V>
using create_csr = status (*)(handle*, int base, std::int32_t rows, std::int32_t cols,
                              std::int32_t nnz, std::int32_t* ptr, std::int32_t* col, V* val);
template <class V>
using multiply_by = status (*)(int operation, const V* alpha, handle A, handle description,
                               const V* x, const V* beta, V* y);

/// Its functions. It runs on LLVM's OpenMP, whose functions have the names of GNU's, which we run
/// on: the library is loaded so that each finds its own.
struct library {
    library() : at(dlopen(NZ_AOCL_SPARSE, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) {
        if (at == nullptr) throw unavailable(std::string("aocl: ") + dlerror());
        find("aoclsparse_create_mat_descr", create_description);
        find("aoclsparse_destroy_mat_descr", destroy_description);
        find("aoclsparse_set_mv_hint", set_hint);
        find("aoclsparse_optimize", optimize);
        find("aoclsparse_destroy", destroy);
        find("aoclsparse_get_version", version);
        find("omp_set_num_threads", set_threads);
        // Threads that wait longer would take the cores from the products of others; those that
        // wait less must be woken for each product, a third of its time (ratings_small, EPYC).
        void (*set_blocktime)(int ms) = nullptr;
        find("kmp_set_blocktime", set_blocktime);
        set_blocktime(1);
    }

    template <class F>
    void find(const char* name, F& f) const {
        f = reinterpret_cast<F>(dlsym(at, name));
        if (f == nullptr) throw unavailable(std::string("aocl: no ") + name);
    }

    void* at;
    status (*create_description)(handle*) = nullptr;
    status (*destroy_description)(handle) = nullptr;
    status (*set_hint)(handle A, int operation, handle description, std::int32_t calls) = nullptr;
    status (*optimize)(handle) = nullptr;
    status (*destroy)(handle*) = nullptr;
    const char* (*version)() = nullptr;
    void (*set_threads)(int) = nullptr;
};

const library& aocl() {
    static const library loaded;
    return loaded;
}

void check(status s, const char* what) {
    if (s != 0) throw device_error(std::string(what) + ": status " + std::to_string(s));
}

template <class V>
class aocl_operator final : public plain_operator<V> {
  public:
    aocl_operator(cpu on, const csr<V, host_view>& A)
        : plain_operator<V>(A), threads_(thread_count(on)) {
        create_csr<V> create = nullptr;
        constexpr bool in_double = std::is_same_v<V, double>;
        aocl().find(in_double ? "aoclsparse_create_dcsr" : "aoclsparse_create_scsr", create);
        aocl().find(in_double ? "aoclsparse_dmv" : "aoclsparse_smv", multiply_by_);
        aocl().set_threads(threads_);
        check(aocl().create_description(&description_), "aoclsparse_create_mat_descr");
        // The handle borrows and does not write, though its arguments are not const.
        check(create(&handle_, zero_based, A.shape.rows, A.shape.cols, std::int32_t(A.val.size()),
                     const_cast<std::int32_t*>(narrow_row_ptr(A)),
                     const_cast<index*>(A.col_ind.data()), const_cast<V*>(A.val.data())),
              "aoclsparse_create_csr");
        check(aocl().set_hint(handle_, plain, description_, many_products),
              "aoclsparse_set_mv_hint");
        check(aocl().optimize(handle_), "aoclsparse_optimize");
    }
    ~aocl_operator() override {
        aocl().destroy(&handle_);
        aocl().destroy_description(description_);
    }
    aocl_operator(const aocl_operator&) = delete;
    aocl_operator& operator=(const aocl_operator&) = delete;

  protected:
    void multiply(V alpha, std::span<const V> x, V beta, std::span<V> y) const override {
        aocl().set_threads(threads_);
        check(multiply_by_(plain, &alpha, handle_, description_, x.data(), &beta, y.data()),
              "aoclsparse_mv");
    }

  private:
    int threads_;
    handle handle_ = nullptr, description_ = nullptr;
    multiply_by<V> multiply_by_ = nullptr;
};

template <class V>
std::unique_ptr<linear_operator<V, cpu>> build(cpu on, const csr<V, host_view>& A) {
    return std::make_unique<aocl_operator<V>>(on, A);
}

}  // namespace

template <class V>
method<V> aocl_csr() {
    method<V> m = peer_row<V>("aocl.csr", "AOCL-Sparse, optimised for many products", build<V>);
    m.cost = [](const matrix_stats& s) -> estimate {
        if (s.nnz == 0) return {.declined = "AOCL-Sparse takes no matrix without entries"};
        return narrow_csr_cost<V>(s);
    };
    return m;
}

std::string aocl_version() { return aocl().version(); }

template method<float> aocl_csr();
template method<double> aocl_csr();

}  // namespace nz::peers
