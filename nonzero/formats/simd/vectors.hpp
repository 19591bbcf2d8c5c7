// Vectors of eight elements, a sum each of a row or of a chunk. The verbs are the same for each
// instruction set: load, store, spread; products and sums are the compiler's operators. `lanes` is
// the set of NZ_LANES: loops by its verbs alone serve AVX2 and NEON.
#pragma once

#include "nonzero/formats/simd/targets.hpp"

#if defined(NZ_AVX2)
#include "nonzero/formats/simd/avx2.hpp"
#include "nonzero/formats/simd/avx512.hpp"
namespace nz {
namespace lanes = avx2;
}
#elif defined(NZ_NEON)
#include "nonzero/formats/simd/neon.hpp"
namespace nz {
namespace lanes = neon;
}
#endif
