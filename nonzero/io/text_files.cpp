#include "nonzero/io/text.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>

#include "nonzero/core/error.hpp"
#include "nonzero/io/standard_input.hpp"

namespace nz {
namespace {

constexpr std::size_t inflate_input_bytes = std::size_t(256) << 10;

/// A regular file, open for reading.
class input_file {
  public:
    explicit input_file(const std::string& path)
        : fd_(::open(place_of(path).c_str(), O_RDONLY | O_CLOEXEC)) {
        if (fd_ < 0) throw parse_error(path, 0, fmt::format("cannot open: {}", strerror(errno)));
        struct stat s {};
        if (::fstat(fd_, &s) != 0 || !S_ISREG(s.st_mode)) {
            ::close(fd_);
            throw parse_error(path, 0,
                              S_ISDIR(s.st_mode) ? "is a directory, expected a file"
                                                 : "is no regular file, expected one");
        }
        size_ = s.st_size;
    }
    input_file(const input_file&) = delete;
    input_file& operator=(const input_file&) = delete;
    ~input_file() { ::close(fd_); }

    [[nodiscard]] std::int64_t size() const { return size_; }

    /// Reads up to n bytes at `at`; fewer at the end of the file, or where `fault` gets a reason.
    std::size_t read(std::int64_t at, char* to, std::size_t n, std::string& fault) const {
        std::size_t done = 0;
        while (done < n) {
            const ssize_t got = ::pread(fd_, to + done, n - done, at + std::int64_t(done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fault = fmt::format("cannot read: {}", strerror(errno));
            if (got <= 0) break;
            done += std::size_t(got);
        }
        return done;
    }

  private:
    int fd_;
    std::int64_t size_ = 0;
};

/// Makes room behind the first `end` bytes, as text_padding promises.
void pad(host_vector<char>& buffer, std::size_t end) {
    if (buffer.size() < end + text_padding) buffer.resize(end + text_padding, '\n');
}

std::string too_long(std::size_t line_bytes) {
    return fmt::format("a line of more than {} bytes, expected a text file", line_bytes);
}

/// Ends a piece, and says why, before its first line of more than line_bytes, so that no size of
/// chunk lets one through; what stands behind `end` is the start of a line. Looks at one newline in
/// each line_bytes where lines are short.
void refuse_long_lines(const host_vector<char>& buffer, std::size_t line_bytes, std::size_t begin,
                       std::size_t& end, std::string& fault) {
    for (std::size_t at = begin; buffer.size() - at > line_bytes;) {
        const auto newline = std::string_view(&buffer[at], line_bytes + 1).rfind('\n');
        if (newline == std::string_view::npos) {
            end = std::min(end, at);
            fault = too_long(line_bytes);
            return;
        }
        at += newline + 1;
    }
}

std::size_t chunk_size(std::size_t asked, const input_file& file) {
    if (asked != 0) return std::min(asked, std::size_t(1) << 30);
    return std::size_t(1) << (file.size() > std::int64_t(64) << 20 ? 20 : 18);
}

/// Piece k holds the lines that start in [start + k * chunk, start + (k + 1) * chunk): every
/// thread finds its own without asking the others. Where the start may be inside a line (`cut`),
/// that line is left out.
class plain_source : public text_source {
  public:
    plain_source(const std::string& path, std::int64_t start, std::int64_t end, bool cut,
                 std::size_t chunk_bytes, std::size_t line_bytes)
        : file_(path),
          start_(start),
          end_(std::min(end, file_.size())),
          cut_(cut),
          chunk_(std::int64_t(chunk_size(chunk_bytes, file_))),
          line_bytes_(line_bytes) {}

    std::optional<lines> next(host_vector<char>& buffer) override {
        const std::int64_t k = next_.fetch_add(1);
        if (k > (end_ - start_) / chunk_) return std::nullopt;
        const std::int64_t first = start_ + k * chunk_;
        const std::int64_t last = std::min(first + chunk_, end_);
        if (first >= last) return std::nullopt;
        return read_lines(k, first, last, buffer);
    }
    [[nodiscard]] double fraction() const override {
        return std::min(
            1.0, double(start_ + next_ * chunk_) / double(std::max<std::int64_t>(1, file_.size())));
    }
    [[nodiscard]] double max_pieces() const override {
        return double(file_.size()) / double(chunk_) + 1;
    }

  private:
    lines read_lines(std::int64_t k, std::int64_t first, std::int64_t last,
                     host_vector<char>& buffer) const {
        constexpr std::size_t tail = 256;  // bytes read beyond, in hope of the last line's end
        lines piece{k, first, {}, {}};
        // The byte before tells whether a line starts at the first.
        const bool inside_line = k > 0 || cut_;
        const std::int64_t from = inside_line ? first - 1 : first;
        const auto inside = std::size_t(last - from);
        fill(buffer, 0, from, inside + tail, piece.fault);
        std::size_t begin = 0;
        if (inside_line) {
            begin = line_end(buffer, 0, inside - 1);
            if (begin == 0) return piece;
        }
        std::size_t end = 0;
        for (std::size_t seen = inside - 1; end == 0;) {
            end = line_end(buffer, seen, buffer.size());
            if (end != 0) break;
            seen = buffer.size();
            if (seen > inside + line_bytes_) piece.fault = too_long(line_bytes_);
            const std::int64_t at = from + std::int64_t(seen);
            if (!piece.fault.empty() || !fill(buffer, seen, at, seen + tail, piece.fault)) break;
        }
        if (end == 0 && piece.fault.empty()) {  // the text's last line ends with it
            buffer.push_back('\n');
            end = buffer.size();
        }
        if (end == 0)  // the lines before the fault
            for (end = buffer.size(); end > begin && buffer[end - 1] != '\n';) --end;
        refuse_long_lines(buffer, line_bytes_, begin, end, piece.fault);
        pad(buffer, end);
        piece.offset = from + std::int64_t(begin);
        piece.text = {buffer.data() + begin, end - begin};
        return piece;
    }

    /// One past the first newline in [from, to) of the buffer, or 0.
    static std::size_t line_end(const host_vector<char>& buffer, std::size_t from, std::size_t to) {
        to = std::min(to, buffer.size());
        if (from >= to) return 0;
        const void* const at = std::memchr(buffer.data() + from, '\n', to - from);
        return at == nullptr ? 0 : std::size_t(static_cast<const char*>(at) - buffer.data()) + 1;
    }

    /// Reads n bytes at `at` behind the first `kept` of the buffer; false where there are none.
    bool fill(host_vector<char>& buffer, std::size_t kept, std::int64_t at, std::size_t n,
              std::string& fault) const {
        n = std::min(n, std::size_t(std::max<std::int64_t>(0, file_.size() - at)));
        buffer.resize(kept + n);
        const std::size_t got = file_.read(at, buffer.data() + kept, n, fault);
        buffer.resize(kept + got);
        return got > 0;
    }

    input_file file_;
    std::int64_t start_, end_;
    bool cut_;
    std::int64_t chunk_;
    std::size_t line_bytes_;
    std::atomic<std::int64_t> next_ = 0;
};

/// Inflates one piece at a time, under a lock, while the other threads use theirs.
class gzip_source : public text_source {
  public:
    gzip_source(const std::string& path, std::int64_t start, std::size_t chunk_bytes,
                std::size_t line_bytes)
        : file_(path),
          chunk_(chunk_size(chunk_bytes, file_)),
          line_bytes_(line_bytes),
          input_(inflate_input_bytes) {
        if (inflateInit2(&z_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
        host_vector<char> skipped;
        while (offset_ < start && !ended_) {
            skipped.clear();
            const auto wanted = std::min<std::int64_t>(start - offset_, 1 << 16);
            inflate_some(skipped, std::size_t(wanted));
            offset_ += std::int64_t(skipped.size());
        }
    }
    gzip_source(const gzip_source&) = delete;
    gzip_source& operator=(const gzip_source&) = delete;
    ~gzip_source() override { inflateEnd(&z_); }

    std::optional<lines> next(host_vector<char>& buffer) override {
        const std::lock_guard lock(mutex_);
        if (done_) return std::nullopt;
        buffer.swap(rest_);
        rest_.clear();
        std::size_t end = 0;  // of the last whole line
        while (end == 0) {
            const std::size_t seen = buffer.size();
            if (!ended_) inflate_some(buffer, chunk_);
            for (std::size_t n = buffer.size(); n > seen && end == 0; --n)
                if (buffer[n - 1] == '\n') end = n;
            if (ended_ || buffer.size() > line_bytes_ + chunk_) break;
        }
        if (ended_ && fault_.empty()) {
            if (!buffer.empty() && buffer.back() != '\n') buffer.push_back('\n');
            end = buffer.size();
        }
        std::string fault = ended_ ? fault_ : std::string();
        refuse_long_lines(buffer, line_bytes_, 0, end, fault);
        if (!fault.empty()) ended_ = true;
        lines piece{number_++, offset_, {}, std::move(fault)};
        if (!ended_) rest_.assign(buffer.begin() + std::ptrdiff_t(end), buffer.end());
        done_ = ended_;
        offset_ += std::int64_t(end);
        pad(buffer, end);
        piece.text = {buffer.data(), end};
        return piece;
    }
    [[nodiscard]] double fraction() const override {
        return double(read_) / double(std::max<std::int64_t>(1, file_.size()));
    }
    // Deflate makes at most 1032 bytes of one (zlib's technical notes, "Maximum Compression
    // Factor").
    [[nodiscard]] double max_pieces() const override {
        return 1032.0 * double(file_.size()) / double(chunk_) + 1;
    }

  private:
    /// Appends up to n bytes of text; sets ended_, and fault_ where that is too early.
    void inflate_some(host_vector<char>& to, std::size_t n) {
        const std::size_t kept = to.size();
        to.resize(kept + n);
        z_.next_out = reinterpret_cast<Bytef*>(to.data() + kept);
        z_.avail_out = uInt(n);
        while (z_.avail_out > 0 && !ended_) {
            if (z_.avail_in == 0) read_input();
            if (between_members_ && !start_member()) continue;
            // Also where no input is left: zlib holds bits and copies that it still owes.
            const int status = inflate(&z_, Z_NO_FLUSH);
            if (status == Z_STREAM_END) {
                between_members_ = true;
            } else if (status == Z_BUF_ERROR) {
                stop("the gzip data end early, expected more");
            } else if (status != Z_OK) {
                stop(fmt::format("bad gzip data ({}), expected a whole file",
                                 z_.msg == nullptr ? "zlib error" : z_.msg));
            }
        }
        to.resize(kept + n - z_.avail_out);
    }

    /// A gzip file may be several, one after the other, and end in zeros.
    bool start_member() {
        while (z_.avail_in > 0 && *z_.next_in == 0) ++z_.next_in, --z_.avail_in;
        if (z_.avail_in == 0) {
            ended_ = ended_ || input_ended_;
            return false;
        }
        inflateReset(&z_);
        between_members_ = false;
        return true;
    }

    /// Leaves avail_in at 0 where the file ends or cannot be read.
    void read_input() {
        std::string fault;
        const std::size_t got = file_.read(read_, input_.data(), input_.size(), fault);
        if (!fault.empty()) stop(fault);
        read_ += std::int64_t(got);
        z_.next_in = reinterpret_cast<Bytef*>(input_.data());
        z_.avail_in = uInt(got);
        input_ended_ = got == 0;
    }

    void stop(std::string fault) {
        fault_ = std::move(fault);
        ended_ = true;
    }

    input_file file_;
    std::size_t chunk_, line_bytes_;
    host_vector<char> input_, rest_;  ///< rest_: of the line that the last piece cut
    z_stream z_{};
    std::mutex mutex_;
    std::int64_t offset_ = 0, number_ = 0;
    std::atomic<std::int64_t> read_ = 0;
    bool ended_ = false;  ///< nothing more can be inflated
    bool input_ended_ = false;
    bool between_members_ = false;
    bool done_ = false;  ///< the last piece is handed out
    std::string fault_;
};

}  // namespace

content content_of(const std::string& path) {
    const input_file file(path);
    char magic[20] = {};
    std::string fault;
    file.read(0, magic, sizeof magic, fault);
    if (!fault.empty()) throw parse_error(path, 0, fault);
    if (std::memcmp(magic, "\x1f\x8b", 2) == 0) return content::gzip;
    if (std::memcmp(magic, "PK\3\4", 4) == 0 || std::memcmp(magic, "PK\5\6", 4) == 0)
        return content::zip;
    // "MATLAB 7.3" begins an HDF5 file; version 4 has no mark.
    if (std::memcmp(magic, "MATLAB 5.0 MAT-file", 19) == 0) return content::matlab;
    return content::text;
}

std::unique_ptr<text_source> open_text(const std::string& path, std::int64_t start,
                                       std::size_t chunk_bytes, std::size_t line_bytes) {
    if (content_of(path) == content::gzip)
        return std::make_unique<gzip_source>(path, start, chunk_bytes, line_bytes);
    return std::make_unique<plain_source>(path, start, std::numeric_limits<std::int64_t>::max(),
                                          false, chunk_bytes, line_bytes);
}

std::unique_ptr<text_source> open_text_part(const std::string& path, std::int64_t first,
                                            std::int64_t last, std::size_t chunk_bytes) {
    NZ_ASSERT(first > 0);
    return std::make_unique<plain_source>(path, first, last, true, chunk_bytes, usual_line_bytes);
}

std::int64_t file_bytes(const std::string& path) { return input_file(path).size(); }

std::string gzip_member(std::string_view text) {
    z_stream z{};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    std::string packed(deflateBound(&z, uLong(text.size())), '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = uInt(text.size());
    z.next_out = reinterpret_cast<Bytef*>(packed.data());
    z.avail_out = uInt(packed.size());
    deflate(&z, Z_FINISH);
    packed.resize(z.total_out);
    deflateEnd(&z);
    return packed;
}

}  // namespace nz
