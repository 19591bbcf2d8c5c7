#include "cli/read_matrix.hpp"

#include <fmt/format.h>

#include <chrono>

#include "cli/command.hpp"
#include "nonzero/io/file_formats.hpp"
#include "nonzero/io/io.hpp"

namespace nz::cli {
namespace {

/// A bar on stderr, drawn from the first second on and wiped when done.
class progress_bar {
  public:
    explicit progress_bar(std::string label) : label_(std::move(label)) {}
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;
    ~progress_bar() {
        if (drawn_) std::fprintf(stderr, "\r\033[K");
    }
    void operator()(double fraction) {
        if (clock::now() - start_ < std::chrono::seconds(1)) return;
        drawn_ = true;
        std::fprintf(stderr, "\r\033[K%s %3.0f%% %s", label_.c_str(), fraction * 100,
                     bar(fraction, 30).c_str());
    }

  private:
    using clock = std::chrono::steady_clock;
    std::string label_;
    clock::time_point start_ = clock::now();
    bool drawn_ = false;
};

}  // namespace

template <class V>
named_matrix<V> read_named_matrix(const std::string& path, int threads) {
    progress_bar shown(path);
    read_options o;
    o.threads = threads;
    if (is_terminal(stderr)) o.progress = std::ref(shown);
    return read_named<V>(path, o);
}

template <class V>
csr<V, host> read_matrix(const std::string& path, int threads) {
    return read_named_matrix<V>(path, threads).A;
}

std::string matrix_help() {
    std::string text = "file:";
    for (const file_format& f : file_formats()) text += fmt::format(" {}", f.endings[0]);
    return text + ", or - (stdin)";
}

std::string formats_help() {
    std::string text = "Files, also with .gz behind where they are text:\n";
    for (const file_format& f : file_formats())
        text += fmt::format(
            "  {:18} {}\n", f.name,
            fmt::join(f.endings.first(std::min<std::size_t>(f.endings.size(), 8)), " "));
    return text;
}

#define NZ_INSTANTIATE(V)                                       \
    template csr<V, host> read_matrix(const std::string&, int); \
    template named_matrix<V> read_named_matrix(const std::string&, int);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::cli
