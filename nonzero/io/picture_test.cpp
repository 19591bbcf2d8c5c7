#include "nonzero/io/picture.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <filesystem>

#include "test/zoo.hpp"

namespace nz {
namespace {

TEST(spy, draws_small_matrices_entry_by_entry) {
    const csr<double, host> A{{2, 3}, {0, 2, 3}, {0, 2, 1}, {1, 2, 3}};
    const picture p = spy(view(A), 6, 4);
    EXPECT_EQ(p.most, 1);
    const std::vector<float> want{1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1,
                                  0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0};
    EXPECT_EQ(p.density, want);
}

TEST(spy, shows_how_many_share_a_pixel) {
    // Pixels of 2 x 2 entries: 4, 0; 1, 2.
    const auto A = test::from_rule<float>(
        4, 4, [](index i, index j, double) { return (i < 2 && j < 2) || (i == 3 && j != 1); });
    const picture p = spy(view(A), 2, 2);
    EXPECT_EQ(p.most, 4);
    EXPECT_FLOAT_EQ(p.at(0, 0), 1);
    EXPECT_FLOAT_EQ(p.at(1, 0), 0);
    EXPECT_FLOAT_EQ(p.at(0, 1), 0.3F);
    EXPECT_FLOAT_EQ(p.at(1, 1), 0.65F);
}

/// Every entry lies in the pixel that its row and column say, for sizes that do not divide.
TEST(spy, puts_entries_where_they_belong) {
    for (const auto& [name, bug, own] : test::zoo<double>()) {
        const auto A = view(own);
        for (const picture_size size : {picture_size{1, 1}, {7, 5}, {13, 64}}) {
            const int width = size.width, height = size.height;
            const picture p = spy(A, width, height);
            std::vector<bool> want(p.density.size(), false);
            const int across = std::min(width, A.shape.cols), down = std::min(height, A.shape.rows);
            for_each_entry(A, 0, A.shape.rows, [&](index i, index j, double) {
                const auto gx = std::int64_t(j) * across / A.shape.cols;
                const auto gy = std::int64_t(i) * down / A.shape.rows;
                for (int y = 0; y < height; ++y)
                    for (int x = 0; x < width; ++x)
                        if (x * across / width == gx && y * down / height == gy)
                            want[std::size_t(y * width + x)] = true;
            });
            for (std::size_t k = 0; k < want.size(); ++k)
                ASSERT_EQ(p.density[k] > 0, want[k]) << name << ", pixel " << k;
        }
    }
}

TEST(spy, refuses_sizes_that_are_none) {
    const csr<double, host> A{{1, 1}, {0, 1}, {0}, {1}};
    EXPECT_THROW(spy(view(A), 0, 5), argument_error);
    EXPECT_THROW(spy(view(A), 5, 1 << 20), argument_error);
}

TEST(fit, keeps_the_proportions) {
    EXPECT_EQ(fit({100, 200}, 80, 80).width, 80);
    EXPECT_EQ(fit({100, 200}, 80, 80).height, 40);
    EXPECT_EQ(fit({200, 100}, 50, 80).width, 40);
    EXPECT_EQ(fit({1, 1000000}, 80, 80).height, 20);
    EXPECT_EQ(fit({1000000, 1}, 80, 80).width, 20);
    EXPECT_EQ(fit({1, 1000000}, 2, 2).height, 1);
    EXPECT_EQ(fit({0, 7}, 80, 60).height, 60);
}

TEST(write_png, writes_what_libpng_reads) {
    const auto path = std::filesystem::path(testing::TempDir()) / "nz_picture_test.png";
    const picture p{3, 1, {0, 0.5F, 1}, 2};
    write_png(path, p);
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    ASSERT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0);
    ASSERT_EQ(image.width, 3U);
    ASSERT_EQ(image.height, 1U);
    image.format = PNG_FORMAT_GRAY;
    std::vector<png_byte> grey(3);
    ASSERT_NE(png_image_finish_read(&image, nullptr, grey.data(), 0, nullptr), 0);
    EXPECT_EQ(grey, (std::vector<png_byte>{255, 128, 0}));
    std::filesystem::remove(path);
}

TEST(write_png, leaves_nothing_where_it_fails) {
    const picture p{1, 1, {1}, 1};
    EXPECT_THROW(write_png("/nonexistent/a.png", p), error);
    const auto taken = std::filesystem::path(testing::TempDir()) / "nz_picture_test_directory";
    std::filesystem::create_directories(taken / "full");
    EXPECT_THROW(write_png(taken, p), error);
    for (const auto& entry : std::filesystem::directory_iterator(testing::TempDir()))
        EXPECT_EQ(entry.path().string().find("nz_picture_test_directory."), std::string::npos);
    std::filesystem::remove_all(taken);
}

}  // namespace
}  // namespace nz
