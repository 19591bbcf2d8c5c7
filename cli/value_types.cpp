#include "cli/value_types.hpp"

#include <vector>

#include "nonzero/io/io.hpp"

namespace nz::cli {
namespace {

option add_option(const command& sub, std::string& to, const std::string& what) {
    std::vector<std::string> names;
#define NZ_ADD_NAME(V) names.push_back(type_option<V>());
    NZ_FOR_EACH_VALUE(NZ_ADD_NAME)
#undef NZ_ADD_NAME
    // C++ and reports of other libraries say complex<double>.
    const auto spelling = [](std::string type) {
        const std::string_view complex = "complex<";
        if (type.starts_with(complex) && type.ends_with('>'))
            type = "c" + type.substr(complex.size(), type.size() - complex.size() - 1);
        return type;
    };
    return sub.add_option("--type", to, what).one_of(names).spelt(spelling);
}

}  // namespace

std::string type_of_file(const std::string& path) {
    return inspect(path).field == field::complex ? type_option<std::complex<double>>()
                                                 : type_option<double>();
}

void add_type_option(const command& sub, std::string& to) {
    add_option(sub, to, "type of the values").shows_default();
}

void add_type_of_file_option(const command& sub, std::string& to) {
    add_option(sub, to, "type of the values (default: double, or cdouble for a complex matrix)");
}

option add_storage_option(const command& sub, value_storage& to, const std::string& what) {
    std::vector<std::string> names;
    for (const value_storage s : value_storages) names.emplace_back(name_of(s));
    return sub
        .add_option(
            "--storage", [&to](const std::string& name) { to = storage_named(name); }, what)
        .one_of(names)
        .shows_default(std::string(name_of(to)));
}

}  // namespace nz::cli
