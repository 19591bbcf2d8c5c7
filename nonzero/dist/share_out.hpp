// Rows and columns shared out over ranks, in ranges of equal size or of equal work.
#pragma once

#include "nonzero/core/communicator.hpp"
#include "nonzero/dist/shares.hpp"

namespace nz {

/// n rows in ranges as equal as can be. Throws argument_error where n is negative or parts is not
/// positive.
shares equal_shares(index n, int parts);

/// The rows of a CSR in ranges of about as many entries each. A row counts as an entry more, for
/// its elements of the vectors. `row_ptr`: rows + 1 positions. Throws argument_error as above.
shares balanced_shares(offset_span row_ptr, int parts);

/// Every range from a multiple of `block` on, the one at or before its begin. block: positive.
shares whole_blocks(shares all, index block);

/// Neighbouring ranges joined on the first of their ranks, in `parts` groups of about as many
/// ranks each: `parts` ranks have rows then, the others none. parts: 1 to all.parts().
shares joined_ranges(const shares& all, int parts);

/// Ranges of these lengths, `count` being this rank's. Called by all ranks. Throws argument_error,
/// on all of them, where a count is negative or their sum above 2^31 - 1.
shares gathered_shares(const communicator& ranks, index count);

}  // namespace nz
