// Every layout x value type x matrix of the zoo: what is built stands for the same matrix, bit for
// bit, takes the bytes that its cost told, and is refused exactly where its cost declines.
#include <gtest/gtest.h>

#include <cstring>

#include "nonzero/formats/bsr/bsr.hpp"
#include "nonzero/formats/coo/coo.hpp"
#include "nonzero/formats/csc/csc.hpp"
#include "nonzero/formats/dia/dia.hpp"
#include "nonzero/formats/hll/hll.hpp"
#include "nonzero/formats/hyb/hyb.hpp"
#include "nonzero/formats/icrs/icrs.hpp"
#include "nonzero/formats/jds/jds.hpp"
#include "nonzero/formats/jds_ell/jds_ell.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/formats/sell/sell.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <template <class, class> class L>
struct layout {
    template <class V>
    using of = L<V, host>;
};

// A new layout is tested by its line here.
using layouts = ::testing::Types<  //
    layout<bsr>,                   //
    layout<coo>,                   //
    layout<csc>,                   //
    layout<csr>,                   //
    layout<dia>,                   //
    layout<ell>,                   //
    layout<hll>,                   //
    layout<hll_rows>,              //
    layout<hyb>,                   //
    layout<icrs>,                  //
    layout<jds>,                   //
    layout<jds_ell>,               //
    layout<jds_transposed>,        //
    layout<packed>,                //
    layout<sell>>;

template <class L>
class roundtrip : public ::testing::Test {};
TYPED_TEST_SUITE(roundtrip, layouts);

template <class V>
bool same_bits(const csr<V, host>& a, const csr<V, host>& b) {
    return a.shape == b.shape && a.row_ptr == b.row_ptr && a.col_ind == b.col_ind &&
           a.val.size() == b.val.size() &&
           (a.val.empty() ||
            std::memcmp(a.val.data(), b.val.data(), a.val.size() * sizeof(V)) == 0);
}

/// How many matrices of the zoo the layout F took.
template <class F>
int meet_the_zoo() {
    using V = typename F::value;
    int taken = 0;
    for (const auto& [name, bug, own] : zoo<V>()) {
        SCOPED_TRACE("'" + name + "' (" + bug + ") of " + std::string(value_name<V>()));
        const auto A = view(own);
        const estimate cost = F::cost(compute_stats(A));
        if (!cost.declined.empty()) {
            EXPECT_THROW((void)F::from(A), argument_error) << "declined as " << cost.declined;
            continue;
        }
        const F built = F::from(A);
        EXPECT_TRUE(same_bits(to_csr(view(built)), own));
        // The cost speaks of positions as narrow as they can be.
        if (!A.row_ptr.wide()) {
            EXPECT_EQ(double(bytes(built)), cost.matrix_bytes);
        }
        ++taken;
    }
    return taken;
}

TYPED_TEST(roundtrip, gives_back_every_matrix_of_the_zoo) {
#define NZ_MEET(V) EXPECT_GT(meet_the_zoo<typename TypeParam::template of<V>>(), 0);
    NZ_FOR_EACH_VALUE(NZ_MEET)
#undef NZ_MEET
}

}  // namespace
}  // namespace nz::test
