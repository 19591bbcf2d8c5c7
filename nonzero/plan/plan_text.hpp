// Parts of a plan's text, which `to_text` and `nz plan` put together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nonzero/plan/plan.hpp"

namespace nz {

/// Candidates that a plan's text shows, best first; the command shows all where it is asked to.
inline constexpr std::size_t shown_candidates = 5;

/// Paragraphs: the method chosen and how far it is ahead, after how many products its setup pays,
/// the error bound where values are stored in fewer digits, the matrix and the machine.
[[nodiscard]] std::vector<std::string> answer_of(const plan_report&);

/// Candidates that do not decline, best first.
[[nodiscard]] std::span<const plan_report::candidate> suitable(const plan_report&);

/// Heads of the table of candidates: bytes moved are those of a product, x and y among them; bytes
/// stored are the matrix' alone. Times measured are there where some were.
[[nodiscard]] std::vector<std::string> heads_of(const plan_report&);
/// A candidate's row of that table.
[[nodiscard]] std::vector<std::string> cells_of(const plan_report&, const plan_report::candidate&);

/// "more methods that suit: 21; that decline: 19"; empty where all are shown.
[[nodiscard]] std::string rest_of(const plan_report&);

}  // namespace nz
