#include "nonzero/io/npz.hpp"

namespace nz::npz {

file_info inspect(const std::string& path) { throw parse_error(path, 0, "npz is not read yet"); }

template <class V>
csr<V, host> read(const std::string& path, const read_options&) {
    throw parse_error(path, 0, "npz is not read yet");
}

template <class V>
void write(const std::string& path, const csr<V, host_view>&) {
    throw error(path + ": npz is not written yet");
}

#define NZ_INSTANTIATE(V)                                                \
    template csr<V, host> read(const std::string&, const read_options&); \
    template void write(const std::string&, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::npz
