#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/command.hpp"
#include "nonzero/core/error.hpp"

namespace nz::cli {

bool is_terminal(std::FILE* to) { return isatty(fileno(to)) == 1; }

namespace {
/// Characters shown, for UTF-8 text: its bytes that do not continue a character.
std::size_t width_of(const std::string& s) {
    return std::size_t(
        std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& s, std::size_t width, bool right) {
    const std::string space(width - std::min(width, width_of(s)), ' ');
    return right ? space + s : s + space;
}
}  // namespace

void table::add_row(std::vector<std::string> cells) {
    if (cells.size() != columns_.size()) throw argument_error("table: a row of the wrong width");
    rows_.push_back(std::move(cells));
}

void table::print(std::FILE* to) const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        widths.push_back(width_of(columns_[c].name));
        for (const auto& row : rows_) widths[c] = std::max(widths[c], width_of(row[c]));
    }
    const auto line = [&](auto cell) {
        std::string text;
        for (std::size_t c = 0; c < columns_.size(); ++c)
            text += (c == 0 ? "" : "  ") + padded(cell(c), widths[c], columns_[c].right);
        text.erase(text.find_last_not_of(' ') + 1);
        std::fprintf(to, "%s\n", text.c_str());
    };
    line([&](std::size_t c) { return columns_[c].name; });
    line([&](std::size_t c) { return std::string(widths[c], '-'); });
    for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
}

void table::print_markdown(std::FILE* to) const {
    const auto line = [&](auto cell) {
        for (std::size_t c = 0; c < columns_.size(); ++c)
            std::fprintf(to, "%s%s", c == 0 ? "| " : " | ", cell(c).c_str());
        std::fprintf(to, " |\n");
    };
    line([&](std::size_t c) { return columns_[c].name; });
    line([&](std::size_t c) { return std::string(columns_[c].right ? "---:" : "---"); });
    for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
}

std::string bar(double fraction, int width) {
    static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int steps = int(std::lround(std::clamp(fraction, 0.0, 1.0) * width * 8));
    std::string text;
    for (int k = 0; k < steps / 8; ++k) text += "█";
    return text + eighths[steps % 8];
}

std::string text_of_bytes(double bytes) {
    static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
    std::size_t unit = 0;
    for (bytes /= 1024; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
    return fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace nz::cli
