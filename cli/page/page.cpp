#include "cli/page/page.hpp"

#include <cstdint>
#include <span>

#include "cli/page/embedded.hpp"
#include "nonzero/core/json.hpp"

namespace nz::cli {
namespace {

/// Puts `text` in the place of the first `marker`.
void put(std::string& page, std::string_view marker, std::string_view text) {
    page.replace(page.find(marker), marker.size(), text);
}

/// JSON in which no character begins or ends an element or a comment.
std::string escaped(const nz::json& data) {
    const std::string text = data.dump();
    std::string safe;
    safe.reserve(text.size());
    for (const char c : text) {
        if (c == '<') {
            safe += "\\u003c";
        } else if (c == '>') {
            safe += "\\u003e";
        } else if (c == '&') {
            safe += "\\u0026";
        } else {
            safe += c;
        }
    }
    return safe;
}

std::string together(std::span<const std::string_view> parts) {
    std::string all;
    for (const std::string_view part : parts) all += part;
    return all;
}

/// `policy`: what scripts may do beyond running.
std::string page_of(std::string_view title, std::string_view policy,
                    std::span<const std::string_view> styles,
                    std::span<const std::string_view> scripts, const nz::json& data) {
    std::string page(page_html);
    put(page, "{{policy}}", policy);
    put(page, "{{title}}", title);
    put(page, "{{script}}", together(scripts));
    put(page, "{{style}}", together(styles));
    put(page, "{{data}}", escaped(data));
    return page;
}

}  // namespace

std::string report_page(const nz::json& data) {
    return page_of("nonzero report", "", report_styles, report_scripts, data);
}

std::string explorer_page(const nz::json& data) {
    const std::string_view policy = data.contains("live") ? " 'wasm-unsafe-eval'" : "";
    return page_of("nonzero show", policy, explorer_styles, explorer_scripts, data);
}

std::string base64(std::string_view bytes) {
    static constexpr char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t three = 0;
        for (std::size_t k = at; k < at + 3; ++k)
            three = three << 8U | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            text += at + k > bytes.size() ? '=' : digits[three >> (18U - 6U * k) & 63U];
    }
    return text;
}

}  // namespace nz::cli
