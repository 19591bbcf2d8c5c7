// nz spy: the sparsity picture, in the terminal or as PNG.
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/command.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/io/picture.hpp"

namespace nz::cli {
namespace {

struct spy_arguments {
    std::string path, output, style = "auto";
    int width = 0, height = 0;  ///< 0: what fits
};

/// How a matrix becomes characters.
struct canvas {
    enum { shades, dots } kind;
    int width, height;  ///< the picture's size                                        [pixels]
};

constexpr int dots_across = 2, dots_down = 4;  // of a braille character

/// The room for the picture [characters]: the terminal's, without frame, legend and prompt.
picture_size room(const spy_arguments& o) {
    winsize w{};
    picture_size r{78, 40};
    if (is_terminal(stdout) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 10 &&
        w.ws_row > 10)
        r = {w.ws_col - 2, w.ws_row - 4};
    return {o.width > 0 ? o.width : r.width, o.height > 0 ? o.height : r.height};
}

bool has_colours() { return is_terminal(stdout) && std::getenv("NO_COLOR") == nullptr; }

/// Two characters an entry where that fits, as characters are twice as high as wide; else a dot an
/// entry where that does; else as many entries a dot as must be, or, where dots have no colour to
/// show how many, shades.
canvas choose(const spy_arguments& o, shape A) {
    const auto [across, down] = room(o);
    const bool large = A.cols <= across / 2 && A.rows <= down;
    const bool medium = A.cols <= across * dots_across && A.rows <= down * dots_down;
    const bool shades =
        o.style == "shades" || (o.style == "auto" && (large || !(medium || has_colours())));
    if (shades && large) return {canvas::shades, 2 * A.cols, A.rows};
    if (shades) {
        const picture_size s = fit(A, across, 2 * down);
        return {canvas::shades, s.width, (s.height + 1) / 2};
    }
    if (medium) return {canvas::dots, A.cols, A.rows};
    const picture_size s = fit(A, across * dots_across, down * dots_down);
    return {canvas::dots, s.width, s.height};
}

/// From the faintest to the densest, of the 256 colours of terminals.
constexpr int heat[] = {27, 33, 39, 44, 48, 118, 190, 220, 208, 196};

/// Which of `n` steps a density is, from the faintest that spy() gives to 1.
int step(float density, int n) {
    return std::clamp(int((density - 0.3F) / 0.7F * float(n)), 0, n - 1);
}

std::string shades_of(const picture& p, int row) {
    static constexpr const char* shade[] = {"░", "▒", "▓", "█"};
    std::string text;
    for (int x = 0; x < p.width; ++x) text += p.at(x, row) > 0 ? shade[step(p.at(x, row), 4)] : " ";
    return text;
}

/// The braille character of a set of dots, in UTF-8: U+2800 + dots.
std::string braille(unsigned dots) {
    return {char(0xE2), char(0xA0 + (dots >> 6U)), char(0x80 + (dots & 0x3FU))};
}

std::string dots_of(const picture& p, int row, bool coloured) {
    static constexpr unsigned bit[dots_down][dots_across] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    std::string text;
    int colour = -1;  // of the characters before
    for (int x = 0; x < p.width; x += dots_across) {
        unsigned dots = 0;
        float densest = 0;
        for (int dy = 0; dy < dots_down; ++dy)
            for (int dx = 0; dx < dots_across; ++dx) {
                const int px = x + dx, py = row * dots_down + dy;
                if (px >= p.width || py >= p.height || p.at(px, py) == 0) continue;
                dots |= bit[dy][dx];
                densest = std::max(densest, p.at(px, py));
            }
        const int wanted = heat[step(densest, std::size(heat))];
        if (coloured && dots != 0 && wanted != colour)
            text += fmt::format("\033[38;5;{}m", colour = wanted);
        text += dots == 0 ? " " : braille(dots);
    }
    return colour < 0 ? text : text + "\033[0m";
}

template <class V>
void print_picture(const spy_arguments& o, const csr<V, host_view>& A) {
    const canvas c = choose(o, A.shape);
    const picture p =
        spy(A, std::clamp(c.width, 1, max_picture_side), std::clamp(c.height, 1, max_picture_side));
    const bool shades = c.kind == canvas::shades;
    const int across = shades ? p.width : (p.width + dots_across - 1) / dots_across;
    const int down = shades ? p.height : (p.height + dots_down - 1) / dots_down;
    const bool coloured = has_colours() && p.most > 1;
    std::string rule;
    for (int x = 0; x < across; ++x) rule += "─";
    fmt::print("┌{}┐\n", rule);
    for (int row = 0; row < down; ++row)
        fmt::print("│{}│\n", shades ? shades_of(p, row) : dots_of(p, row, coloured));
    fmt::print("└{}┘\n", rule);
    fmt::print("{}: {} x {}, {} nonzeros", o.path, A.shape.rows, A.shape.cols, A.val.size());
    if (p.most > 1) fmt::print(", up to {} in a {}", p.most, shades ? "character" : "dot");
    fmt::print("\n");
}

template <class V>
int draw(const spy_arguments& o) {
    const auto own = read_matrix<V>(o.path);
    const auto A = view(own);
    if (o.output.empty()) {
        print_picture(o, A);
        return done;
    }
    constexpr int side = 800;
    const picture_size s =
        fit(A.shape, o.width > 0 ? o.width : side, o.height > 0 ? o.height : side);
    const picture p = spy(A, s.width, s.height);
    write_png(o.output, p);
    if (o.output == "-") return done;
    fmt::print("{}: {} x {} pixels, up to {} nonzeros in one\n", o.output, p.width, p.height,
               p.most);
    return done;
}

}  // namespace

void add_spy(const command& nz) {
    const auto sub = nz.add_subcommand("spy", "The sparsity picture, in the terminal or as PNG");
    sub.footer("Example: nz spy A.mtx -o spy.png --width 1200 --height 1200");
    const auto o = std::make_shared<spy_arguments>();
    sub.add_option("matrix", o->path, matrix_help()).required();
    sub.add_option("-o,--output", o->output, "file for a PNG, instead of characters; - for stdout")
        .type_name("FILE");
    sub.add_option("--width", o->width, "largest width, in characters, or pixels of the PNG")
        .number<int>({1, max_picture_side});
    sub.add_option("--height", o->height, "largest height, in characters, or pixels of the PNG")
        .number<int>({1, max_picture_side});
    sub.add_option("--style", o->style, "style of the characters")
        .one_of({"auto", "dots", "shades"})
        .shows_default();
    sub.does([o] {
        expect_writable(o->output, any_ending);
        return inspect(o->path).field == field::complex ? draw<std::complex<double>>(*o)
                                                        : draw<double>(*o);
    });
}

}  // namespace nz::cli
