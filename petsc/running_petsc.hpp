// The PETSc that a library is loaded into, asked through its own symbols alone.
#pragma once

#include <string>

namespace nz::petsc {

/// The PETSc that the code at an address is part of or uses.
class running_petsc {
  public:
    explicit running_petsc(const void* address);
    running_petsc(const running_petsc&) = delete;
    running_petsc& operator=(const running_petsc&) = delete;
    ~running_petsc();

    /// Why it is not of the build that this is compiled for: one sentence, or "".
    [[nodiscard]] std::string why_another_build() const;
    /// Why the library that has this address of a function of PETSc's calls another one, or "".
    [[nodiscard]] std::string why_not_called(const void* version_function) const;
    /// Makes the sentence an error of that PETSc's, and returns its code.
    [[nodiscard]] int fail(const std::string& why) const;

  private:
    template <class F>
    [[nodiscard]] F* function(const char* name) const;
    [[nodiscard]] std::string build() const;

    void* library_;
};

}  // namespace nz::petsc
