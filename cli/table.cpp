#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "cli/command.hpp"
#include "nonzero/core/error.hpp"

namespace nz::cli {

bool is_terminal(std::FILE* to) { return isatty(fileno(to)) == 1; }

namespace {
bool wide = false;  // what --wide was given for: every line of this process
}

void add_wide_option(const command& sub) {
    sub.add_flag("--wide", wide, "show all columns, however long the lines");
}

std::size_t line_width(std::FILE* to) {
    if (wide) return std::size_t(1) << 20;
    constexpr std::size_t usual = 80;
    winsize size = {};
    if (ioctl(fileno(to), TIOCGWINSZ, &size) != 0) return usual;
    return std::max<std::size_t>(size.ws_col, usual);
}

namespace {
constexpr std::size_t between = 2;  // spaces between two columns

/// Characters shown, for UTF-8 text: its bytes that do not continue a character.
std::size_t width_of(const std::string& s) {
    return std::size_t(
        std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& s, std::size_t width, bool right) {
    const std::string space(width - std::min(width, width_of(s)), ' ');
    return right ? space + s : s + space;
}

/// At most `width` characters, the last of them an ellipsis where some are left out.
std::string clipped(const std::string& s, std::size_t width) {
    if (width_of(s) <= width) return s;
    std::size_t end = 0;
    for (std::size_t shown = 0; end < s.size(); ++end) {
        const bool starts_character = (s[end] & 0xC0) != 0x80;
        if (starts_character && ++shown == width) break;
    }
    return s.substr(0, end) + "…";
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines(1);
    for (const char c : text) {
        if (c == '\n') {
            lines.emplace_back();
        } else {
            lines.back() += c;
        }
    }
    return lines;
}

/// Of these columns side by side.
std::size_t total_width(const std::vector<std::size_t>& shown,
                        const std::vector<std::size_t>& widths) {
    std::size_t total = 0;
    for (const std::size_t c : shown) total += (total == 0 ? 0 : between) + widths[c];
    return total;
}
}  // namespace

void table::add_row(std::vector<std::string> cells) {
    if (cells.size() != columns_.size()) throw argument_error("table: a row of the wrong width");
    rows_.push_back(std::move(cells));
}

std::vector<std::size_t> table::widths() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t widest = 0;
        for (const std::string& line : lines_of(columns_[c].name))
            widest = std::max(widest, width_of(line));
        for (const auto& row : rows_) widest = std::max(widest, width_of(row[c]));
        widths.push_back(widest);
    }
    return widths;
}

void table::print_columns(const std::vector<std::size_t>& shown, std::FILE* to) const {
    const std::vector<std::size_t> width = widths();
    const auto line = [&](auto cell) {
        std::string text;
        for (const std::size_t c : shown)
            text += (c == shown.front() ? std::string() : std::string(between, ' ')) +
                    padded(cell(c), width[c], columns_[c].right);
        text.erase(text.find_last_not_of(' ') + 1);
        std::fprintf(to, "%s\n", text.c_str());
    };
    std::size_t height = 1;
    for (const std::size_t c : shown) height = std::max(height, lines_of(columns_[c].name).size());
    for (std::size_t above = height; above-- > 0;)
        line([&](std::size_t c) {
            const auto head = lines_of(columns_[c].name);
            return above < head.size() ? head[head.size() - 1 - above] : std::string();
        });
    line([&](std::size_t c) { return std::string(width[c], '-'); });
    for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
}

void table::clip(std::size_t column, std::size_t width) {
    for (auto& row : rows_) row[column] = clipped(row[column], width);
}

void table::print_within(std::size_t width, std::FILE* to) const {
    const std::vector<std::size_t> each = widths();
    std::vector<std::size_t> left(columns_.size());
    std::iota(left.begin(), left.end(), std::size_t(0));
    for (std::size_t c = columns_.size(); c-- > 0 && total_width(left, each) > width;)
        if (columns_[c].optional) std::erase(left, c);
    constexpr std::size_t least = 8;  // characters that are worth a column
    const std::size_t all = total_width(left, each), last = left.back();
    if (all > width && !columns_[last].right && all - each[last] + least <= width) {
        table narrow = *this;
        narrow.clip(last, width - (all - each[last]));
        return narrow.print_columns(left, to);
    }
    std::vector<std::size_t> shown;
    for (const std::size_t c : left) {
        shown.push_back(c);
        // Each table has two columns at least, however wide.
        if (shown.size() <= 2 || total_width(shown, each) <= width) continue;
        shown.pop_back();
        print_columns(shown, to);
        std::fputs("\n", to);
        shown = {left.front(), c};
    }
    print_columns(shown, to);
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

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
    std::istringstream words(text);
    std::string all, line, word;
    while (words >> word) {
        if (!line.empty() && line.size() + 1 + word.size() > width) {
            all += line + "\n";
            line = std::string(indent, ' ') + word;
        } else {
            line += (line.empty() ? "" : " ") + word;
        }
    }
    return all + line;
}

std::string bar(double fraction, int width) {
    static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int steps = int(std::lround(std::clamp(fraction, 0.0, 1.0) * width * 8));
    std::string text;
    for (int k = 0; k < steps / 8; ++k) text += "█";
    return text + eighths[steps % 8];
}

}  // namespace nz::cli
