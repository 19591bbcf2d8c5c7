// The one list of layouts: what `nz show` shows and the round-trip test gives back iterate it. A
// new layout is its line here.
#pragma once

#include "nonzero/formats/bsr/bsr.hpp"
#include "nonzero/formats/coo/coo.hpp"
#include "nonzero/formats/csc/csc.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/csr/csr_adaptive.hpp"
#include "nonzero/formats/dia/dia.hpp"
#include "nonzero/formats/ell/ell.hpp"
#include "nonzero/formats/hll/hll.hpp"
#include "nonzero/formats/hyb/hyb.hpp"
#include "nonzero/formats/hyb/hyb_host_tail.hpp"
#include "nonzero/formats/icrs/icrs.hpp"
#include "nonzero/formats/jds/jds.hpp"
#include "nonzero/formats/jds_ell/jds_ell.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/formats/sell/sell.hpp"

namespace nz {

/// A layout as a type.
template <template <class, class> class L>
struct layout_tag {
    template <class V, class S>
    using in = L<V, S>;
};

/// f(layout_tag<L>{}, name) for every layout, by name.
template <class F>
void for_each_layout(F f) {
    f(layout_tag<bsr>{}, "bsr");
    f(layout_tag<coo>{}, "coo");
    f(layout_tag<csc>{}, "csc");
    f(layout_tag<csr>{}, "csr");
    f(layout_tag<dia>{}, "dia");
    f(layout_tag<ell>{}, "ell");
    f(layout_tag<hll>{}, "hll");
    f(layout_tag<hll_rows>{}, "hll_rows");
    f(layout_tag<hyb>{}, "hyb");
    f(layout_tag<icrs>{}, "icrs");
    f(layout_tag<jds>{}, "jds");
    f(layout_tag<jds_ell>{}, "jds_ell");
    f(layout_tag<jds_transposed>{}, "jds_transposed");
    f(layout_tag<packed>{}, "packed");
    f(layout_tag<sell>{}, "sell");
}

}  // namespace nz
