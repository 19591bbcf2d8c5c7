#include "nonzero/io/matrix_market.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "nonzero/core/failure.hpp"
#include "nonzero/formats/assembler.hpp"
#include "nonzero/io/matrix_market_lines.hpp"
#include "nonzero/io/text.hpp"

namespace nz::matrix_market {
namespace {

template <class V>
void expect_values_fit(const std::string& path, const header& h) {
    if (h.field == field::complex && !is_complex<V>)
        throw parse_error(
            path, 1,
            fmt::format("complex values, expected real ones to read as {}", value_name<V>()));
}

/// Parses the body in parallel, and tells where it is at fault.
template <class V>
class body_reader {
  public:
    body_reader(const std::string& path, const header& h, const read_options& options,
                std::size_t chunk_bytes)
        : path_(path), h_(h), options_(options), chunk_bytes_(chunk_bytes) {
        expect_values_fit<V>(path, h);
    }

    /// Calls take(number, parsed) for every piece, from several threads. Throws parse_error.
    template <class Take>
    void read(Take take) {
        source_ = open_text(path_, h_.body, chunk_bytes_);
        const int threads = int(
            std::min(double(thread_count({.threads = options_.threads})), source_->max_pieces()));
        first_failure failure;
#pragma omp parallel num_threads(threads)
        {
            failure.guard([&] { read_pieces(take); });
            if (failure.happened()) stop_ = true;
        }
        failure.rethrow();
        check();
        if (options_.progress) options_.progress(1.0);
    }

  private:
    struct record {
        std::int64_t entries, offset, bytes, fault_at;
        std::string fault;
    };

    template <class Take>
    void read_pieces(Take take) {
        host_vector<char> buffer;
        parsed<V> p;
        while (!stop_) {
            const auto piece = source_->next(buffer);
            if (!piece) return;
            parse_lines(h_, piece->text, p);
            note(*piece, p);
            if (!stop_) take(piece->number, p);
            report();
        }
    }

    void note(const lines& piece, const parsed<V>& p) {
        record r{p.entries, piece.offset, std::int64_t(piece.text.size()),
                 piece.offset + std::int64_t(piece.text.size()), piece.fault};
        if (p.fault_at != nullptr) {
            r.fault_at = piece.offset + (p.fault_at - piece.text.data());
            const auto* const end = piece.text.data() + piece.text.size();
            r.fault = diagnose<V>(h_, {p.fault_at, std::find(p.fault_at, end, '\n')});
        }
        const std::lock_guard lock(mutex_);
        entries_ += p.entries;
        // Pieces before this one are in other threads' hands already, and will be parsed.
        if (!r.fault.empty() || entries_ > h_.entries) stop_ = true;
        records_.emplace(piece.number, std::move(r));
    }

    /// Throws what is wrong first in the order of the text.
    void check() const {
        std::int64_t before = 0, end = h_.body;
        for (const auto& [number, r] : records_) {
            if (before + r.entries > h_.entries)
                throw parse_error(path_, line_at(path_, extra_entry(r, h_.entries - before)),
                                  fmt::format("one more entry, expected {} in all", h_.entries));
            if (!r.fault.empty()) throw parse_error(path_, line_at(path_, r.fault_at), r.fault);
            before += r.entries;
            end = r.offset + r.bytes;
        }
        if (before < h_.entries)
            throw parse_error(
                path_, line_at(path_, end - 1),
                fmt::format("the file ends after {} entries, expected {}", before, h_.entries));
    }

    /// Where the line of the entry behind `entries` others of a piece starts.
    [[nodiscard]] std::int64_t extra_entry(const record& r, std::int64_t entries) const {
        const auto source = open_text(path_, r.offset, std::size_t(r.bytes));
        host_vector<char> buffer;
        const auto piece = source->next(buffer);
        if (!piece) return r.offset;
        return r.offset + (entry_start(piece->text, entries) - piece->text.data());
    }

    /// Tells the caller's thread's progress.
    void report() {
        if (!options_.progress || omp_get_thread_num() != 0) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - reported_ < std::chrono::milliseconds(50)) return;
        reported_ = now;
        options_.progress(source_->fraction());
    }

    const std::string& path_;
    const header& h_;
    const read_options& options_;
    std::size_t chunk_bytes_;
    std::unique_ptr<text_source> source_;
    std::atomic<bool> stop_ = false;
    std::mutex mutex_;
    std::int64_t entries_ = 0;
    std::map<std::int64_t, record> records_;
    std::chrono::steady_clock::time_point reported_ = std::chrono::steady_clock::now();
};

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
csr<V, host> read_coordinates(body_reader<V>& body, const header& h, int threads) {
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
std::map<std::int64_t, host_vector<V>> read_values(body_reader<V>& body) {
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
csr<V, host> read_array(body_reader<V>& body, const header& h, int threads) {
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
    body_reader<V> body(path, h, options, chunk_bytes);
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
    body_reader<V> body(path, h, options, chunk_bytes);
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
body_part<V> read_part(const std::string& path, const header& h, std::int64_t first,
                       std::int64_t last) {
    expect_values_fit<V>(path, h);
    const auto source = open_text_part(path, first, last, 0);
    host_vector<char> buffer;
    parsed<V> p;
    body_part<V> part;
    const auto append = [&](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(),
                  from.begin() + std::ptrdiff_t(std::min(from.size(), p.size)));
    };
    while (!part.faulty) {
        const auto piece = source->next(buffer);
        if (!piece) break;
        parse_lines(h, piece->text, p);
        if (!h.dense) append(part.row, p.row), append(part.col, p.col);
        append(part.val, p.val);
        part.entries += p.entries;
        part.faulty = p.fault_at != nullptr || !piece->fault.empty();
    }
    if (!h.dense) part.val.resize(part.row.size(), V(1));  // a pattern has no values
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
    body_reader<V>(path, h, {}, 0).read([](std::int64_t, const parsed<V>&) {});
}

#define NZ_INSTANTIATE(V)                                                                      \
    template csr<V, host> read(const std::string&, const read_options&, std::size_t);          \
    template host_vector<V> read_vector(const std::string&, const read_options&, std::size_t); \
    template body_part<V> read_part(const std::string&, const header&, std::int64_t,           \
                                    std::int64_t);                                             \
    template void place_array(const header&, std::int64_t, body_part<V>&);                     \
    template void check<V>(const std::string&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::matrix_market
