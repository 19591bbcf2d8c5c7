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

/// `build` makes the layout of a CSR.
template <class V, class Build>
auto explore_layout(const csr<V, host_view>& A, const csr<V, host>& numbers, Build build) {
    auto own = build(A);
    const auto of_numbers = build(view(numbers));
    auto arrays = drawings_of(view(own), view(of_numbers));
    return explored_layout<decltype(own)>{std::move(own), std::move(arrays)};
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
        const auto attempt = [&](auto add_one) {
            try {
                add_one();
            } catch (const argument_error& e) {
                why = e.what();
            }
        };
        // Kernels of one format differ in their layouts' parameters: one may decline alone.
        all_kernels::for_each([&]<class K>() {
            if constexpr (draws<K, L>()) attempt([&] { add_kernel<K>(tag, format); });
        });
        if (layouts.size() == before && why.empty())
            attempt([&] {
                const auto build = [&](const auto& B) { return built<V>(tag, B, o_); };
                (void)number_of(layout_json(format, explore_layout(A_, numbers_, build), A_),
                                layouts);
            });
        if (layouts.size() == before) declined.push_back({{"format", format}, {"why", why}});
    }

    json layouts = json::array(), kernels = json::array(), declined = json::array();

  private:
    /// Whether the kernel is one over that layout, and has a trace.
    template <class K, template <class, class> class L>
    static constexpr bool draws() {
        if constexpr (std::floating_point<V> &&
                      std::is_same_v<typename K::template layout<V, host>, L<V, host>>) {
            return traced<K, V>;
        } else {
            return false;
        }
    }

    template <class K, template <class, class> class L>
    void add_kernel(layout_tag<L> tag, const std::string& format) {
        const auto build = [&](const csr<V, host_view>& B) -> L<V, host> {
            if (is_given(format, o_)) return built<V>(tag, B, o_);
            if constexpr (requires { traced_layout(K{}, B); }) {
                return traced_layout(K{}, B);
            } else {
                return layout_from<K, V>()(B);
            }
        };
        const auto e = explore_layout(A_, numbers_, build);
        json j = kernel_json(K::name, view(e.own), e.arrays, entries_);
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
json explored(const std::string& name, const csr<V, host_view>& A, const layout_options& o,
              const std::string& format) {
    explorer<V> e(A, o);
    for_each_layout([&](auto tag, const char* layout) { e.add(tag, layout); });
    return {{"matrix",
             {{"name", name},
              {"rows", A.shape.rows},
              {"cols", A.shape.cols},
              {"entries", entries_json(A)}}},
            {"first", format.empty() ? "csr" : format},
            {"layouts", std::move(e.layouts)},
            {"kernels", std::move(e.kernels)},
            {"declined", std::move(e.declined)}};
}

template json explored(const std::string&, const csr<double, host_view>&, const layout_options&,
                       const std::string&);
template json explored(const std::string&, const csr<std::complex<double>, host_view>&,
                       const layout_options&, const std::string&);

}  // namespace nz::cli
