"""The public names are those of docs/api.md, and few enough for a head.

A name is public where an installed header declares it in namespace nz; a type that these headers
declare and never define is opaque, and no name to learn. The documents list each once, by task.
"""

from __future__ import annotations

import re
import textwrap
import unittest

from public_headers_test import ROOT, public_headers

MOST = 150


def without(pattern: str, text: str, instead: str) -> str:
    """Replace what the pattern matches, again where that leaves more of it."""
    while (shorter := re.sub(pattern, instead, text)) != text:
        text = shorter
    return text


def declarations(header: str) -> list[str]:
    """List a header's declarations in namespace nz, without their bodies and arguments."""
    text = re.sub(r"//.*", "", header)
    text = re.sub(r"^\s*#(.*\\\n)*.*", "", text, flags=re.M)
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    text = re.sub(r"\boperator[<>=]+", "operator ", text)
    text = re.sub(r"->|<<|[<>]=", "", text)
    inside = re.search(r"^namespace nz \{\n(.*)^\}", text, re.M | re.S)
    if inside is None:
        return []
    text = without(r"\{[^{}]*\}", inside[1], "\0")
    text = without(r"\((?!\))[^()]*\)", text, "()")
    text = without(r"<[^<>]*>", text, "")
    text = re.sub(r"(?<!extern )(?<!template )(template )?\b(struct|class) \w+ *;", "", " ".join(text.split()))
    return [d.strip() for d in re.split("[;\0]", text) if d.strip()]


def name_of(declaration: str) -> str | None:
    """Give the name that it declares; None for operators, assertions and instantiations."""
    said = re.sub(r"^(template |requires ?\(\) ?(\|\| ?)?|\[\[\w+\]\] ?)+", "", declaration)
    if re.match(r"static_assert|extern template|using [\w:]+$", said) or " operator" in said:
        return None
    said = said.replace("decltype()", "auto")
    kind = re.match(r"(?:struct|class|enum class|enum|concept|using)(?: \[\[\w+\]\])? (\w+)", said)
    return (kind or re.search(r"(\w+) ?(\(|\[|=|$)", said))[1]


def public_names() -> set[str]:
    """Collect the names that the installed headers declare."""
    headers = [(ROOT / header).read_text() for header in public_headers()]
    return {n for header in headers for d in declarations(header) if (n := name_of(d))}


class PublicNames(unittest.TestCase):
    def test_are_told_from_their_declarations(self) -> None:
        header = """
        namespace nz {
        class before;
        struct [[nodiscard]] a { int b; struct c {}; };
        enum class d : char { e, f };
        template <class V, class B = x<y>> requires(z<V>) std::vector<V> g(const h<V>& i = {}) { }
        inline constexpr int j[] = {1, 2};
        constexpr double k = l(1);
        using m = n<o>;
        template <class V> concept p = requires(V v) { q(v); };
        bool operator==(a, a);
        static_assert(r<a>);
        extern template class s<a>;
        }"""
        found = {name_of(d) for d in declarations(textwrap.dedent(header))} - {None}
        self.assertEqual(found, {"a", "d", "g", "j", "k", "m", "p"})

    def test_are_those_of_the_documents(self) -> None:
        text = (ROOT / "docs/api.md").read_text()
        listed = [n for line in re.findall(r"^\| (`.*?) \|", text, re.M)
                  for n in re.findall(r"`(\w+)`", line)]
        self.assertEqual(sorted(listed), sorted(set(listed)), "listed twice")
        self.assertEqual(public_names() - set(listed), set(), "not in docs/api.md")
        self.assertEqual(set(listed) - public_names(), set(), "not in a public header")

    def test_are_few(self) -> None:
        self.assertLessEqual(len(public_names()), MOST)


if __name__ == "__main__":
    unittest.main()
