#include "cli/explorer/explorer.hpp"

#include <complex>

#include "cli/explorer/packed_cells.hpp"
#include "cli/explorer/places.hpp"
#include "cli/explorer/steps.hpp"
#include "nonzero/formats/kernel_operator.hpp"
#include "nonzero/formats/kernels.hpp"
#include "nonzero/formats/traces.hpp"

namespace nz::cli {
namespace {

template <class F>
json scalars_json(const F& A) {
    json all = json::array();
    if constexpr (requires { F::scalar_names; }) {
        std::size_t k = 0;
        const auto add = [&](const auto& scalar) {
            if (k > 0) all.push_back(json::array({F::scalar_names[k], text(scalar)}));
            ++k;
        };
        std::apply([&](const auto&... scalar) { (add(scalar), ...); }, F::scalars(A));
    }
    return all;
}

json array_json(const drawing& d) {
    const bool holds_values = d.holds_values || d.name == "val" || d.name == "table";
    const std::string role = holds_values                                      ? "values"
                             : d.name.ends_with("_ind") || d.name == "indices" ? "columns"
                                                                               : "structure";
    json j = {{"name", d.name}, {"role", role}, {"bytes", d.element_bytes}, {"cells", d.cells}};
    if (d.holds_values || !d.entries.empty()) j["entries"] = d.entries;
    return j;
}

/// Of every entry the elements that say where it is, as pairs of an array's name and a number.
template <class V, class F>
json places_json(const F& M, const csr<V, host_view>& A, const std::vector<drawing>& arrays) {
    json all = json::array();
    for_each_entry(A, 0, piece_count(A), [&](index i, index j, V) {
        std::int64_t at = 0;
        for (const drawing& d : arrays) {
            const auto here = std::find(d.entries.begin(), d.entries.end(), int(all.size()));
            if (d.holds_values && here != d.entries.end()) at = here - d.entries.begin();
        }
        json of_entry = json::array();
        for (const place& p : places_of(M, i, j, at))
            of_entry.push_back(json::array({p.array, p.element}));
        all.push_back(std::move(of_entry));
    });
    return all;
}

/// A layout of A, with the drawings that its kernels' steps are told in.
template <class F>
struct explored_layout {
    F own;
    std::vector<drawing> arrays;
};

/// `of_numbers` is the layout of the same matrix with the values 1, 2, 3 ...
template <class F>
explored_layout<F> explore_layout(F own, const F& of_numbers) {
    auto arrays = drawings_of(view(own), view(of_numbers));
    return {std::move(own), std::move(arrays)};
}

template <class V, class F>
json layout_json(const std::string& format, const explored_layout<F>& e,
                 const csr<V, host_view>& A) {
    json arrays = json::array();
    for (const drawing& d : e.arrays) arrays.push_back(array_json(d));
    return {{"format", format},
            {"scalars", scalars_json(view(e.own))},
            {"bytes", bytes(e.own)},
            {"arrays", std::move(arrays)},
            {"places", places_json(view(e.own), A, e.arrays)}};
}

/// The number of that layout in the list, where it is put if it is new: kernels share layouts.
std::size_t number_of(json layout, json& layouts) {
    const auto same = std::find(layouts.begin(), layouts.end(), layout);
    const auto number = std::size_t(same - layouts.begin());
    if (same == layouts.end()) layouts.push_back(std::move(layout));
    return number;
}

template <class V>
class explorer {
  public:
    explorer(const csr<V, host_view>& A, const layout_options& o)
        : A_(A), o_(o), numbers_(numbered(A)), entries_(A) {}

    /// A layout and all kernels over it; or why there is none.
    template <template <class, class> class L>
    void add(layout_tag<L> tag, const std::string& format) {
        const std::size_t before = layouts.size();
        std::string why;
        const auto attempt = [&](const auto& add_one) {
            try {
                add_one();
            } catch (const argument_error& e) {
                why = e.what();
            }
        };
        // Kernels of one format differ in their layouts' parameters: one may decline alone.
        if constexpr (std::floating_point<V>)
            for (const drawn_kernel<L>& k : drawn_kernels<L>())
                attempt([&] { add_kernel(k, tag, format); });
        if (layouts.size() == before && why.empty())
            attempt([&] {
                const auto e =
                    explore_layout(built<V>(tag, A_, o_), built<V>(tag, view(numbers_), o_));
                (void)number_of(layout_json(format, e, A_), layouts);
            });
        if (layouts.size() == before) declined.push_back({{"format", format}, {"why", why}});
    }

    json layouts = json::array(), kernels = json::array(), declined = json::array();

  private:
    /// A kernel with a trace over L, and the function that makes its layout.
    template <template <class, class> class L>
    struct drawn_kernel {
        std::string_view name;
        L<V, host> (*from)(const csr<V, host_view>&);
    };

    template <template <class, class> class L>
    static std::vector<drawn_kernel<L>> drawn_kernels() {
        std::vector<drawn_kernel<L>> all;
        all_kernels::for_each([&]<class K>() {
            if constexpr (std::is_same_v<typename K::template layout<V, host>, L<V, host>>)
                if constexpr (traced<K, V>) all.push_back({K::name, traced_from<K>()});
        });
        return all;
    }

    template <class K>
    static constexpr auto traced_from() {
        if constexpr (requires(const csr<V, host_view>& A) { traced_layout(K{}, A); }) {
            return [](const csr<V, host_view>& A) { return traced_layout(K{}, A); };
        } else {
            return layout_from<K, V>();
        }
    }

    template <template <class, class> class L>
    void add_kernel(const drawn_kernel<L>& k, layout_tag<L> tag, const std::string& format) {
        const auto build = [&](const csr<V, host_view>& B) {
            return is_given(format, o_) ? built<V>(tag, B, o_) : k.from(B);
        };
        const auto e = explore_layout(build(A_), build(view(numbers_)));
        json j = kernel_json(k.name, view(e.own), e.arrays, entries_);
        j["layout"] = number_of(layout_json(format, e, A_), layouts);
        kernels.push_back(std::move(j));
    }

    const csr<V, host_view>& A_;
    const layout_options& o_;
    csr<V, host> numbers_;
    entry_finder entries_;
};

template <class V>
json entries_json(const csr<V, host_view>& A) {
    json all = json::array();
    for_each_entry(A, 0, piece_count(A), [&](index i, index j, V v) {
        if constexpr (is_complex<V>) {
            all.push_back(json::array({i, j, text(v)}));
        } else {
            all.push_back(json::array({i, j, v}));
        }
    });
    return all;
}

}  // namespace

template <class V>
json matrix_json(const std::string& name, const csr<V, host_view>& A) {
    return {{"name", name},
            {"rows", A.shape.rows},
            {"cols", A.shape.cols},
            {"entries", entries_json(A)}};
}

std::string why_too_large(nz::shape shape, std::int64_t entries) {
    constexpr std::int64_t most_side = 64, most_entries = 400;
    if (shape.rows <= most_side && shape.cols <= most_side && entries <= most_entries) return {};
    return fmt::format("{} with {} entries is too large to show; up to {} x {} with {} are",
                       text(shape), entries, most_side, most_side, most_entries);
}

template <class V>
json explored(const std::string& name, const csr<V, host_view>& A, const layout_options& o) {
    explorer<V> e(A, o);
    for_each_layout([&](auto tag, const char* layout) { e.add(tag, layout); });
    return {{"matrix", matrix_json(name, A)},
            {"layouts", std::move(e.layouts)},
            {"kernels", std::move(e.kernels)},
            {"declined", std::move(e.declined)}};
}

#define NZ_INSTANTIATE(V)                                                    \
    template json matrix_json(const std::string&, const csr<V, host_view>&); \
    template json explored(const std::string&, const csr<V, host_view>&, const layout_options&);
NZ_INSTANTIATE(double)
NZ_INSTANTIATE(std::complex<double>)

}  // namespace nz::cli
