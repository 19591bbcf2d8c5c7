#include "nonzero/formats/registry.hpp"

#include "nonzero/formats/layouts.hpp"
#include "nonzero/formats/method_row.hpp"

namespace nz {

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
    template std::span<const method<V>> methods(); \
    template const method<V>& find_method(std::string_view);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
