// The value types as --type names them: the names, and the one place where a name becomes a type.
#pragma once

#include <string>

#include "cli/arguments/options.hpp"
#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/value.hpp"
#include "nonzero/plan/storage/storage.hpp"

namespace nz::cli {

/// "float", "double", "cfloat" or "cdouble".
template <class V>
std::string type_option() {
    return (is_complex<V> ? "c" : "") + std::string(value_name<real<V>>());
}

/// f.operator()<V>() for the V of that name. Throws argument_error for any other name.
template <class F>
int with_value_type(const std::string& name, const F& f) {
#define NZ_IF_NAMED(V) \
    if (name == type_option<V>()) return f.template operator()<V>();
    NZ_FOR_EACH_VALUE(NZ_IF_NAMED)
#undef NZ_IF_NAMED
    throw argument_error("--type: no value type '" + name + "'");
}

/// The type that holds the values of that file: cdouble where it is complex, else double.
std::string type_of_file(const std::string& path);

/// Adds --type, one of the names; what `to` holds is the default.
void add_type_option(const command& sub, std::string& to);
/// The same where the default is type_of_file of the matrix.
void add_type_of_file_option(const command& sub, std::string& to);
/// Adds --storage, the precision in which values are stored.
option add_storage_option(const command& sub, value_storage& to, const std::string& what);

}  // namespace nz::cli
