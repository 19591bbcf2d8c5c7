// All that CLI11 does, in one file: its header takes longer to compile than what is here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "cli/arguments/options.hpp"
#include "cli/arguments/parsing.hpp"
#include "cli/help/help.hpp"

namespace nz::cli {
namespace {

constexpr std::string_view before_default = " (default: ";

/// The description with `more` behind it, but before what it says of the default.
std::string with(const std::string& description, const std::string& more) {
    const auto at = std::min(description.find(before_default), description.size());
    return description.substr(0, at) + more + description.substr(at);
}

template <class T>
bool has(const number_range<T>& r, T x) {
    return r.open ? r.least < x && x < r.most : r.least <= x && x <= r.most;
}

/// "from 1 to 50", ">= 0", "> 0 and < 1"; empty where any number will do.
template <class T>
std::string text_of(const number_range<T>& r) {
    const char* const digits = std::floating_point<T> ? "{:g}" : "{}";
    const auto shown = [&](T end) { return fmt::format(fmt::runtime(digits), end); };
    const bool above = std::is_unsigned_v<T> || r.least > std::numeric_limits<T>::lowest();
    const bool below = r.most < std::numeric_limits<T>::max();
    if (above && below && !r.open) return "from " + shown(r.least) + " to " + shown(r.most);
    const std::string equal = r.open ? " " : "= ";
    const std::string lower = above ? ">" + equal + shown(r.least) : "";
    const std::string upper = below ? "<" + equal + shown(r.most) : "";
    return lower + (above && below ? " and " : "") + upper;
}

/// The number that the whole word is, in decimal digits; nothing where it is none, or none that T
/// holds, or not finite.
template <class T>
std::optional<T> number_of(const std::string& word) {
    const char* const end = word.data() + word.size();
    if constexpr (std::floating_point<T>) {
        char* stop = nullptr;
        const double x = std::strtod(word.c_str(), &stop);
        return word.empty() || stop != end || !std::isfinite(x) ? std::nullopt
                                                                : std::optional<T>(x);
    } else {
        T x{};
        const auto [stop, fault] = std::from_chars(word.data() + word.starts_with('+'), end, x);
        return fault != std::errc() || stop != end ? std::nullopt : std::optional<T>(x);
    }
}

}  // namespace

option option::required() const { return option(option_->required()); }
option option::needs(option other) const { return option(option_->needs(other.option_)); }
option option::excludes(option other) const { return option(option_->excludes(other.option_)); }

option option::one_of(const std::vector<std::string>& words) const {
    return one_of_unlisted(words).type_name(fmt::format("{}", fmt::join(words, "|")));
}

option option::one_of_unlisted(const std::vector<std::string>& words) const {
    return option(option_->check(CLI::IsMember(words).description(""))->type_name("NAME"));
}

// Words are checked before CLI11 converts them, which would take 010 for 8, a number too large for
// the largest there is, and nan for a number of any range.
template <class T>
option option::number(number_range<T> range) const {
    const auto check = [range](std::string& word) -> std::string {
        const auto x = number_of<T>(word);
        if (x && has(range, *x)) {
            if constexpr (std::integral<T>) word = std::to_string(*x);
            return {};
        }
        const auto real = number_of<double>(word);
        const bool too_large = std::integral<T> && real && *real >= double(range.most);
        std::string what = std::integral<T> ? "whole number" : "number";
        if (too_large)
            what += fmt::format(" <= {}", range.most);
        else if (!text_of(range).empty())
            what += " " + text_of(range);
        return fmt::format("expected a {}, not '{}'", what, word);
    };
    if (const std::string takes = text_of(range); !takes.empty())
        option_->description(with(option_->get_description(), ", " + takes));
    return option(option_->type_name(std::integral<T> ? "INT" : "FLOAT")
                      ->transform(CLI::Validator(check, "", "number")));
}
template option option::number(number_range<int>) const;
template option option::number(number_range<std::int64_t>) const;
template option option::number(number_range<std::uint64_t>) const;
template option option::number(number_range<double>) const;

option option::separated_by(char c) const { return option(option_->delimiter(c)); }
option option::spelt(std::string (*as)(std::string)) const {
    return option(option_->transform(as, "", "spelling"));
}
option option::type_name(const std::string& name) const { return option(option_->type_name(name)); }
option option::shows_default() const { return option(option_->capture_default_str()); }
option option::shows_default(const std::string& text) const {
    return option(option_->default_str(text));
}

command command::add_subcommand(const std::string& name, const std::string& what) const {
    return {app_->add_subcommand(name, what), chosen_};
}
void command::require_subcommands(std::size_t least, std::size_t most) const {
    app_->require_subcommand(least, most);
}
void command::footer(const std::string& text) const { app_->footer(text); }
void command::unlisted() const { app_->group(""); }

template <class T>
option command::add_option(const std::string& names, T& to, const std::string& what) const {
    return option(app_->add_option(names, to, what));
}
template option command::add_option(const std::string&, std::string&, const std::string&) const;
template option command::add_option(const std::string&, int&, const std::string&) const;
template option command::add_option(const std::string&, std::int64_t&, const std::string&) const;
template option command::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template option command::add_option(const std::string&, double&, const std::string&) const;
template option command::add_option(const std::string&, std::optional<double>&,
                                    const std::string&) const;
template option command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&) const;
template option command::add_option(const std::string&, std::vector<int>&,
                                    const std::string&) const;

option command::add_option(const std::string& names,
                           const std::function<void(const std::string&)>& take,
                           const std::string& what) const {
    return option(app_->add_option_function<std::string>(names, take, what));
}
option command::add_flag(const std::string& names, bool& to, const std::string& what) const {
    return option(app_->add_flag(names, to, what));
}

void command::does(const action& a) const {
    when_named([self = *this, a] { self.choose(a); });
}
void command::when_named(const std::function<void()>& f) const { app_->callback(f); }
void command::missing(const std::string& what) { throw CLI::RequiredError(what); }
bool command::has_named_subcommand() const { return !app_->get_subcommands().empty(); }

std::vector<std::string> command::given() const {
    std::vector<std::string> names;
    for (const CLI::Option* o : app_->get_options())
        if (o->count() > 0 && o->get_name().starts_with("--")) names.push_back(o->get_name());
    return names;
}

namespace {

/// Use of the option, its range, the others that go with it, and its default, in this order.
std::string whole_description(const CLI::Option& o) {
    std::string text = o.get_description();
    const auto names = [](const std::set<CLI::Option*>& others) {
        std::vector<std::string> all;
        for (const CLI::Option* other : others) all.push_back(other->get_name());
        std::sort(all.begin(), all.end());
        return fmt::format("{}", fmt::join(all, ", "));
    };
    if (!o.get_needs().empty()) text = with(text, "; only with " + names(o.get_needs()));
    if (!o.get_excludes().empty()) text = with(text, "; not with " + names(o.get_excludes()));
    if (!o.get_positional() && o.get_required()) text += " (required)";
    return o.get_default_str().empty()
               ? text
               : fmt::format("{}{}{})", text, before_default, o.get_default_str());
}

/// Its names as they are typed: CLI11 writes that of a flag with its default, --no-x{false}.
std::string names_of(const CLI::Option& o) {
    const std::string names = o.get_name(o.get_positional(), true);
    return names.substr(0, names.find('{'));
}

option_words words_of(const CLI::Option& o) {
    return {.long_names = o.get_lnames(),
            .short_names = o.get_snames(),
            .positional = o.get_positional() ? o.get_name(true) : "",
            .names = names_of(o),
            .description = whole_description(o)};
}

command_words words_of(const CLI::App& app) {
    command_words w{.name = app.get_name(),
                    .description = app.get_description(),
                    .footer = app.get_footer(),
                    .options = {},
                    .subcommands = {},
                    .unlisted = {}};
    for (const CLI::Option* o : app.get_options()) w.options.push_back(words_of(*o));
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        (sub->get_group().empty() ? w.unlisted : w.subcommands).push_back(words_of(*sub));
    std::sort(w.subcommands.begin(), w.subcommands.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return w;
}

}  // namespace

const command_words* command_words::find(const std::string& subcommand) const {
    for (const auto* all : {&subcommands, &unlisted})
        for (const command_words& w : *all)
            if (w.name == subcommand) return &w;
    return nullptr;
}

command_words command::words() const { return words_of(*app_); }

std::string command::help_of(const std::vector<std::string>& names) const {
    const CLI::App* at = app_;
    std::string typed = app_->get_name();
    for (const std::string& name : names) at = at->get_subcommand(name), typed += " " + name;
    // App::help would be that of the subcommand at hand.
    return at->get_formatter()->make_help(at, typed, CLI::AppFormatMode::Normal);
}

namespace {

/// Names on the left, descriptions wrapped on the right of them.
class fitting : public CLI::Formatter {
    [[nodiscard]] std::string on_the_right(const std::string& text) const {
        return wrapped(text, line_width(stdout) - get_column_width());
    }
    std::string make_option_name(const CLI::Option* o, bool is_positional) const override {
        return is_positional ? o->get_name(true) : names_of(*o);
    }
    /// Words typed behind the name; none behind a flag or an argument that stands in its place.
    std::string make_option_opts(const CLI::Option* o) const override {
        const bool several = o->get_expected_max() == CLI::detail::expected_max_vector_size;
        if (o->get_positional()) return several ? " ..." : "";
        return o->get_type_size() == 0 ? "" : " " + o->get_type_name() + (several ? " ..." : "");
    }
    std::string make_option_desc(const CLI::Option* o) const override {
        return on_the_right(whole_description(*o));
    }
    std::string make_subcommand(const CLI::App* sub) const override {
        std::ostringstream out;
        CLI::detail::format_help(out, sub->get_name(), on_the_right(sub->get_description()),
                                 get_column_width());
        return out.str();
    }
    /// Paragraphs are wrapped; examples, the last of them, stand as they are.
    std::string make_footer(const CLI::App* app) const override {
        std::string rest = app->get_footer(), text;
        for (auto end = rest.find("\n\n"); end != std::string::npos; end = rest.find("\n\n")) {
            text += wrapped(rest.substr(0, end), line_width(stdout)) + "\n\n";
            rest.erase(0, end + 2);
        }
        return rest.empty() ? rest : text + rest + "\n";
    }
};

/// The arguments given to `sub`, for people to read: what follows from them over ranks must be the
/// same on all, so that all are there but --threads.
std::string text_of_arguments(const CLI::App& sub) {
    std::string text = "nz " + sub.get_name();
    for (const CLI::Option* o : sub.get_options()) {
        if (o->count() == 0 || o->check_lname("threads")) continue;
        if (!o->get_positional()) text += " " + o->get_name();
        if (o->get_items_expected_max() == 0) continue;  // a flag
        for (const std::string& word : o->results()) text += " " + word;
    }
    return text;
}

/// Whether the subcommand of that name runs over ranks.
bool runs_over_ranks(const CLI::App& app, const std::string& name) {
    const auto named =
        app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; });
    return !named.empty() && named[0]->get_option_no_throw(share_gpu_option) != nullptr;
}

}  // namespace

command_line::command_line(const std::string& what, const std::string& version)
    : app_(std::make_unique<CLI::App>(what, "nz")) {
    app_->set_version_flag("--version", version);
    app_->require_subcommand(1);
    app_->formatter(std::make_shared<fitting>());
}

command_line::~command_line() = default;

command command_line::nz() { return {app_.get(), &chosen_}; }

request command_line::parse(const std::vector<std::string>& arguments) {
    if (arguments.empty())
        return {.run = [this] { return app_->exit(CLI::CallForHelp()); },
                .text = "nz",
                .is_said_once = true};
    request asked;
    try {
        app_->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // last first
        asked.run = chosen_;
        const CLI::App& sub = *app_->get_subcommands().front();
        const std::string& name = sub.get_name();
        asked.runs_over_ranks = runs_over_ranks(*app_, name);
        asked.is_said_once = name == "help" || name == "man" || name == "completion";
        asked.text = asked.runs_over_ranks ? text_of_arguments(sub) : "nz " + name;
    } catch (const CLI::ParseError& e) {
        asked.is_said_once = true;
        asked.text = "nz";
        for (const std::string& word : arguments) {
            asked.runs_over_ranks = asked.runs_over_ranks || runs_over_ranks(*app_, word);
            asked.text += " " + word;
        }
        if (e.get_exit_code() == 0)  // help was asked for, or the version
            asked.run = [this, e] { return app_->exit(e); };
        else
            asked.fault = explain(nz().words(), e.what(), arguments);
    }
    return asked;
}

}  // namespace nz::cli
