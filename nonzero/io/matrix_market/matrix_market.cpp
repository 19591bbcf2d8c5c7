#include "nonzero/io/matrix_market/matrix_market.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/assembler.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/io/body_reader.hpp"
#include "nonzero/io/matrix_market/matrix_market_lines.hpp"
#include "nonzero/matrix/mirror.hpp"

namespace nz::matrix_market {
namespace {

/// The lines of the body, as body_reader wants them described.
template <class V>
struct line_grammar {
    using parsed = matrix_market::parsed<V>;
    const header& h;

    [[nodiscard]] std::int64_t entries() const { return h.entries; }
    void parse(std::span<const char> text, parsed& to) const { parse_lines(h, text, to); }
    [[nodiscard]] std::string diagnose(std::string_view line) const {
        return matrix_market::diagnose<V>(h, line);
    }
    [[nodiscard]] const char* entry_start(std::span<const char> text, std::int64_t before) const {
        return matrix_market::entry_start(text, before);
    }
};
template <class V>
using matrix_body = body_reader<line_grammar<V>>;

template <class V>
void expect_type(const std::string& path, const header& h) {
    if (h.field == field::complex && !is_complex<V>)
        throw parse_error(
            path, 1,
            fmt::format("complex values, expected real ones to read as {}", value_name<V>()));
}

/// Which element the entries of an array are, in the file's order, from the first-th on.
class array_walk {
  public:
    array_walk(const header& h, std::int64_t first) : h_(h) {
        NZ_ASSERT(first < h.entries);
        if (h.symmetry == symmetry::general) {
            i_ = first % h.rows, j_ = first / h.rows;
            return;
        }
        for (i_ = top(0); first >= h.rows - i_; i_ = top(++j_)) first -= h.rows - i_;
        i_ += first;
    }
    [[nodiscard]] index row() const { return index(i_); }
    [[nodiscard]] index col() const { return index(j_); }
    void advance() {
        if (++i_ == h_.rows) i_ = top(++j_);
    }

  private:
    /// The first row that column j lists.
    [[nodiscard]] std::int64_t top(std::int64_t j) const {
        if (h_.symmetry == symmetry::general) return 0;
        return h_.symmetry == symmetry::skew_symmetric ? j + 1 : j;
    }
    const header& h_;
    std::int64_t i_ = 0, j_ = 0;
};

template <class V>
csr<V, host> read_coordinates(matrix_body<V>& body, const header& h, int threads) {
    const bool general = h.symmetry == symmetry::general;
    assembler<V> to({index(h.rows), index(h.cols)}, general ? h.entries : 2 * h.entries);
    body.read([&](std::int64_t number, const parsed<V>& p) {
        const auto used = [&](const auto& v) {
            return std::span(v).first(std::min(v.size(), p.size));
        };
        to.add(number, used(p.row), used(p.col), used(p.val));
    });
    return to.finish(threads);
}

/// The values of an array, piece by piece.
template <class V>
std::map<std::int64_t, host_vector<V>> read_values(matrix_body<V>& body) {
    std::map<std::int64_t, host_vector<V>> pieces;
    std::mutex mutex;
    body.read([&](std::int64_t number, const parsed<V>& p) {
        host_vector<V> values(p.val.begin(), p.val.begin() + std::ptrdiff_t(p.size));
        const std::lock_guard lock(mutex);
        pieces.emplace(number, std::move(values));
    });
    return pieces;
}

template <class V>
csr<V, host> read_array(matrix_body<V>& body, const header& h, int threads) {
    assembler<V> to({index(h.rows), index(h.cols)}, h.entries);
    std::int64_t before = 0;
    for (auto& [number, values] : read_values(body)) {
        body_part<V> part{{}, {}, std::move(values), 0, false};
        const auto count = std::int64_t(part.val.size());
        place_array(h, before, part);
        before += count;
        if (!part.row.empty()) to.add(number, part.row, part.col, part.val);
    }
    return to.finish(threads);
}

}  // namespace

file_info inspect(const std::string& path) {
    const header h = read_header(path);
    return {"matrix market", {index(h.rows), index(h.cols)}, h.entries, h.field, h.symmetry,
            h.dense};
}

template <class V>
csr<V, host> read(const std::string& path, const read_options& options, std::size_t chunk_bytes) {
    const header h = read_header(path);
    expect_type<V>(path, h);
    matrix_body<V> body(path, h.body, {h}, options, chunk_bytes);
    return h.dense ? read_array(body, h, options.threads)
                   : read_coordinates(body, h, options.threads);
}

template <class V>
host_vector<V> read_vector(const std::string& path, const read_options& options,
                           std::size_t chunk_bytes) {
    const header h = read_header(path);
    if (h.rows != 1 && h.cols != 1)
        throw parse_error(
            path, h.size_line,
            fmt::format("a matrix of {} x {}, expected a vector: one column or one row", h.rows,
                        h.cols));
    expect_type<V>(path, h);
    matrix_body<V> body(path, h.body, {h}, options, chunk_bytes);
    host_vector<V> x;
    if (h.dense) {
        x.reserve(std::size_t(std::min<std::int64_t>(h.entries, 1 << 16)));
        for (const auto& [number, values] : read_values(body))
            x.insert(x.end(), values.begin(), values.end());
    } else {
        const auto A = read_coordinates(body, h, options.threads);
        x.assign(std::size_t(std::max(h.rows * h.cols, std::int64_t(0))), V(0));
        for_each_entry(view(A), 0, A.shape.rows,
                       [&](index i, index j, V v) { x[std::size_t(std::max(i, j))] = v; });
    }
    return x;
}

template <class V>
struct part_reader<V>::state {
    header h;
    std::unique_ptr<text_source> source;  ///< null once there is no more
    host_vector<char> buffer = {};
    parsed<V> lines = {};
};

template <class V>
part_reader<V>::part_reader(const std::string& path, const header& h, std::int64_t first,
                            std::int64_t last) {
    constexpr std::size_t piece_bytes = std::size_t(1) << 17;  // whose entries take a MB or two
    expect_type<V>(path, h);
    state_ = std::make_unique<state>(state{h, open_text_part(path, first, last, piece_bytes)});
}

template <class V>
part_reader<V>::~part_reader() = default;

template <class V>
bool part_reader<V>::next(body_part<V>& to) {
    auto& [h, source, buffer, p] = *state_;
    const auto piece = source == nullptr ? std::nullopt : source->next(buffer);
    to.entries = 0, to.faulty = false;
    to.row.clear(), to.col.clear(), to.val.clear();
    if (!piece) {
        source = nullptr;
        return false;
    }
    parse_lines(h, piece->text, p);
    const auto take = [size = p.size](auto& into, const auto& from) {
        const auto used = std::ptrdiff_t(std::min(from.size(), size));
        into.assign(from.begin(), from.begin() + used);
    };
    if (!h.dense) take(to.row, p.row), take(to.col, p.col);
    take(to.val, p.val);
    if (!h.dense) to.val.resize(to.row.size(), V(1));  // a pattern has no values
    to.entries = p.entries;
    to.faulty = p.fault_at != nullptr || !piece->fault.empty();
    if (to.faulty) source = nullptr;
    return true;
}

template <class V>
body_part<V> read_part(const std::string& path, const header& h, std::int64_t first,
                       std::int64_t last) {
    part_reader<V> reader(path, h, first, last);
    body_part<V> part, piece;
    const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    while (reader.next(piece)) {
        append(part.row, piece.row), append(part.col, piece.col), append(part.val, piece.val);
        part.entries += piece.entries;
        part.faulty = piece.faulty;
    }
    return part;
}

template <class V>
void place_array(const header& h, std::int64_t before, body_part<V>& part) {
    if (part.val.empty()) return;
    const host_vector<V> values = std::exchange(part.val, {});
    const auto push = [&](index i, index j, V v) {
        part.row.push_back(i), part.col.push_back(j), part.val.push_back(v);
    };
    array_walk at(h, before);
    for (const V v : values) {
        if (v != V(0)) {
            push(at.row(), at.col(), v);
            if (h.symmetry != symmetry::general && at.row() != at.col())
                push(at.col(), at.row(), mirrored(h.symmetry, v));
        }
        at.advance();
    }
}

template <class V>
void check(const std::string& path) {
    const header h = read_header(path);
    expect_type<V>(path, h);
    matrix_body<V>(path, h.body, {h}, {}, 0).read([](std::int64_t, const parsed<V>&) {});
}

#define NZ_INSTANTIATE(V)                                                                      \
    template csr<V, host> read(const std::string&, const read_options&, std::size_t);          \
    template host_vector<V> read_vector(const std::string&, const read_options&, std::size_t); \
    template class part_reader<V>;                                                             \
    template body_part<V> read_part(const std::string&, const header&, std::int64_t,           \
                                    std::int64_t);                                             \
    template void place_array(const header&, std::int64_t, body_part<V>&);                     \
    template void check<V>(const std::string&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::matrix_market
