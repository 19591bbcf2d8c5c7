// JSON as a value. The library behind it, whose header takes longer to compile than all that most
// files include, is in json.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "nonzero/core/error.hpp"

namespace nz {

/// null, true or false, a number, a text, an array, or an object: `{{"rows", n}, {"name", "A"}}`.
/// Where an object names a member twice, the first one counts.
class json {
  public:
    struct member;
    /// A member is missing, or of another kind than is asked for.
    struct exception : error {
        using error::error;
    };

    json();
    json(std::nullptr_t) : json() {}
    template <class T>
    requires std::is_arithmetic_v<T> json(T x) : json() { set(widened(x)); }
    json(std::string text);
    json(std::string_view text);
    json(const char* text);
    json(std::initializer_list<member> object);
    /// An array of what it holds.
    template <class R>
    requires(!std::is_convertible_v<const R&, std::string_view> && !std::is_same_v<R, json>) &&
        requires(const R& r) {
        json(*r.begin());
    }
    json(const R& range) : json(array()) {
        for (const auto& x : range) push_back(x);
    }
    json(const json&);
    json(json&&) noexcept;
    json& operator=(const json&);
    json& operator=(json&&) noexcept;
    ~json();

    static json array(std::initializer_list<json> = {});
    static json object();

    /// Of an array; null becomes an empty one. Throws exception.
    void push_back(json);
    /// The member of that name, which is made where it is not there; null becomes an object. Throws
    /// exception where it is neither.
    json& operator[](std::string_view key);
    /// Throws exception where it has none.
    const json& at(std::string_view key) const;
    const json& operator[](std::string_view key) const { return at(key); }
    json& operator[](std::size_t k) { return elements()[k]; }
    const json& operator[](std::size_t k) const { return elements()[k]; }
    /// Members of that object, in the place of those of the same names.
    void update(const json& object);

    [[nodiscard]] bool is_null() const;
    [[nodiscard]] bool is_object() const;
    [[nodiscard]] bool is_array() const;
    [[nodiscard]] bool is_text() const;
    [[nodiscard]] bool is_whole() const;  ///< a number without a fraction
    /// The member of that name; null where there is none, or this is no object.
    [[nodiscard]] const json* find(std::string_view key) const;
    [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }

    /// These throw exception where it is something else. `whole` takes no fraction.
    [[nodiscard]] double number() const;
    [[nodiscard]] std::int64_t whole() const;
    [[nodiscard]] const std::string& text() const;
    [[nodiscard]] std::vector<json>& elements();
    [[nodiscard]] const std::vector<json>& elements() const;
    [[nodiscard]] const std::vector<member>& members() const;

    /// Of an array.
    [[nodiscard]] std::size_t size() const { return elements().size(); }
    [[nodiscard]] bool empty() const { return elements().empty(); }
    [[nodiscard]] json& back() { return elements().back(); }
    [[nodiscard]] auto begin() { return elements().begin(); }
    [[nodiscard]] auto end() { return elements().end(); }
    [[nodiscard]] auto begin() const { return elements().begin(); }
    [[nodiscard]] auto end() const { return elements().end(); }

    /// As text: in one line, or `indent` spaces a level. Members are sorted by name; what is no
    /// UTF-8, as the name of a file may be, is replaced; numbers have all their digits.
    [[nodiscard]] std::string dump(int indent = -1) const;
    /// Nothing where the text is no JSON. Values deeper than `deepest` and members named `left_out`
    /// are left out.
    static std::optional<json> parse(const std::string& text, int deepest = 8,
                                     std::string_view left_out = {});

    friend bool operator==(const json&, const json&);

  private:
    using scalar = std::variant<bool, std::int64_t, std::uint64_t, double>;
    template <class T>
    static auto widened(T x) {
        if constexpr (std::is_same_v<T, bool>) {
            return x;
        } else if constexpr (std::is_floating_point_v<T>) {
            return double(x);
        } else if constexpr (std::is_unsigned_v<T>) {
            return std::uint64_t(x);
        } else {
            return std::int64_t(x);
        }
    }
    void set(bool);
    void set(std::int64_t);
    void set(std::uint64_t);
    void set(double);

    std::variant<std::monostate, scalar, std::string, std::vector<json>, std::vector<member>>
        value_;
    friend struct json_reader;
};

/// Its functions are compiled in json.cpp: an object is written as a list of members, and each of
/// them would be as much code again.
struct json::member {
    member(std::string_view key, json value);
    member(const member&);
    member(member&&) noexcept;
    member& operator=(const member&);
    member& operator=(member&&) noexcept;
    ~member();
    bool operator==(const member&) const;
    std::string key;
    json value;
};

}  // namespace nz
