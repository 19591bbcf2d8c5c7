#include "nonzero/io/matrix_market.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "nonzero/formats/assembler.hpp"
#include "nonzero/io/atomic_file.hpp"
#include "nonzero/io/text.hpp"

namespace nz::matrix_market {
namespace {

constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
constexpr unsigned digit(char c) { return unsigned(static_cast<unsigned char>(c)) - unsigned('0'); }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

/// The words of a line.
std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t k = 0; k < line.size();) {
        while (k < line.size() && is_blank(line[k])) ++k;
        const std::size_t begin = k;
        while (k < line.size() && !is_blank(line[k])) ++k;
        if (k > begin) words.push_back(line.substr(begin, k - begin));
    }
    return words;
}

/// A word of the file as an error message shows it: short, and without control characters.
std::string shown(std::string_view word) {
    std::string text;
    for (const char c : word.substr(0, 40)) text += c >= ' ' && c <= '~' ? c : '?';
    return '\'' + text + (word.size() > 40 ? "...'" : "'");
}

// -- header --------------------------------------------------------------------------------------

struct header {
    bool dense = false;
    nz::field field{};
    nz::symmetry symmetry{};
    std::int64_t rows = 0, cols = 0, entries = 0;  ///< entries: lines of the body
    std::int64_t body = 0;                         ///< where it starts in the text
    std::int64_t size_line = 0;
};

template <class E>
struct keyword {
    std::string_view word;
    E meaning;
};
constexpr keyword<bool> formats[] = {{"coordinate", false}, {"array", true}};
constexpr keyword<field> fields[] = {
    {"real", field::real},       {"double", field::real},     {"integer", field::integer},
    {"complex", field::complex}, {"pattern", field::pattern}, {"unsigned-integer", field::integer}};
constexpr keyword<symmetry> symmetries[] = {{"general", symmetry::general},
                                            {"symmetric", symmetry::symmetric},
                                            {"skew-symmetric", symmetry::skew_symmetric},
                                            {"hermitian", symmetry::hermitian}};

/// Reads the header from the start of a text.
class header_parser {
  public:
    header_parser(const std::string& path, std::string_view text, bool whole)
        : path_(path), text_(text), whole_(whole) {}

    /// Nothing where the text must be longer. Throws parse_error.
    std::optional<header> parse() {
        if (!next_line()) {
            if (whole_) fail("an empty file", "a Matrix Market banner");
            return std::nullopt;
        }
        read_banner();
        do {
            if (!next_line()) {
                if (whole_) fail("the file ends before its sizes", sizes_expected());
                return std::nullopt;
            }
        } while (words_.empty() || words_[0][0] == '%');
        read_sizes();
        h_.body = std::int64_t(at_);
        h_.size_line = line_;
        return h_;
    }

  private:
    [[noreturn]] void fail(const std::string& what, const std::string& expected) const {
        throw parse_error(path_, std::max<std::int64_t>(1, line_), what + ", expected " + expected);
    }

    bool next_line() {
        const std::size_t end = text_.find('\n', at_);
        if (end == std::string_view::npos && (!whole_ || at_ >= text_.size())) return false;
        words_ = split(text_.substr(at_, std::min(end, text_.size()) - at_));
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
        ++line_;
        return true;
    }

    template <class E, std::size_t N>
    E read_keyword(std::size_t k, const keyword<E> (&known)[N], std::string_view what) const {
        std::string expected;
        for (const auto& [word, meaning] : known)
            expected += (expected.empty() ? "" : " or ") + std::string(word);
        if (k >= words_.size()) fail(fmt::format("the banner names no {}", what), expected);
        std::string word(words_[k]);
        std::transform(word.begin(), word.end(), word.begin(), lower);
        for (const auto& [known_word, meaning] : known)
            if (word == known_word) return meaning;
        fail(fmt::format("unknown {} {}", what, shown(words_[k])), expected);
    }

    void read_banner() {
        constexpr keyword<int> banners[] = {{"%%matrixmarket", 0}};
        constexpr keyword<int> objects[] = {{"matrix", 0}};
        std::string first(words_.empty() ? std::string_view() : words_[0]);
        std::transform(first.begin(), first.end(), first.begin(), lower);
        if (first != banners[0].word)
            fail("no Matrix Market banner",
                 "'%%MatrixMarket matrix FORMAT FIELD SYMMETRY' on the first line");
        read_keyword(1, objects, "object");
        h_.dense = read_keyword(2, formats, "format");
        h_.field = read_keyword(3, fields, "field");
        h_.symmetry = read_keyword(4, symmetries, "symmetry");
        if (words_.size() > 5)
            fail(fmt::format("{} behind the banner", shown(words_[5])), "the end of the line");
        if (h_.dense && h_.field == field::pattern)
            fail("an array of field pattern", "coordinate, or values");
    }

    [[nodiscard]] std::string sizes_expected() const {
        return h_.dense ? "two sizes: rows columns" : "three sizes: rows columns entries";
    }

    std::int64_t read_size(std::size_t k, std::int64_t largest, std::string_view what) const {
        const std::string_view word = words_[k];
        std::int64_t n = 0;
        const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), n);
        const bool number = end == word.data() + word.size();
        if (!number || (status != std::errc() && status != std::errc::result_out_of_range))
            fail(fmt::format("{} is no number of {}", shown(word), what), sizes_expected());
        if (status == std::errc::result_out_of_range || n < 0 || n > largest)
            fail(fmt::format("{} {}", shown(word), what), fmt::format("0 to {}", largest));
        return n;
    }

    void read_sizes() {
        constexpr std::int64_t max_size = std::numeric_limits<index>::max();
        if (words_.size() != (h_.dense ? 2U : 3U))
            fail(fmt::format("{} words", words_.size()), sizes_expected());
        h_.rows = read_size(0, max_size, "rows");
        h_.cols = read_size(1, max_size, "columns");
        if (h_.symmetry != symmetry::general && h_.rows != h_.cols)
            fail(fmt::format("{} of {} x {}", name(h_.symmetry), h_.rows, h_.cols),
                 "as many columns as rows");
        if (!h_.dense) {
            h_.entries = read_size(2, std::int64_t(1) << 62, "entries");
        } else if (h_.symmetry == symmetry::general) {
            h_.entries = h_.rows * h_.cols;
        } else {
            const bool diagonal = h_.symmetry != symmetry::skew_symmetric;
            h_.entries = h_.rows * (h_.rows + (diagonal ? 1 : -1)) / 2;
        }
    }

    const std::string& path_;
    std::string_view text_;
    bool whole_;
    std::size_t at_ = 0;
    std::int64_t line_ = 0;
    std::vector<std::string_view> words_;
    header h_;
};

header read_header(const std::string& path) {
    constexpr std::size_t largest = std::size_t(1) << 28;  // a header is shorter than 256 MB
    for (std::size_t bytes = std::size_t(1) << 14;; bytes *= 8) {
        const std::string text = text_start(path, bytes);
        const bool whole = text.size() < bytes || bytes >= largest;
        if (const auto h = header_parser(path, text, whole).parse()) return *h;
    }
}

/// The least bytes an entry's line takes, its newline included.
std::int64_t least_line_bytes(const header& h) {
    const int words = (h.dense ? 0 : 2) + (h.field == field::pattern   ? 0
                                           : h.field == field::complex ? 2
                                                                       : 1);
    return 2 * words;
}

// -- body ----------------------------------------------------------------------------------------

/// Parses the words of one line, which ends in a newline. No bounds are checked: a newline stops
/// every loop.
template <class V>
class line_parser {
  public:
    line_parser(const char* at, const char* end) : at_(at), end_(end) {}

    [[nodiscard]] const char* at() const { return at_; }
    void skip_blanks() {
        while (is_blank(*at_)) ++at_;
    }
    void skip_word() {
        while (!at_end_of_word()) ++at_;
    }
    /// Behind blanks.
    bool at_end_of_line() {
        skip_blanks();
        return *at_ == '\n';
    }

    /// A number from 1 to `size`, less 1.
    bool read_index(std::uint64_t size, index& to) {
        skip_blanks();
        const char* const begin = at_;
        const std::uint64_t v = read_digits();
        to = index(v - 1);
        return at_ != begin && v - 1 < size && at_ - begin <= 18 && at_end_of_word();
    }

    bool read_real(real<V>& to) {
        skip_blanks();
        if (*at_ == '+' && at_[1] != '-') ++at_;
        const char* const begin = at_;
        const auto [end, status] = fast_float::from_chars(at_, end_, to);
        if (status != std::errc()) return false;
        at_ = end;
        // A number too large for the type comes back as infinity.
        return (!std::isinf(to) || lower(begin[*begin == '-']) == 'i') && at_end_of_word();
    }

    bool read_integer(real<V>& to) {
        skip_blanks();
        const char* const word = at_;
        const bool negative = *at_ == '-';
        at_ += *at_ == '-' || *at_ == '+';
        const char* const begin = at_;
        const std::uint64_t v = read_digits();
        if (at_ == begin) return false;
        if (at_ - begin > 18) {  // beyond 64 bits: rounded
            const char* const end = std::exchange(at_, word);
            return read_real(to) && at_ == end;
        }
        to = real<V>(negative ? -std::int64_t(v) : std::int64_t(v));
        return at_end_of_word();
    }

    template <field F>
    bool read_value(V& to) {
        real<V> re(1);
        if constexpr (F == field::real) {
            if (!read_real(re)) return false;
        }
        if constexpr (F == field::integer) {
            if (!read_integer(re)) return false;
        }
        to = V(re);
        if constexpr (F == field::complex && is_complex<V>) {
            real<V> im;
            if (!read_real(re) || !read_real(im)) return false;
            to = V(re, im);
        }
        return true;
    }

  private:
    /// All digits there are; beyond 18 the number wraps around.
    std::uint64_t read_digits() {
        const char* const begin = at_;
        std::uint64_t v = read_short_digits();
        if (at_ - begin == 8)
            for (unsigned d = digit(*at_); d <= 9; d = digit(*++at_)) v = v * 10 + d;
        return v;
    }

    /// Up to eight digits at once, whatever their number, without a branch: parsing three million
    /// entries in random order takes 107 ms instead of 122. Needs text_padding.
    std::uint64_t read_short_digits() {
        if constexpr (std::endian::native != std::endian::little) {
            std::uint64_t v = 0;
            for (const char* const most = at_ + 8; at_ < most && digit(*at_) <= 9; ++at_)
                v = v * 10 + digit(*at_);
            return v;
        }
        std::uint64_t t;
        std::memcpy(&t, at_, 8);
        t ^= 0x3030303030303030;  // digits become 0 to 9, and nothing else does
        const std::uint64_t others = (t | (t + 0x7676767676767676)) & 0x8080808080808080;
        const int n = std::countr_zero(others) / 8;  // 8 where there are none
        at_ += n;
        if (n == 0) return 0;
        t <<= 64 - 8 * n;  // zeros in front; the first digit is the lowest byte
        t = t * 10 + (t >> 8);
        constexpr std::uint64_t pair = 0x000000FF000000FF;
        return ((t & pair) * 0x000F424000000064 + ((t >> 16) & pair) * 0x0000271000000001) >> 32;
    }

    [[nodiscard]] bool at_end_of_word() const { return is_blank(*at_) || *at_ == '\n'; }

    const char* at_;
    const char* end_;
};

/// What some lines of the body hold. For an array, values only.
template <class V>
struct parsed {
    host_vector<index> row, col;
    host_vector<V> val;
    std::size_t size = 0;            ///< elements in use of each array
    std::int64_t entries = 0;        ///< lines with an entry, before the fault
    const char* fault_at = nullptr;  ///< the line that is none
};

/// What the entry across the diagonal holds.
template <class V>
V mirrored(symmetry s, V v) {
    if constexpr (is_complex<V>) {
        if (s == symmetry::hermitian) return std::conj(v);
    }
    return s == symmetry::skew_symmetric ? -v : v;
}

/// Calls entry(parser) on every line that is neither blank nor a comment, until it returns false:
/// the start of that line, or null.
template <class V, class Entry>
const char* for_each_line(std::span<const char> text, Entry entry) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        line_parser<V> line(at, end);
        if (!line.at_end_of_line()) {
            if (*line.at() == '%') {
                at = static_cast<const char*>(
                         std::memchr(line.at(), '\n', std::size_t(end - line.at()))) +
                     1;
                continue;
            }
            if (!entry(line)) return at;
        }
        at = line.at() + 1;
    }
    return nullptr;
}

template <field F, class V>
void parse_coordinates(const header& h, std::span<const char> text, parsed<V>& to) {
    const bool mirror = h.symmetry != symmetry::general;
    const std::size_t most =
        (text.size() / std::size_t(least_line_bytes(h)) + 1) * (mirror ? 2 : 1);
    const bool ones = F == field::pattern && h.symmetry != symmetry::skew_symmetric;
    if (to.row.size() < most) to.row.resize(most), to.col.resize(most);
    if (!ones && to.val.size() < most) to.val.resize(most);
    index* const row = to.row.data();
    index* const col = to.col.data();
    V* const val = to.val.data();
    const auto rows = std::uint64_t(h.rows), cols = std::uint64_t(h.cols);
    std::size_t n = 0;
    std::int64_t entries = 0;
    to.fault_at = for_each_line<V>(text, [&](line_parser<V>& line) {
        V v;
        if (!line.read_index(rows, row[n]) || !line.read_index(cols, col[n]) ||
            !line.template read_value<F>(v) || !line.at_end_of_line())
            return false;
        if (!ones) val[n] = v;
        ++n, ++entries;
        if (mirror && row[n - 1] != col[n - 1]) {
            row[n] = col[n - 1], col[n] = row[n - 1];
            if (!ones) val[n] = mirrored(h.symmetry, v);
            ++n;
        }
        return true;
    });
    to.size = n, to.entries = entries;
}

template <field F, class V>
void parse_array(const header& h, std::span<const char> text, parsed<V>& to) {
    const std::size_t most = text.size() / std::size_t(least_line_bytes(h)) + 1;
    if (to.val.size() < most) to.val.resize(most);
    std::size_t n = 0;
    to.fault_at = for_each_line<V>(text, [&](line_parser<V>& line) {
        if (!line.template read_value<F>(to.val[n]) || !line.at_end_of_line()) return false;
        ++n;
        return true;
    });
    to.size = n, to.entries = std::int64_t(n);
}

template <class V>
void parse_lines(const header& h, std::span<const char> text, parsed<V>& to) {
    const auto parse = [&]<field F>() {
        h.dense ? parse_array<F>(h, text, to) : parse_coordinates<F>(h, text, to);
    };
    switch (h.field) {
        case field::real:
            return parse.template operator()<field::real>();
        case field::integer:
            return parse.template operator()<field::integer>();
        case field::pattern:
            return parse.template operator()<field::pattern>();
        case field::complex:
            return parse.template operator()<field::complex>();
    }
}

/// What is wrong with a line of the body, and what was expected.
template <class V>
std::string diagnose(const header& h, std::string_view line) {
    const auto words = split(line);
    const std::size_t indices = h.dense ? 0 : 2;
    const std::size_t values = h.field == field::pattern ? 0 : h.field == field::complex ? 2 : 1;
    const std::string expected = std::string(h.dense ? "" : "row column") +
                                 (h.dense || values == 0 ? "" : " ") +
                                 (values == 0   ? ""
                                  : values == 1 ? "value"
                                                : "real-part imaginary-part");
    for (std::size_t k = 0; k < std::min(words.size(), indices + values); ++k) {
        const std::string word = std::string(words[k]) + std::string(1 + text_padding, '\n');
        line_parser<V> p(word.data(), word.data() + word.size());
        if (k < indices) {
            const std::int64_t size = k == 0 ? h.rows : h.cols;
            index unused;
            if (p.read_index(std::uint64_t(size), unused) && p.at_end_of_line()) continue;
            const bool digits = std::all_of(words[k].begin() + (words[k][0] == '-'), words[k].end(),
                                            [](char c) { return digit(c) <= 9; });
            return fmt::format("{} {} {}, expected 1 to {}", k == 0 ? "row" : "column",
                               shown(words[k]), digits ? "is outside the matrix" : "is no number",
                               size);
        }
        real<V> value;
        if (h.field == field::integer) {
            if (p.read_integer(value) && p.at_end_of_line()) continue;
            return fmt::format("value {} is no integer, expected one", shown(words[k]));
        }
        if (p.read_real(value) && p.at_end_of_line()) continue;
        if (std::isinf(value) && digit(words[k].back()) <= 9)
            return fmt::format("value {} is too large for {}, expected at most {:.3g}",
                               shown(words[k]), value_name<real<V>>(),
                               std::numeric_limits<real<V>>::max());
        return fmt::format("value {} is no number, expected one", shown(words[k]));
    }
    if (words.size() < indices + values)
        return fmt::format("{} of {} words, expected {}", words.size(), indices + values, expected);
    return fmt::format("{} behind the entry, expected {}", shown(words[indices + values]),
                       expected);
}

// -- reading -------------------------------------------------------------------------------------

/// Parses the body in parallel, and tells where it is at fault.
template <class V>
class body_reader {
  public:
    body_reader(const std::string& path, const header& h, const read_options& options,
                std::size_t chunk_bytes)
        : path_(path), h_(h), options_(options), chunk_bytes_(chunk_bytes) {
        if (h.field == field::complex && !is_complex<V>)
            throw parse_error(
                path, 1,
                fmt::format("complex values, expected real ones to read as {}", value_name<V>()));
    }

    /// Calls take(number, parsed) for every piece, from several threads. Throws parse_error.
    template <class Take>
    void read(Take take) {
        source_ = open_text(path_, h_.body, chunk_bytes_);
        const int threads = int(
            std::min(double(thread_count({.threads = options_.threads})), source_->max_pieces()));
        std::exception_ptr failure;
#pragma omp parallel num_threads(threads)
        {
            try {
                read_pieces(take);
            } catch (...) {
                stop_ = true;
                const std::lock_guard lock(mutex_);
                failure = std::current_exception();
            }
        }
        if (failure) std::rethrow_exception(failure);
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
        const char* at = piece->text.data();
        for_each_line<V>(piece->text, [&](line_parser<V>& line) {
            at = line.at();
            while (!line.at_end_of_line()) line.skip_word();
            return entries-- > 0;
        });
        return r.offset + (at - piece->text.data());
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
    std::int64_t first = 0;
    host_vector<index> row, col;
    host_vector<V> val;
    for (auto& [number, values] : read_values(body)) {
        if (values.empty()) continue;
        row.clear(), col.clear(), val.clear();
        const auto push = [&](index i, index j, V v) {
            row.push_back(i), col.push_back(j), val.push_back(v);
        };
        array_walk at(h, first);
        for (const V v : values) {
            if (v != V(0)) {
                push(at.row(), at.col(), v);
                if (h.symmetry != symmetry::general && at.row() != at.col())
                    push(at.col(), at.row(), mirrored(h.symmetry, v));
            }
            at.advance();
        }
        first += std::int64_t(values.size());
        values = {};
        if (!row.empty()) to.add(number, row, col, val);
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

// -- writing -------------------------------------------------------------------------------------

namespace {

/// Appends numbers and separators to a text.
class formatter {
  public:
    explicit formatter(std::string& to) : to_(to) {}
    void separator(char c) { to_ += c; }
    void number(std::int64_t n) { append(n); }
    /// The fewest digits that read back as the same number.
    template <class R>
    void value(R v) {
        append(v);
    }
    template <class R>
    void value(std::complex<R> v) {
        append(v.real());
        separator(' ');
        append(v.imag());
    }

  private:
    template <class T>
    void append(T v) {
        std::array<char, 32> digits;  // a double takes at most 24
        to_.append(digits.data(),
                   std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr);
    }
    std::string& to_;
};

template <class V>
constexpr field field_of = is_complex<V> ? field::complex : field::real;

/// Text into a file, gzipped or not: made and packed in parallel, block by block.
class text_sink {
  public:
    text_sink(const std::string& path, bool gzip) : file_(path), gzip_(gzip) {}

    void write(const std::string& text) { file_.write(packed(text)); }

    /// format(first, last, text) appends the lines of the items [first, last).
    template <class Format>
    void write_items(std::int64_t count, Format format) {
        constexpr std::int64_t block = 1 << 15;  // items: half a megabyte of text or so
        const std::int64_t blocks = (count + block - 1) / block;
        const auto threads = int(std::min<std::int64_t>(thread_count({}), blocks));
        std::vector<std::string> texts(std::size_t(std::max(threads, 0)));
        std::exception_ptr failure;
        for (std::int64_t first = 0; first < blocks; first += threads) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
            for (int t = 0; t < threads; ++t) {
                std::string& text = texts[std::size_t(t)];
                text.clear();
                const std::int64_t b = (first + t) * block;
                try {
                    if (b < count) format(b, std::min(b + block, count), text);
                    if (gzip_ && !text.empty()) text = gzip_member(text);
                } catch (...) {
#pragma omp critical(nonzero_text_sink_failure)
                    failure = std::current_exception();
                }
            }
            if (failure) std::rethrow_exception(failure);
            for (const std::string& text : texts) file_.write(text);
        }
    }
    void commit() { file_.commit(); }

  private:
    [[nodiscard]] std::string packed(const std::string& text) const {
        return gzip_ ? gzip_member(text) : text;
    }

    atomic_file file_;
    bool gzip_;
};

/// f(row, column, value) for the stored entries [first, last), wherever they are cut.
template <class V, class F>
void for_entries(const csr<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    A.row_ptr.visit([&](const auto* row_ptr) {
        const auto* const end = row_ptr + A.shape.rows + 1;
        std::int64_t i = std::upper_bound(row_ptr, end, first) - row_ptr - 1;
        for (std::int64_t k = first; k < last; ++k) {
            while (row_ptr[i + 1] <= k) ++i;
            f(index(i), A.col_ind[std::size_t(k)], A.val[std::size_t(k)]);
        }
    });
}

/// Throws argument_error unless A is what `store` says.
template <class V>
void check_symmetry(const csr<V, host_view>& A, symmetry store) {
    if (store == symmetry::general) return;
    const auto fail = [&](index i, index j) {
        throw argument_error(fmt::format("write: entry ({}, {}) does not fit a {} matrix", i + 1,
                                         j + 1, name(store)));
    };
    if (A.shape.rows != A.shape.cols)
        throw argument_error(
            fmt::format("write: a {} matrix has as many rows as columns", name(store)));
    const auto T = transpose(A);
    for (index i = 0; i < A.shape.rows; ++i) {
        const offset b = A.row_ptr[std::size_t(i)], e = A.row_ptr[std::size_t(i) + 1];
        if (T.row_ptr[std::size_t(i)] != b || T.row_ptr[std::size_t(i) + 1] != e) fail(i, i);
        for (auto k = std::size_t(b); k < std::size_t(e); ++k) {
            const V v = A.val[k], w = mirrored(store, T.val[k]);
            const bool same = v == w || (v != v && w != w);
            if (A.col_ind[k] != T.col_ind[k] || !same) fail(i, A.col_ind[k]);
            if (store == symmetry::skew_symmetric && A.col_ind[k] == i) fail(i, i);
        }
    }
}

}  // namespace

template <class V>
void write(const std::string& path, const csr<V, host_view>& A, symmetry store, bool gzip) {
    check_symmetry(A, store);
    const auto stored = [&](index i, index j) { return store == symmetry::general || j <= i; };
    std::int64_t entries = 0;
    for_each_entry(A, 0, A.shape.rows, [&](index i, index j, V) { entries += stored(i, j); });
    text_sink file(path, gzip);
    file.write(fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", name(field_of<V>),
                           name(store), A.shape.rows, A.shape.cols, entries));
    file.write_items(std::int64_t(A.val.size()),
                     [&](std::int64_t first, std::int64_t last, std::string& text) {
                         formatter line(text);
                         for_entries(A, first, last, [&](index i, index j, V v) {
                             if (!stored(i, j)) return;
                             line.number(std::int64_t(i) + 1);
                             line.separator(' ');
                             line.number(std::int64_t(j) + 1);
                             line.separator(' ');
                             line.value(v);
                             line.separator('\n');
                         });
                     });
    file.commit();
}

template <class V>
void write_vector(const std::string& path, std::span<const V> x, bool gzip) {
    text_sink file(path, gzip);
    file.write(
        fmt::format("%%MatrixMarket matrix array {} general\n{} 1\n", name(field_of<V>), x.size()));
    file.write_items(std::int64_t(x.size()),
                     [&](std::int64_t first, std::int64_t last, std::string& text) {
                         formatter line(text);
                         for (std::int64_t k = first; k < last; ++k) {
                             line.value(x[std::size_t(k)]);
                             line.separator('\n');
                         }
                     });
    file.commit();
}

#define NZ_INSTANTIATE(V)                                                                      \
    template csr<V, host> read(const std::string&, const read_options&, std::size_t);          \
    template host_vector<V> read_vector(const std::string&, const read_options&, std::size_t); \
    template void write(const std::string&, const csr<V, host_view>&, symmetry, bool);         \
    template void write_vector(const std::string&, std::span<const V>, bool);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::matrix_market
