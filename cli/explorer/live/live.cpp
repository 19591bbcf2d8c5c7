// Matrices typed into the explorer's page, laid out and traced there: the functions that its script
// calls in WebAssembly. They pass text through memory, and are called by one thread.
#include <complex>
#include <string>

#include "cli/explorer/explorer.hpp"
#include "cli/explorer/grid.hpp"
#include "cli/explorer/live/memory_text.hpp"
#include "nonzero/io/matrix_market/matrix_market.hpp"

namespace nz::cli {
namespace {

const std::string name = "input";  // of the text, in what is told of its faults

std::string typed, answer;

template <class V>
json explored_or_why(const csr<V, host>& A) {
    if (auto why = why_too_large(A.shape, std::int64_t(A.val.size())); !why.empty())
        return {{"fault", why}};
    return explored(name, view(A), {});
}

/// Sizes are told in the header: no array of a matrix too large is made.
json explored_file() {
    set_text(typed);
    const file_info info = matrix_market::inspect(name);
    if (auto why = why_too_large(info.shape, info.entries); !why.empty()) return {{"fault", why}};
    if (info.field == field::complex)
        return explored_or_why(matrix_market::read<std::complex<double>>(name));
    return explored_or_why(matrix_market::read<double>(name));
}

json explored_text() {
    const std::size_t first = typed.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && typed.compare(first, 2, "%%") == 0) {
        typed.erase(0, first);
        return explored_file();
    }
    return explored_or_why(matrix_of_grid(name, typed));
}

}  // namespace
}  // namespace nz::cli

extern "C" {

/// Memory for a text of `bytes` bytes, which the script fills.
__attribute__((export_name("room_for"))) char* room_for(std::size_t bytes) {
    nz::cli::typed.assign(bytes, ' ');
    return nz::cli::typed.data();
}

/// JSON of that text, a Matrix Market file or a grid of cells, as `explored` tells it; or
/// {"fault": why} where it is neither, or too large. Ends in a zero byte.
__attribute__((export_name("explore"))) const char* explore() {
    try {
        nz::cli::answer = nz::cli::explored_text().dump();
    } catch (const std::exception& fault) {
        nz::cli::answer = nz::json{{"fault", fault.what()}}.dump();
    }
    return nz::cli::answer.c_str();
}
}
