// libnz_petsc.so: lets PETSc load libnz_petsc_types.so, which lies beside it, where that suits.
//
// The types are linked with PETSc. Loaded into a PETSc of another build they would bring a second
// one into the process, and the first would call functions of it, as both have the same names. So
// this library is not linked with PETSc, and looks before it loads them.
#include <dlfcn.h>

#include <string>

#include "petsc/running_petsc.hpp"
#include "petsc/types.hpp"

namespace {

/// The path of the other library.
std::string path_of_types() {
    Dl_info here{};
    dladdr(reinterpret_cast<const void*>(&path_of_types), &here);
    const std::string path = here.dli_fname;
    return path.substr(0, path.rfind('/') + 1) + "libnz_petsc_types.so";
}

}  // namespace

/// PETSc calls it when it loads the library: the name is made of the file's.
extern "C" [[gnu::visibility("default")]] int PetscDLLibraryRegister_nz_petsc() {
    const nz::petsc::running_petsc petsc(__builtin_return_address(0));
    if (const auto why = petsc.why_another_build(); !why.empty()) return petsc.fail(why);
    void* const types = dlopen(path_of_types().c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (types == nullptr) return petsc.fail(dlerror());
    const auto version_function = reinterpret_cast<decltype(&nz_petsc_version_function)>(
        dlsym(types, "nz_petsc_version_function"));
    const auto register_types = reinterpret_cast<decltype(&nz_petsc_register_types)>(
        dlsym(types, "nz_petsc_register_types"));
    if (version_function == nullptr || register_types == nullptr)
        return petsc.fail(path_of_types() + " is of another version of nonzero");
    if (const auto why = petsc.why_not_called(version_function()); !why.empty())
        return petsc.fail(why);
    return register_types();
}
