#include "nonzero/core/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

namespace nz {
namespace {

/// The types of errors that ranks tell each other of.
enum class kind : int { none, argument, parse, memory, device, absent, other };

/// Report of one rank on its outcome; a message too long for it is cut.
struct telling {
    kind of = kind::none;
    std::array<char, 1020> text = {};
};

telling make_telling(kind of, std::string_view what) {
    telling t{of, {}};
    std::copy_n(what.begin(), std::min(what.size(), t.text.size() - 1), t.text.begin());
    return t;
}

telling describe(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const argument_error& e) {
        return make_telling(kind::argument, e.what());
    } catch (const parse_error& e) {
        return make_telling(kind::parse, e.what());
    } catch (const out_of_memory& e) {
        return make_telling(kind::memory, e.what());
    } catch (const device_error& e) {
        return make_telling(kind::device, e.what());
    } catch (const unavailable& e) {
        return make_telling(kind::absent, e.what());
    } catch (const std::bad_alloc&) {
        return make_telling(kind::memory, "out of memory");
    } catch (const std::exception& e) {
        return make_telling(kind::other, e.what());
    } catch (...) {
        return make_telling(kind::other, "an unknown exception");
    }
}

template <class E>
struct told : E, agreed_error {
    template <class... Args>
    explicit told(int at, const Args&... args) : E(args...), agreed_error{at} {}
};

[[noreturn]] void throw_told(int rank, const telling& t) {
    const std::string text = t.text.data();
    switch (t.of) {
        case kind::argument:
            throw told<argument_error>(rank, text);
        case kind::parse: {
            // parse_error writes "path: what", so that the text comes out as it was.
            const std::size_t colon = std::min(text.find(": "), text.size() - 2);
            throw told<parse_error>(rank, text.substr(0, colon), 0, text.substr(colon + 2));
        }
        case kind::memory:
            throw told<out_of_memory>(rank, text);
        case kind::device:
            throw told<device_error>(rank, text);
        case kind::absent:
            throw told<unavailable>(rank, text);
        default:
            throw told<error>(rank, text);
    }
}

}  // namespace

void agree(const communicator* ranks, const std::function<void()>& f) {
    if (ranks == nullptr) return f();
    std::exception_ptr thrown;
    try {
        f();
    } catch (...) {
        thrown = std::current_exception();
    }
    if (on_all(ranks, thrown == nullptr)) return;
    const auto all = gathered(*ranks, thrown ? describe(thrown) : telling{});
    const auto first =
        std::find_if(all.begin(), all.end(), [](const telling& t) { return t.of != kind::none; });
    throw_told(int(first - all.begin()), *first);
}

void expect_equal(const communicator* ranks, const std::string& what,
                  std::span<const double> numbers) {
    if (ranks == nullptr) return;
    const std::size_t n = numbers.size();
    std::vector<double> all(n * std::size_t(ranks->size()));
    ranks->all_gather(std::as_bytes(numbers), std::as_writable_bytes(std::span(all)));
    for (std::size_t r = 1; r < std::size_t(ranks->size()); ++r)
        if (std::memcmp(all.data() + r * n, all.data(), n * sizeof(double)) != 0)
            throw told<argument_error>(int(r), what + ": rank " + std::to_string(r) +
                                                   " was given other arguments than rank 0");
}

bool on_all(const communicator* ranks, bool holds) {
    if (ranks == nullptr) return holds;
    const auto all = gathered(*ranks, char(holds));
    return std::all_of(all.begin(), all.end(), [](char c) { return c != 0; });
}

}  // namespace nz
