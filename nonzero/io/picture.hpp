// The sparsity picture: where a matrix has entries, and how densely.
#pragma once

#include <string>
#include <vector>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

struct picture {
    int width = 0, height = 0;   ///< [pixels]
    std::vector<float> density;  ///< height * width, row-major; 0 where there is no entry, up to 1
    std::int64_t most = 0;       ///< entries in the fullest pixel
    [[nodiscard]] float at(int x, int y) const {
        return density[std::size_t(y) * std::size_t(width) + std::size_t(x)];
    }
};

inline constexpr int max_picture_side = 16384;  ///< [pixels]

/// A seen from above, row 0 on top. Where entries share a pixel their number n shows on a
/// logarithmic scale, from 0.3 for a single one, so that it stays visible, to 1 for the most that
/// share one. A matrix smaller than the picture gets several pixels an entry. O(nnz), parallel.
/// Throws argument_error unless width and height are 1 to max_picture_side.
template <class V>
picture spy(const csr<V, host_view>& A, int width, int height);

/// Flatter and narrower pictures show nothing: 507 x 63,009 would be 6 pixels high at 800.
inline constexpr int max_picture_proportion = 4;

/// The sizes of the largest picture within width x height pixels, 1 or more, that has the matrix'
/// proportions, or the nearest that max_picture_proportion allows.
struct picture_size {
    int width, height;
};
picture_size fit(shape, int width, int height);

/// The bytes of a PNG file: shades of grey, the densest black on white. Throws error where libpng
/// does.
std::string to_png(const picture&);
/// Writes them. The file appears under its name when it is complete. Throws error where the file
/// system refuses.
void write_png(const std::string& path, const picture&);

}  // namespace nz
