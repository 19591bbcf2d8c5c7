#include "nonzero/io/picture.hpp"

#include <fmt/core.h>
#include <png.h>

#include <algorithm>
#include <cmath>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/io/atomic_file.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {
namespace {

/// The first row of share g of `rows` rows cut into `cells`, as row * cells / rows numbers them.
std::int64_t first_row(std::int64_t rows, std::int64_t cells, std::int64_t g) {
    return (g * rows + cells - 1) / cells;
}

/// Entries in each cell of a grid over A that is no finer than A.
template <class V>
std::vector<std::int64_t> count_cells(const csr<V, host_view>& A, int width, int height) {
    std::vector<std::int64_t> counts(std::size_t(width) * std::size_t(height), 0);
    parallel_for(thread_count({}), height, 1, [&](std::int64_t g) {
        std::int64_t* const row = counts.data() + g * width;
        for_each_entry(A, first_row(A.shape.rows, height, g),
                       first_row(A.shape.rows, height, g + 1),
                       [&](index, index j, V) { ++row[std::int64_t(j) * width / A.shape.cols]; });
    });
    return counts;
}

float shade(std::int64_t count, std::int64_t most) {
    constexpr double faintest = 0.3;
    if (count == 0) return 0;
    if (most == 1) return 1;
    return float(faintest + (1 - faintest) * std::log(double(count)) / std::log(double(most)));
}

}  // namespace

template <class V>
picture spy(const csr<V, host_view>& A, int width, int height) {
    if (width < 1 || height < 1 || width > max_picture_side || height > max_picture_side)
        throw argument_error(fmt::format("spy: {} x {} pixels, expected 1 to {} a side", width,
                                         height, max_picture_side));
    validate(A, false);  // or a position would lead anywhere
    const std::size_t pixels = std::size_t(width) * std::size_t(height);
    picture p{width, height, std::vector<float>(pixels, 0.0F)};
    if (A.shape.rows == 0 || A.shape.cols == 0) return p;
    const int across = std::min(width, A.shape.cols), down = std::min(height, A.shape.rows);
    const auto counts = count_cells(A, across, down);
    p.most = *std::max_element(counts.begin(), counts.end());
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const std::int64_t cell =
                std::int64_t(y) * down / height * across + std::int64_t(x) * across / width;
            p.density[std::size_t(y) * std::size_t(width) + std::size_t(x)] =
                shade(counts[std::size_t(cell)], p.most);
        }
    return p;
}

picture_size fit(shape of, int width, int height) {
    if (of.rows == 0 || of.cols == 0) return {width, height};
    const double flattest = 1.0 / max_picture_proportion;
    const double across = std::max<double>(of.cols, of.rows * flattest);
    const double down = std::max<double>(of.rows, of.cols * flattest);
    const double scale = std::min(width / across, height / down);
    return {std::clamp(int(std::lround(scale * across)), 1, width),
            std::clamp(int(std::lround(scale * down)), 1, height)};
}

std::string to_png(const picture& p) {
    std::vector<png_byte> grey(p.density.size());
    std::transform(p.density.begin(), p.density.end(), grey.begin(),
                   [](float d) { return png_byte(std::lround(255 * (1 - d))); });
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = png_uint_32(p.width), image.height = png_uint_32(p.height);
    image.format = PNG_FORMAT_GRAY;
    png_alloc_size_t length = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::string bytes(length, '\0');
    if (png_image_write_to_memory(&image, bytes.data(), &length, 0, grey.data(), 0, nullptr) == 0)
        throw error(fmt::format("cannot make a PNG: {}", image.message));
    bytes.resize(length);
    return bytes;
}

void write_png(const std::string& path, const picture& p) {
    atomic_file file(path);
    file.write(to_png(p));
    file.commit();
}

#define NZ_INSTANTIATE(V) template picture spy(const csr<V, host_view>&, int, int);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
