// The body of a text file: its lines parsed by several threads, and the first that is wrong found.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "nonzero/core/parallel.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/io/text.hpp"

namespace nz {

/// Parses the body in parallel, and tells where it is at fault. What its lines are the grammar
/// says:
///
/// - `parsed`: what a piece holds; `entries` counts its lines with an entry, `fault_at` is the line
///   that is none, or null.
/// - `entries()`: how many there must be in all, -1 where the file does not say.
/// - `parse(text, parsed&)`: of whole lines; the parsed is used again.
/// - `diagnose(line)`: what is wrong with a line, and what was expected.
/// - `entry_start(text, n)`: where the line of the entry behind n others starts.
template <class Grammar>
class body_reader {
  public:
    using parsed = typename Grammar::parsed;

    /// The text from byte `start` on. `path`, `options` and what the grammar refers to must live.
    body_reader(const std::string& path, std::int64_t start, Grammar grammar,
                const read_options& options, std::size_t chunk_bytes,
                std::size_t line_bytes = usual_line_bytes)
        : path_(path),
          start_(start),
          grammar_(grammar),
          options_(options),
          chunk_bytes_(chunk_bytes),
          line_bytes_(line_bytes) {}

    /// Calls take(number, parsed) for every piece, from several threads. Throws parse_error.
    template <class Take>
    void read(Take take) {
        source_ = open_text(path_, start_, chunk_bytes_, line_bytes_);
        const int threads = int(
            std::min(double(thread_count({.threads = options_.threads})), source_->max_pieces()));
        parallel(threads, [&](int thread) {
            try {
                read_pieces(thread, take);
            } catch (...) {
                stop_ = true;
                throw;
            }
        });
        check();
        if (options_.progress) options_.progress(1.0);
    }

    /// The number of the line of the entry behind `before` others of that piece, once all is read.
    [[nodiscard]] std::int64_t line_of_entry(std::int64_t number, std::int64_t before) const {
        return line_at(path_, entry_offset(records_.at(number), before), line_bytes_);
    }
    /// The number of the text's last line, once all is read.
    [[nodiscard]] std::int64_t last_line() const {
        std::int64_t end = start_;
        for (const auto& [number, r] : records_) end = std::max(end, r.offset + r.bytes);
        return line_at(path_, end - 1, line_bytes_);
    }

  private:
    struct record {
        std::int64_t entries, offset, bytes, fault_at;
        std::string fault;
    };

    template <class Take>
    void read_pieces(int thread, Take take) {
        host_vector<char> buffer;
        parsed p;
        while (!stop_) {
            const auto piece = source_->next(buffer);
            if (!piece) return;
            grammar_.parse(piece->text, p);
            note(*piece, p);
            if (!stop_) take(piece->number, p);
            if (thread == 0) report();
        }
    }

    void note(const lines& piece, const parsed& p) {
        record r{p.entries, piece.offset, std::int64_t(piece.text.size()),
                 piece.offset + std::int64_t(piece.text.size()), piece.fault};
        if (p.fault_at != nullptr) {
            r.fault_at = piece.offset + (p.fault_at - piece.text.data());
            const auto* const end = piece.text.data() + piece.text.size();
            const auto* const line_end = std::find(p.fault_at, end, '\n');
            r.fault = grammar_.diagnose({p.fault_at, std::size_t(line_end - p.fault_at)});
        }
        const std::lock_guard lock(mutex_);
        entries_ += p.entries;
        const std::int64_t expected = grammar_.entries();
        // Pieces before this one are in other threads' hands already, and will be parsed.
        if (!r.fault.empty() || (expected >= 0 && entries_ > expected)) stop_ = true;
        records_.emplace(piece.number, std::move(r));
    }

    /// Throws what is wrong first in the order of the text.
    void check() const {
        const std::int64_t expected = grammar_.entries();
        std::int64_t before = 0;
        for (const auto& [number, r] : records_) {
            if (expected >= 0 && before + r.entries > expected)
                throw parse_error(path_, line_of_entry(number, expected - before),
                                  fmt::format("one more entry, expected {} in all", expected));
            if (!r.fault.empty())
                throw parse_error(path_, line_at(path_, r.fault_at, line_bytes_), r.fault);
            before += r.entries;
        }
        if (before < expected)
            throw parse_error(
                path_, last_line(),
                fmt::format("the file ends after {} entries, expected {}", before, expected));
    }

    [[nodiscard]] std::int64_t entry_offset(const record& r, std::int64_t before) const {
        const auto source = open_text(path_, r.offset, std::size_t(r.bytes), line_bytes_);
        host_vector<char> buffer;
        const auto piece = source->next(buffer);
        if (!piece) return r.offset;
        return r.offset + (grammar_.entry_start(piece->text, before) - piece->text.data());
    }

    /// Tells the caller's thread's progress.
    void report() {
        if (!options_.progress) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - reported_ < std::chrono::milliseconds(50)) return;
        reported_ = now;
        options_.progress(source_->fraction());
    }

    const std::string& path_;
    std::int64_t start_;
    Grammar grammar_;
    const read_options& options_;
    std::size_t chunk_bytes_, line_bytes_;
    std::unique_ptr<text_source> source_;
    std::atomic<bool> stop_ = false;
    std::mutex mutex_;
    std::int64_t entries_ = 0;
    std::map<std::int64_t, record> records_;
    std::chrono::steady_clock::time_point reported_ = std::chrono::steady_clock::now();
};

}  // namespace nz
