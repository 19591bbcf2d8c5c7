#include "petsc/running_petsc.hpp"

#include <dlfcn.h>
#include <petscsys.h>

#include <cstdint>
#include <cstdio>

namespace nz::petsc {
namespace {

std::string describe(std::int64_t major, std::int64_t minor, PetscDataType scalar,
                     std::size_t real_bytes, std::size_t index_bytes) {
    const std::string numbers = scalar == PETSC_COMPLEX ? "complex" : "real";
    const std::string precision = real_bytes == 8   ? "double"
                                  : real_bytes == 4 ? "single"
                                                    : std::to_string(8 * real_bytes) + "-bit";
    return "PETSc " + std::to_string(major) + "." + std::to_string(minor) + " of " + numbers +
           " numbers in " + precision + " precision and " + std::to_string(8 * index_bytes) +
           "-bit indices";
}

/// The library that holds what is at the address.
Dl_info library_at(const void* address) {
    Dl_info found{};
    dladdr(address, &found);
    return found;
}

}  // namespace

running_petsc::running_petsc(const void* address)
    : library_(dlopen(library_at(address).dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
    if (library_ == nullptr) library_ = dlopen(nullptr, RTLD_LAZY);  // the program itself
}

running_petsc::~running_petsc() {
    if (library_ != nullptr) dlclose(library_);
}

template <class F>
F* running_petsc::function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(library_, name));
}

/// As `describe` says it; empty where there is no PETSc, or none that answers.
std::string running_petsc::build() const {
    // Of 32 or 64 bits there, as its indices: of 64 that are 0 either fills those that count.
    using version = int(std::int64_t*, std::int64_t*, std::int64_t*, std::int64_t*);
    using type_named = int(const char*, PetscDataType*, PetscBool*);
    using size_of_type = int(PetscDataType, std::size_t*);
    auto* const get_version = function<version>("PetscGetVersionNumber");
    auto* const get_type = function<type_named>("PetscDataTypeFromString");
    auto* const get_size = function<size_of_type>("PetscDataTypeGetSize");
    if (get_version == nullptr || get_type == nullptr || get_size == nullptr) return {};
    std::int64_t major = 0, minor = 0, subminor = 0, release = 0;
    PetscDataType scalar = PETSC_DATATYPE_UNKNOWN, real = PETSC_DATATYPE_UNKNOWN;
    PetscBool found = PETSC_FALSE;
    std::size_t real_bytes = 0, index_bytes = 0;
    get_version(&major, &minor, &subminor, &release);
    get_type("scalar", &scalar, &found);
    get_type("real", &real, &found);
    get_size(real, &real_bytes);
    get_size(PETSC_INT, &index_bytes);
    return describe(major, minor, scalar, real_bytes, index_bytes);
}

std::string running_petsc::why_another_build() const {
    const std::string ours = describe(PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_SCALAR,
                                      sizeof(PetscReal), sizeof(PetscInt));
    const std::string theirs = build();
    if (theirs.empty())
        return "libnz_petsc.so was loaded by what is not linked with a shared library of PETSc's";
    if (theirs != ours)
        return "libnz_petsc.so is compiled for " + ours + ", the one that loads it is " + theirs;
    return {};
}

std::string running_petsc::why_not_called(const void* version_function) const {
    const auto called = library_at(version_function);
    const auto running = library_at(dlsym(library_, "PetscGetVersionNumber"));
    if (called.dli_fbase == running.dli_fbase) return {};
    return std::string("libnz_petsc_types.so is linked with ") + called.dli_fname +
           ", the PETSc that loads it is " + running.dli_fname;
}

int running_petsc::fail(const std::string& why) const {
    using raise = PetscErrorCode(MPI_Comm, int, const char*, const char*, PetscErrorCode,
                                 PetscErrorType, const char*, ...);
    if (auto* const to = function<raise>("PetscError"))
        return to(PETSC_COMM_SELF, __LINE__, __func__, __FILE__, PETSC_ERR_SUP, PETSC_ERROR_INITIAL,
                  "nonzero: %s", why.c_str());
    std::fprintf(stderr, "nonzero: %s\n", why.c_str());
    return PETSC_ERR_SUP;
}

}  // namespace nz::petsc
