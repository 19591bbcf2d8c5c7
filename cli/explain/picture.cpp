// The picture of a warp: lanes across, requests down, coloured by array and by sector.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "cli/command.hpp"
#include "cli/explain/explain.hpp"
#include "nonzero/core/json.hpp"

namespace nz::cli {
namespace {

class collector final : public access_sink {
  public:
    explicit collector(std::size_t most) : most_(most) {}
    void take(const access& a) override {
        if (requests.shown.size() < most_) requests.shown.push_back(a);
        ++requests.all;
    }
    warp_requests requests;

  private:
    std::size_t most_;
};

/// Two shades of every role's colour, which neighbouring sectors take in turn: for terminals of 256
/// colours, and for SVG.
struct shades {
    int terminal[2];
    const char* svg[2];
};
shades shades_of(array_role r) {
    switch (r) {
        case array_role::columns:
            return {{74, 110}, {"#4a90c2", "#9cc4e4"}};
        case array_role::values:
            return {{71, 114}, {"#4f9d5b", "#a3d3a5"}};
        case array_role::x:
            return {{172, 215}, {"#d9822b", "#f3bd85"}};
        case array_role::y:
            return {{133, 176}, {"#9b59a6", "#d0a8d6"}};
        case array_role::structure:
            break;
    }
    return {{245, 250}, {"#8a8f94", "#c5c9cc"}};
}

/// A letter for each of up to 32 sectors.
char letter(int sector) { return char(sector < 26 ? 'a' + sector : '0' + (sector - 26)); }

int sectors_in(const std::array<int, warp_lanes>& numbers) {
    return *std::max_element(numbers.begin(), numbers.end()) + 1;
}

std::string name_of(const access& a) { return std::string(a.to.name) + (a.store ? " =" : ""); }

std::string lanes_of(const access& a, const std::array<int, warp_lanes>& sector, bool coloured) {
    std::string text;
    int shade = -1;  // of the characters before
    for (std::size_t l = 0; l < warp_lanes; ++l) {
        const int wanted = sector[l] < 0 ? -1 : sector[l] % 2;
        if (coloured && wanted != shade) {
            text += wanted < 0 ? "\033[0m"
                               : fmt::format("\033[38;5;16;48;5;{}m",
                                             shades_of(a.to.role).terminal[wanted]);
            shade = wanted;
        }
        text += sector[l] < 0 ? ' ' : letter(sector[l]);
        if (l % 8 == 7 && l + 1 < warp_lanes) {
            if (coloured && shade >= 0) text += "\033[0m", shade = -1;
            text += ' ';
        }
    }
    return shade < 0 ? text : text + "\033[0m";
}

}  // namespace

warp_requests requests_of(const kernel_trace& t, std::int64_t warp, std::size_t most) {
    collector c(most);
    t.trace(warp, c);
    return std::move(c.requests);
}

std::array<int, warp_lanes> sector_numbers(const access& a) {
    std::vector<std::int64_t> met;
    std::array<int, warp_lanes> numbers;
    for (std::size_t l = 0; l < warp_lanes; ++l) {
        numbers[l] = -1;
        if (a.at[l] == idle) continue;
        const std::int64_t sector = a.at[l] * a.to.bytes / matrix_stats::sector_bytes;
        const auto at = std::find(met.begin(), met.end(), sector);
        numbers[l] = int(at - met.begin());
        if (at == met.end()) met.push_back(sector);
    }
    return numbers;
}

std::string_view role_name(array_role r) {
    static constexpr std::string_view names[array_roles] = {"structure", "columns", "values", "x",
                                                            "y"};
    return names[std::size_t(r)];
}

void print_picture(const warp_requests& r) {
    const bool coloured = is_terminal(stdout) && std::getenv("NO_COLOR") == nullptr;
    fmt::print("{:>7}  {:<13}  {:<35}  {:>7}\n", "request", "array",
               "lanes 0  8        16       24", "sectors");
    std::int64_t number = 0;
    for (const access& a : r.shown) {
        const auto sector = sector_numbers(a);
        fmt::print("{:>7}  {:<13}  {}  {:>7}\n", number++, name_of(a),
                   lanes_of(a, sector, coloured), sectors_in(sector));
    }
    if (r.all > number) fmt::print("{:>7}  and {} more\n", "...", r.all - number);
    fmt::print("\nLanes with one letter touch one sector of 32 bytes; blank lanes are idle.\n");
}

nz::json to_json(const warp_requests& r) {
    nz::json shown = nz::json::array();
    for (const access& a : r.shown) {
        std::string lanes;
        for (const int sector : sector_numbers(a)) lanes += sector < 0 ? ' ' : letter(sector);
        shown.push_back({{"array", a.to.name}, {"role", role_name(a.to.role)}, {"lanes", lanes}});
        if (a.store) shown.back()["store"] = true;
    }
    return {{"requests", r.all}, {"shown", std::move(shown)}};
}

std::string svg_picture(const warp_requests& r, const std::string& title) {
    constexpr int cell = 16, left = 130, top = 56, right = 70;
    const int height = top + cell * int(r.shown.size()) + 16,
              width = left + cell * warp_lanes + right;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" "
        "fill=\"#ffffff\"/>\n<text x=\"8\" y=\"18\" font-size=\"13\">{2}</text>\n",
        width, height, title);
    for (int l = 0; l < warp_lanes; l += 8)
        svg += fmt::format("<text x=\"{}\" y=\"{}\">lane {}</text>\n", left + cell * l, top - 6, l);
    svg += fmt::format("<text x=\"{}\" y=\"{}\">sectors</text>\n", left + cell * warp_lanes + 8,
                       top - 6);
    for (std::size_t k = 0; k < r.shown.size(); ++k) {
        const access& a = r.shown[k];
        const auto sector = sector_numbers(a);
        const int y = top + cell * int(k);
        svg += fmt::format("<text x=\"8\" y=\"{}\">{} {}</text>\n", y + 12, k, name_of(a));
        svg +=
            fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f2f2f2\"/>\n",
                        left, y, cell * warp_lanes - 1, cell - 1);
        for (std::size_t l = 0; l < warp_lanes; ++l) {
            if (sector[l] < 0) continue;
            svg += fmt::format(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>lane {}: "
                "{}[{}], sector {}</title></rect>\n",
                left + cell * int(l), y, cell - 1, cell - 1,
                shades_of(a.to.role).svg[sector[l] % 2], l, a.to.name, a.at[l],
                a.at[l] * a.to.bytes / matrix_stats::sector_bytes);
        }
        svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left + cell * warp_lanes + 8,
                           y + 12, sectors_in(sector));
    }
    return svg + "</svg>\n";
}

}  // namespace nz::cli
