#include "nonzero/io/io.hpp"

#include "nonzero/io/matrix_market.hpp"
#include "nonzero/io/npz.hpp"
#include "nonzero/io/petsc.hpp"
#include "nonzero/io/text.hpp"

namespace nz {

std::string_view name(field f) {
    switch (f) {
        case field::real:
            return "real";
        case field::integer:
            return "integer";
        case field::pattern:
            return "pattern";
        case field::complex:
            return "complex";
    }
    return "";
}

std::string_view name(symmetry s) {
    switch (s) {
        case symmetry::general:
            return "general";
        case symmetry::symmetric:
            return "symmetric";
        case symmetry::skew_symmetric:
            return "skew-symmetric";
        case symmetry::hermitian:
            return "hermitian";
    }
    return "";
}

file_info inspect(const std::string& path) {
    if (petsc::is_petsc(path)) return petsc::inspect(path);
    return content_of(path) == content::zip ? npz::inspect(path) : matrix_market::inspect(path);
}

template <class V>
csr<V, host> read(const std::string& path, const read_options& options) {
    if (petsc::is_petsc(path)) return petsc::read<V>(path);
    return content_of(path) == content::zip ? npz::read<V>(path, options)
                                            : matrix_market::read<V>(path, options);
}

template <class V>
void write(const std::string& path, const csr<V, host_view>& A, const write_options& options) {
    if (order_of(A) != row_order::ascending) return write(path, view(canonical(A)), options);
    const bool is_npz = path.ends_with(".npz");
    if (is_npz || path.ends_with(".petsc")) {
        if (options.store != symmetry::general)
            throw argument_error(std::string("write: ") + (is_npz ? ".npz" : ".petsc") +
                                 " stores no symmetry, only .mtx does");
        is_npz ? npz::write(path, A) : petsc::write(path, A);
    } else if (path.ends_with(".mtx") || path.ends_with(".mtx.gz")) {
        matrix_market::write(path, A, options.store, path.ends_with(".gz"));
    } else {
        throw argument_error("write: " + path + " ends in none of .mtx, .mtx.gz, .npz, .petsc");
    }
}

template <class V>
host_vector<V> read_vector(const std::string& path, const read_options& options) {
    if (content_of(path) == content::zip)
        throw parse_error(path, 0, "is an archive, expected a Matrix Market vector");
    return matrix_market::read_vector<V>(path, options);
}

template <class V>
void write_vector(const std::string& path, std::span<const V> x) {
    if (!path.ends_with(".mtx") && !path.ends_with(".mtx.gz"))
        throw argument_error("write_vector: " + path + " ends in none of .mtx, .mtx.gz");
    matrix_market::write_vector(path, x, path.ends_with(".gz"));
}

#define NZ_INSTANTIATE(V)                                                                    \
    template csr<V, host> read(const std::string&, const read_options&);                     \
    template void write(const std::string&, const csr<V, host_view>&, const write_options&); \
    template host_vector<V> read_vector(const std::string&, const read_options&);            \
    template void write_vector(const std::string&, std::span<const V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
