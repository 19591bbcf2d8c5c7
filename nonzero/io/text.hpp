// Text files, plain or gzipped, handed out in runs of whole lines to several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "nonzero/core/space.hpp"

namespace nz {

/// Kind of a file, by its first bytes.
enum class content { text, gzip, zip, matlab };
/// Throws parse_error where the file cannot be opened, or is no regular file.
content content_of(const std::string& path);

/// A longer line is a fault, unless a caller allows more: it marks what is no text.
inline constexpr std::size_t usual_line_bytes = std::size_t(1) << 20;

/// As many bytes may be read behind any text that is handed out; what they are is not told.
inline constexpr std::size_t text_padding = 8;

/// Whole lines of a text.
struct lines {
    std::int64_t number;         ///< counts from 0 in the order of the text
    std::int64_t offset;         ///< position of the first byte in the (inflated) text
    std::span<const char> text;  ///< ends in a newline unless empty; lives in the reader's buffer
    std::string fault{};         ///< why the text cannot be read on after these lines, if it cannot
};

/// Hands out a text. next() may be called by several threads at once, each with its own buffer.
class text_source {
  public:
    virtual ~text_source() = default;
    /// The next lines, or nothing at the end. Which lines a number holds is the same every time.
    virtual std::optional<lines> next(host_vector<char>& buffer) = 0;
    [[nodiscard]] virtual double fraction() const = 0;    ///< handed out so far, of the file
    [[nodiscard]] virtual double max_pieces() const = 0;  ///< no more are handed out
};

/// The text from byte `start` on, in pieces of about `chunk_bytes`; 0: 256 KB, and 1 MB of a file
/// of more than 64 MB, which are few enough pieces to make CSR from. Throws parse_error.
std::unique_ptr<text_source> open_text(const std::string& path, std::int64_t start,
                                       std::size_t chunk_bytes,
                                       std::size_t line_bytes = usual_line_bytes);

/// The lines of a file that start in its bytes [first, last), in pieces as above; first is behind a
/// line at least. The file is no gzip file. Throws parse_error.
std::unique_ptr<text_source> open_text_part(const std::string& path, std::int64_t first,
                                            std::int64_t last, std::size_t chunk_bytes);
/// Bytes of a file. Throws parse_error.
std::int64_t file_bytes(const std::string& path);

/// The first lines of a text.
struct opening {
    std::string text;     ///< fewer bytes than asked for where it ends or cannot be read on
    std::string fault{};  ///< why it cannot, if it cannot
};
/// At least the first `bytes` of the text, in whole lines. Throws parse_error.
opening text_start(const std::string& path, std::size_t bytes);

/// Throws parse_error where the text begins as one of UTF-16 or UTF-32 does.
void expect_utf8(const std::string& path);

/// `text` as a gzip file, or as a part of one: such files may follow each other.
std::string gzip_member(std::string_view text);

/// The number, from 1, of the line that byte `at` of the text is in; reads all before it.
std::int64_t line_at(const std::string& path, std::int64_t at,
                     std::size_t line_bytes = usual_line_bytes);

}  // namespace nz
