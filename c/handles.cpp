#include "c/handles.hpp"

#include <mutex>
#include <unordered_set>

namespace nz::c {
namespace {

struct registry {
    std::mutex mutex;
    std::unordered_set<const void*> live;
};
/// Never destroyed: handles may be given back while the process ends.
registry& handles() {
    static auto* const all = new registry;
    return *all;
}

}  // namespace

void enter(const void* p) {
    const std::lock_guard lock(handles().mutex);
    handles().live.insert(p);
}
void leave(const void* p) {
    const std::lock_guard lock(handles().mutex);
    handles().live.erase(p);
}
bool is_live(const void* p) {
    const std::lock_guard lock(handles().mutex);
    return handles().live.contains(p);
}

void refuse_handle(const char* name, bool null) {
    throw handle_error(null ? fmt::format("{} is null", name)
                            : fmt::format("{} is no handle of its kind, or was destroyed", name));
}

std::string name_of_type(int type) {
    switch (type) {
        case NZ_FLOAT:
            return "NZ_FLOAT";
        case NZ_DOUBLE:
            return "NZ_DOUBLE";
        case NZ_COMPLEX_FLOAT:
            return "NZ_COMPLEX_FLOAT";
        case NZ_COMPLEX_DOUBLE:
            return "NZ_COMPLEX_DOUBLE";
        default:
            return fmt::format("{}", type);
    }
}
void refuse_type(int type, int expected) {
    throw type_error(fmt::format("type is {}, expected {}", name_of_type(type),
                                 expected == 0 ? "a type of values" : name_of_type(expected)));
}

void refuse_array(const char* name, std::int64_t length, bool null) {
    throw argument_error(null ? fmt::format("{} is null, expected {} elements", name, length)
                              : fmt::format("the length of {} is {}", name, length));
}

void refuse_lost_operator() {
    throw out_of_memory("the operator is lost: memory ran out as its values were replaced");
}

void expect_device(int device, int threads) {
    if (threads < 0 || threads > max_threads)
        throw argument_error(fmt::format("threads={}, expected 0 to {}", threads, max_threads));
    if (device == NZ_CPU) return;
    if (device < 0)
        throw argument_error(
            fmt::format("device is {}, expected NZ_CPU or the number of a GPU", device));
    if (const auto why = why_no_gpu({.device = device}); !why.empty()) throw unavailable(why);
}

void refuse_operator(const char* name) {
    throw type_error(fmt::format("{} is of other values than A, or on another device", name));
}

void expect_same_place(const nz_matrix& A, int device) {
    const auto place = [](int number) {
        return number == NZ_CPU ? std::string("the CPU's memory") : fmt::format("GPU {}", number);
    };
    if (A.device != device)
        throw argument_error(
            fmt::format("A lies in {}, expected in {}", place(A.device), place(device)));
}
void expect_reachable(const nz_matrix& A, int device) {
    if (A.device != NZ_CPU && A.device != device)
        throw argument_error(fmt::format("A lies on GPU {}, and device is {}", A.device,
                                         device == NZ_CPU ? "NZ_CPU" : fmt::format("{}", device)));
}

}  // namespace nz::c
