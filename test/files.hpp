// Files of tests: a folder for those they write, the corpus, and matrices compared.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "nonzero/formats/csr/csr.hpp"

namespace nz::test {

/// A folder of its own, removed with all it holds at the end.
class scratch_folder {
  public:
    scratch_folder() {
        static int count = 0;
        at_ = std::filesystem::temp_directory_path() /
              ("nonzero-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directories(at_);
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() { std::filesystem::remove_all(at_); }
    [[nodiscard]] std::string file(const std::string& name) const { return at_ / name; }
    [[nodiscard]] std::size_t files() const {
        return std::size_t(std::distance(std::filesystem::directory_iterator(at_), {}));
    }

  private:
    std::filesystem::path at_;
};

/// The files in a folder of test/data whose names end so, sorted.
inline std::vector<std::string> files_of(const std::string& folder, const std::string& ending) {
    std::vector<std::string> paths;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(NZ_TEST_DATA) + "/" + folder))
        if (entry.path().string().ends_with(ending)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// Equal bit for bit, and where not, what differs.
template <class V>
::testing::AssertionResult same_matrix(const csr<V, host>& A, const csr<V, host>& B) {
    if (A.shape != B.shape) return ::testing::AssertionFailure() << "the shapes differ";
    if (!(A.row_ptr == B.row_ptr)) return ::testing::AssertionFailure() << "row_ptr differs";
    if (!same_bits<index>(A.col_ind, B.col_ind))
        return ::testing::AssertionFailure() << "col_ind differs";
    if (!same_bits<V>(A.val, B.val)) return ::testing::AssertionFailure() << "val differs";
    return ::testing::AssertionSuccess();
}

}  // namespace nz::test
