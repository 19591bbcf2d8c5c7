// A library that is looked for when it is first asked for, and a matrix as C libraries take it.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Opened once, and never closed: threads of the library may still run.
class found_library {
  public:
    /// names: the first that is found is taken; what: its name in sentences.
    found_library(std::string what, std::initializer_list<const char*> names)
        : what_(std::move(what)) {
        for (const char* name : names)
            if ((library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != nullptr) return;
        why_not_ = what_ + " is not installed: " + dlerror();
    }
    template <class F>
    void load(const char* symbol, F& function) {
        if (library_ == nullptr) return;
        function = reinterpret_cast<F>(dlsym(library_, symbol));
        if (function == nullptr) refuse(std::string("has no ") + symbol);
    }
    void refuse(const std::string& why) { why_not_ = what_ + " " + why; }
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

  private:
    std::string what_, why_not_;
    void* library_ = nullptr;
};

/// row_ptr in 32 bits. Throws unavailable where that does not hold it.
template <class W>
std::vector<int> starts_of_rows(const csr<W, host_view>& A) {
    if (A.row_ptr.back() > std::numeric_limits<int>::max())
        throw unavailable("a matrix of 2^31 entries or more, which the library does not take");
    std::vector<int> starts(A.row_ptr.size());
    for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = int(A.row_ptr[i]);
    return starts;
}

}  // namespace nz
