#include "c/status.hpp"

#include <array>
#include <new>
#include <string_view>

#include "nonzero/core/gpu.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz::c {
namespace {

thread_local std::string last_error;

constexpr std::array<const char*, 11> names = {
    "ok",          "not_converged", "invalid_argument", "invalid_handle",
    "wrong_type",  "parse_error",   "out_of_memory",    "device_error",
    "unavailable", "unsuitable",    "internal_error"};
static_assert(names.size() == NZ_INTERNAL_ERROR + 1);

int told(int status, std::string_view what) noexcept {
    try {
        last_error = what;
    } catch (const std::bad_alloc&) {
        last_error.clear();
    }
    return status;
}

}  // namespace

int status_of_exception() noexcept {
    try {
        throw;
    } catch (const handle_error& e) {
        return told(NZ_INVALID_HANDLE, e.what());
    } catch (const type_error& e) {
        return told(NZ_WRONG_TYPE, e.what());
    } catch (const argument_error& e) {
        return told(NZ_INVALID_ARGUMENT, e.what());
    } catch (const parse_error& e) {
        return told(NZ_PARSE_ERROR, e.what());
    } catch (const out_of_memory& e) {
        return told(NZ_OUT_OF_MEMORY, e.what());
    } catch (const device_error& e) {
        return told(NZ_DEVICE_ERROR, e.what());
    } catch (const unavailable& e) {
        return told(NZ_UNAVAILABLE, e.what());
    } catch (const unsuitable& e) {
        return told(NZ_UNSUITABLE, e.what());
    } catch (const std::bad_alloc&) {
        return told(NZ_OUT_OF_MEMORY, "the memory does not suffice");
    } catch (const std::length_error&) {
        return told(NZ_OUT_OF_MEMORY, "the memory does not suffice");
    } catch (const std::exception& e) {
        return told(NZ_INTERNAL_ERROR, e.what());
    } catch (...) {
        return told(NZ_INTERNAL_ERROR, "an exception of no known type");
    }
}

int not_converged(const std::string& why) { return told(NZ_NOT_CONVERGED, why); }

}  // namespace nz::c

extern "C" {

const char* nz_version(void) { return NZ_VERSION; }
int nz_abi_version(void) { return NZ_ABI; }
const char* nz_status_name(int status) {
    return status < 0 || status > NZ_INTERNAL_ERROR ? "unknown" : nz::c::names[std::size_t(status)];
}
const char* nz_last_error(void) { return nz::c::last_error.c_str(); }
int nz_gpu_count(void) { return nz::gpu_count(); }
}
