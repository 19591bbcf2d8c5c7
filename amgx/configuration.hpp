// A configuration: what AmgX's keys are set to, in scopes.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace nz::amgx {

/// Keys and values of several scopes. A solver that a key names may have a scope of its own, in
/// which its keys are looked for; those that are not there are those of "default".
class configuration {
  public:
    struct entry {
        std::string value;
        std::string its_scope;  ///< of the solver that it names
    };

    /// Adds what a text says: a JSON object, or key=value with commas and semicolons between, each
    /// "scope:key(its scope)=value". lines: as of a file, in which lines are separate too. Throws
    /// failure with BAD_CONFIGURATION, naming the key; the configuration then is as before.
    void add(const std::string& text, bool lines = false);
    /// The same of a file. Throws failure with IO_ERROR where it cannot be read.
    void add_file(const char* path);

    /// The key's value in this scope, else in "default"; null where neither sets it.
    [[nodiscard]] const entry* find(const std::string& scope, const std::string& key) const;

  private:
    void set(const std::string& scope, const std::string& key, entry);
    void add_pairs(const std::string& text, bool lines);
    void add_json(const std::string& text);
    template <class Json>
    void add_object(const Json& object, const std::string& scope, bool is_outer);

    std::map<std::pair<std::string, std::string>, entry> entries_;
    int version_ = 1;
};

}  // namespace nz::amgx
