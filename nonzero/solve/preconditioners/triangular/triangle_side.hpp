#pragma once

namespace nz {

/// Whether the rows of a triangular matrix wait for those before them or for those behind.
enum class triangle_side { lower, upper };

}  // namespace nz
