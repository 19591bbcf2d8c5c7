#include "nonzero/io/text.hpp"

#include <algorithm>

#include "nonzero/core/error.hpp"

namespace nz {

opening text_start(const std::string& path, std::size_t bytes) {
    const auto source = open_text(path, 0, std::min(bytes, std::size_t(64) << 10));
    opening start;
    host_vector<char> buffer;
    while (start.text.size() < bytes && start.fault.empty()) {
        const auto piece = source->next(buffer);
        if (!piece) break;
        start.text.append(piece->text.begin(), piece->text.end());
        start.fault = piece->fault;
    }
    return start;
}

void expect_utf8(const std::string& path) {
    const std::string text = text_start(path, 64).text.substr(0, 64);
    const bool marked = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
    if (!marked && text.find('\0') == std::string::npos) return;
    throw parse_error(path, 1,
                      marked ? "is text in UTF-16, expected UTF-8, as iconv -f UTF-16 -t UTF-8 "
                               "makes of it"
                             : "has zero bytes, as text in UTF-16 or no text, expected UTF-8");
}

std::int64_t line_at(const std::string& path, std::int64_t at, std::size_t line_bytes) {
    const auto source = open_text(path, 0, std::size_t(1) << 20, line_bytes);
    host_vector<char> buffer;
    std::int64_t line = 1;
    while (const auto piece = source->next(buffer)) {
        const auto before =
            std::clamp<std::int64_t>(at - piece->offset, 0, std::int64_t(piece->text.size()));
        line += std::count(piece->text.begin(), piece->text.begin() + before, '\n');
        if (piece->offset + std::int64_t(piece->text.size()) > at || !piece->fault.empty()) break;
    }
    return line;
}

}  // namespace nz
