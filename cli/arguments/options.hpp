// The subcommands of nz and their options. CLI11 parses them; its headers, which take as long to
// compile as all else that a subcommand includes, stay in cli/arguments/arguments.cpp.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace nz::cli {

/// Runs the chosen subcommand once the arguments are parsed; returns an exit_code. It throws
/// nz::error (or std::bad_alloc), which main turns into one line on stderr and a code.
using action = std::function<int()>;

/// The numbers that an option takes. An end that is not given is the type's.
template <class T>
struct number_range {
    T least = std::numeric_limits<T>::lowest();
    T most = std::numeric_limits<T>::max();
    bool open = false;  ///< the ends themselves are left out
};

/// An option of a subcommand; what is said of it is said to the option itself, and returns it.
class option {
  public:
    explicit option(CLI::Option* o) : option_(o) {}
    option required() const;
    option needs(option other) const;
    option excludes(option other) const;
    option one_of(const std::vector<std::string>& words) const;
    /// The same where help lists the words elsewhere.
    option one_of_unlisted(const std::vector<std::string>& words) const;
    /// A number in decimal digits within the range, which help names, as does the refusal of other
    /// words. T: int, std::int64_t, std::uint64_t or double.
    template <class T>
    option number(number_range<T> range = {}) const;
    /// Several at once, with this character between them.
    option separated_by(char) const;
    /// Words are spelt so before anything else is made of them.
    option spelt(std::string (*as)(std::string)) const;
    option type_name(const std::string&) const;  ///< what help calls its argument
    option shows_default() const;                ///< the value that its variable has now
    option shows_default(const std::string&) const;

  private:
    CLI::Option* option_;
};

/// An option, as help, man pages and completion show it.
struct option_words {
    std::vector<std::string> long_names, short_names;  ///< without dashes
    std::string positional;                            ///< its name there; empty where it has none
    std::string names;                                 ///< all of them, as they are typed
    std::string description;                           ///< the default, where there is one, too
};

/// A subcommand, or nz itself, as they show it.
struct command_words {
    std::string name, description, footer;
    std::vector<option_words> options;
    std::vector<command_words> subcommands;  ///< those that help lists, sorted by name
    std::vector<command_words> unlisted;

    /// The subcommand of that name, or null.
    [[nodiscard]] const command_words* find(const std::string& subcommand) const;
};

/// nz itself or one of its subcommands, to which options and subcommands are added.
class command {
  public:
    command(CLI::App* app, action* chosen) : app_(app), chosen_(chosen) {}
    command add_subcommand(const std::string& name, const std::string& what) const;
    /// As many of its own subcommands must be given.
    void require_subcommands(std::size_t least, std::size_t most) const;
    void footer(const std::string&) const;
    void unlisted() const;  ///< by help

    /// T: std::string, int, std::int64_t, std::uint64_t, double, an optional double, a vector of
    /// strings or of int.
    template <class T>
    option add_option(const std::string& names, T& to, const std::string& what) const;
    option add_option(const std::string& names, const std::function<void(const std::string&)>& take,
                      const std::string& what) const;
    option add_flag(const std::string& names, bool& to, const std::string& what) const;

    /// Sets the action of the subcommand, which runs if the arguments name it.
    void does(const action&) const;
    /// Called where the arguments name it, once they are parsed. It may `choose`, or call
    /// `missing`.
    void when_named(const std::function<void()>&) const;
    void choose(const action& a) const { *chosen_ = a; }
    /// Refuses the arguments, as `what` is not among them.
    [[noreturn]] static void missing(const std::string& what);

    [[nodiscard]] bool has_named_subcommand() const;
    /// The options given, as "--name", without arguments that stand in their place.
    [[nodiscard]] std::vector<std::string> given() const;
    [[nodiscard]] command_words words() const;
    /// The help of the subcommand that `names` lead to.
    [[nodiscard]] std::string help_of(const std::vector<std::string>& names) const;

  private:
    CLI::App* app_;
    action* chosen_;
};

}  // namespace nz::cli
