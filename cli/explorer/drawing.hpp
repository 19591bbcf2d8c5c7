// The arrays of a layout, cell by cell, as nz show draws them.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "nonzero/formats/layouts.hpp"

namespace nz::cli {

inline std::string text(const nz::shape& s) { return fmt::format("{} x {}", s.rows, s.cols); }
template <class T>
std::string text(const T& v) {
    if constexpr (is_complex<T>) {
        return fmt::format("{}{:+}i", v.real(), v.imag());
    } else if constexpr (std::is_unsigned_v<T>) {  // yes or no an element, the first one left
        std::string bits;
        for (int k = 0; k < std::numeric_limits<T>::digits; ++k)
            bits += (v >> k & 1U) != 0 ? '1' : '.';
        return bits;
    } else {
        return fmt::format("{}", v);
    }
}

inline constexpr int no_entry = -1;

/// One array: a cell an element, "*" for padding, "" for what stands there for alignment only.
struct drawing {
    std::string name;
    std::vector<std::string> cells;
    bool holds_values = false, holds_bits = false;
    int element_bytes = 0;
    std::vector<int> entries = {};  ///< which entry of the CSR a cell is of; empty: of none
};

/// A's structure with the values 1, 2, 3 ...
template <class V>
csr<V, host> numbered(const csr<V, host_view>& A) {
    auto numbers = csr<V, host>::from(A);
    for (std::size_t k = 0; k < numbers.val.size(); ++k) numbers.val[k] = V(real<V>(k + 1));
    return numbers;
}

/// The column or row numbers stand before the values, element for element: "*" is theirs too.
inline void give_entries_to_indices(std::vector<drawing>& all) {
    for (std::size_t k = 1; k < all.size(); ++k) {
        if (!all[k].holds_values) continue;
        for (std::size_t i = k; i-- > 0 && all[i].name.ends_with("_ind") &&
                                all[i].cells.size() == all[k].cells.size();) {
            all[i].entries = all[k].entries;
            for (std::size_t e = 0; e < all[i].cells.size(); ++e)
                if (all[i].entries[e] == no_entry) all[i].cells[e] = "*";
        }
    }
}

/// Leaves out what is stored for alignment only: what lies between the last row and the pitch,
/// and the bits beyond a word's elements.
template <class F>
void hide_alignment(const F& A, std::vector<drawing>& all) {
    for (auto& d : all) {
        for (std::size_t k = 0; k < d.cells.size(); ++k) {
            if constexpr (requires { A.block_rows; }) {
                if (d.name == "stored") d.cells[k].resize(std::size_t(A.block_rows * A.block_cols));
            } else if constexpr (requires { A.pitch; }) {
                const std::int64_t rows_left = A.shape.rows - std::int64_t(k) * 32 % A.pitch;
                if (d.name == "stored") {
                    d.cells[k].resize(std::size_t(std::clamp<std::int64_t>(rows_left, 0, 32)));
                } else if (d.name != "offsets" && std::int64_t(k) % A.pitch >= A.shape.rows) {
                    d.cells[k].clear();
                }
            }
        }
    }
}

/// An array of a layout whose values are V; `numbers` are its elements where the values are 1, 2,
/// 3 ...
template <class V, class Array>
drawing drawn(const char* name, const Array& array, const Array& numbers) {
    using T = std::decay_t<decltype(array[0])>;
    constexpr bool holds_values = std::is_same_v<T, V>;
    drawing d{name, {}, holds_values, std::is_unsigned_v<T>};
    std::size_t all = array.size() * sizeof(T);
    if constexpr (requires { array.size_bytes(); }) all = array.size_bytes();
    d.element_bytes = int(all / std::max<std::size_t>(array.size(), 1));
    for (std::size_t k = 0; k < array.size(); ++k) {
        d.cells.push_back(text(array[k]));
        if constexpr (holds_values) {
            d.entries.push_back(int(std::lround(std::abs(numbers[k]))) - 1);
            if (d.entries.back() == no_entry) d.cells.back() = "*";
        }
    }
    return d;
}

/// The arrays of A. `numbers` is the same matrix with the values 1, 2, 3 ...: where its layout
/// holds none of them there is no entry but padding, whatever the layout marks it with.
template <class F>
std::vector<drawing> drawings_of(const F& A, const F& numbers) {
    std::vector<drawing> all;
    [&]<class... T>(const std::tuple<T&...>& arrays, const auto& of_numbers) {
        const auto draw = [&]<std::size_t... k>(std::index_sequence<k...>) {
            (all.push_back(drawn<typename F::value>(F::array_names[k], std::get<k>(arrays),
                                                    std::get<k>(of_numbers))),
             ...);
        };
        draw(std::index_sequence_for<T...>());
    }(F::arrays(A), F::arrays(numbers));
    give_entries_to_indices(all);
    hide_alignment(A, all);
    return all;
}

}  // namespace nz::cli
