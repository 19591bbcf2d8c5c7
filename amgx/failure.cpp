#include "amgx/failure.hpp"

#include <cstdio>
#include <mutex>
#include <new>

namespace nz::amgx {
namespace {

std::mutex guards_callback;
AMGX_print_callback callback = nullptr;

AMGX_RC fail(const char* function, AMGX_RC code, const char* why) {
    tell(fmt::format("{}: {}", function, why));
    return code;
}

}  // namespace

void tell(std::string_view text) {
    const std::string line = std::string(text) + "\n";
    AMGX_print_callback to = nullptr;
    {
        const std::lock_guard lock(guards_callback);
        to = callback;
    }
    if (to != nullptr) return to(line.c_str(), int(line.size()));
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

void set_print_callback(AMGX_print_callback to) {
    const std::lock_guard lock(guards_callback);
    callback = to;
}

AMGX_RC guarded(const char* function, const std::function<void()>& f) noexcept try {
    try {
        f();
        return AMGX_RC_OK;
    } catch (const failure& e) {
        return fail(function, e.code, e.what());
    } catch (const argument_error& e) {
        return fail(function, AMGX_RC_BAD_PARAMETERS, e.what());
    } catch (const parse_error& e) {
        return fail(function, AMGX_RC_IO_ERROR, e.what());
    } catch (const out_of_memory& e) {
        return fail(function, AMGX_RC_NO_MEMORY, e.what());
    } catch (const device_error& e) {
        return fail(function, AMGX_RC_CUDA_FAILURE, e.what());
    } catch (const unavailable& e) {
        return fail(function, AMGX_RC_NOT_SUPPORTED_TARGET, e.what());
    } catch (const std::bad_alloc&) {
        return fail(function, AMGX_RC_NO_MEMORY, "memory does not suffice");
    } catch (const std::exception& e) {
        return fail(function, AMGX_RC_INTERNAL, e.what());
    }
} catch (...) {
    return AMGX_RC_UNKNOWN;
}

}  // namespace nz::amgx
