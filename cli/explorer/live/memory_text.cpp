#include "cli/explorer/live/memory_text.hpp"

#include <algorithm>
#include <utility>

#include "nonzero/io/text.hpp"

namespace nz {
namespace {

std::string the_text;

/// All lines from byte `start` on, in one piece.
class memory_source final : public text_source {
  public:
    explicit memory_source(std::int64_t start)
        : start_(std::min(std::size_t(start), the_text.size())) {}
    std::optional<lines> next(host_vector<char>& buffer) override {
        if (start_ == the_text.size()) return std::nullopt;
        const std::size_t from = std::exchange(start_, the_text.size());
        const std::size_t bytes = the_text.size() - from;
        buffer.assign(bytes + text_padding, '\n');
        std::copy_n(the_text.data() + from, bytes, buffer.data());
        return lines{0, std::int64_t(from), {buffer.data(), bytes}};
    }
    [[nodiscard]] double fraction() const override { return 1; }
    [[nodiscard]] double max_pieces() const override { return 1; }

  private:
    std::size_t start_;
};

}  // namespace

std::unique_ptr<text_source> open_text(const std::string&, std::int64_t start, std::size_t,
                                       std::size_t) {
    return std::make_unique<memory_source>(start);
}

namespace cli {

void set_text(std::string text) {
    the_text = std::move(text);
    if (!the_text.empty() && the_text.back() != '\n') the_text += '\n';
}

}  // namespace cli
}  // namespace nz
