// The traces of all kernels that have one.
#pragma once

#include "nonzero/formats/bsr/bsr_trace.hpp"
#include "nonzero/formats/coo/coo_trace.hpp"
#include "nonzero/formats/csr/csr_adaptive_trace.hpp"
#include "nonzero/formats/csr/csr_merge_trace.hpp"
#include "nonzero/formats/csr/csr_trace.hpp"
#include "nonzero/formats/dia/dia_trace.hpp"
#include "nonzero/formats/ell/ell_trace.hpp"
#include "nonzero/formats/hll/hll_trace.hpp"
#include "nonzero/formats/hyb/hyb_trace.hpp"
#include "nonzero/formats/icrs/icrs_trace.hpp"
#include "nonzero/formats/jds/jds_trace.hpp"
#include "nonzero/formats/jds_ell/jds_ell_trace.hpp"
#include "nonzero/formats/packed/packed_trace.hpp"
#include "nonzero/formats/sell/sell_trace.hpp"
