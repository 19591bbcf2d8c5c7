#include "nonzero/plan/arm_cores.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace nz {
namespace {

struct core {
    unsigned implementer, part;
    const char* name;
};

// Cores of 64 bits in servers, desktops and boards, by the manuals of their makers.
constexpr core cores[] = {{0x41, 0xd03, "Cortex-A53"},
                          {0x41, 0xd04, "Cortex-A35"},
                          {0x41, 0xd05, "Cortex-A55"},
                          {0x41, 0xd07, "Cortex-A57"},
                          {0x41, 0xd08, "Cortex-A72"},
                          {0x41, 0xd09, "Cortex-A73"},
                          {0x41, 0xd0a, "Cortex-A75"},
                          {0x41, 0xd0b, "Cortex-A76"},
                          {0x41, 0xd0c, "Neoverse-N1"},
                          {0x41, 0xd0d, "Cortex-A77"},
                          {0x41, 0xd40, "Neoverse-V1"},
                          {0x41, 0xd41, "Cortex-A78"},
                          {0x41, 0xd42, "Cortex-A78AE"},
                          {0x41, 0xd44, "Cortex-X1"},
                          {0x41, 0xd46, "Cortex-A510"},
                          {0x41, 0xd47, "Cortex-A710"},
                          {0x41, 0xd48, "Cortex-X2"},
                          {0x41, 0xd49, "Neoverse-N2"},
                          {0x41, 0xd4a, "Neoverse-E1"},
                          {0x41, 0xd4b, "Cortex-A78C"},
                          {0x41, 0xd4d, "Cortex-A715"},
                          {0x41, 0xd4e, "Cortex-X3"},
                          {0x41, 0xd4f, "Neoverse-V2"},
                          {0x43, 0x0af, "ThunderX2"},
                          {0x46, 0x001, "A64FX"},
                          {0x48, 0xd01, "Kunpeng-920"},
                          {0x4e, 0x004, "Carmel"},
                          {0x61, 0x022, "Apple M1 Icestorm"},
                          {0x61, 0x023, "Apple M1 Firestorm"},
                          {0x61, 0x032, "Apple M2 Blizzard"},
                          {0x61, 0x033, "Apple M2 Avalanche"},
                          {0xc0, 0xac3, "Ampere-1"},
                          {0xc0, 0xac4, "Ampere-1a"}};

/// The number of a line "key : 0x41" of that key.
std::optional<unsigned> number_of(const std::string& line, const std::string& key) {
    const auto at = line.find("0x");
    if (!line.starts_with(key) || at == std::string::npos) return {};
    unsigned number = 0;
    const char* const end = line.data() + line.size();
    if (std::from_chars(line.data() + at + 2, end, number, 16).ec != std::errc()) return {};
    return number;
}

std::string name_of(unsigned implementer, unsigned part) {
    for (const core& c : cores)
        if (c.implementer == implementer && c.part == part) return c.name;
    return fmt::format("arm64 core 0x{:x}:0x{:03x}", implementer, part);
}

}  // namespace

std::string arm_cores(std::istream& cpuinfo) {
    std::vector<std::string> names;
    unsigned implementer = 0;
    for (std::string line; std::getline(cpuinfo, line);) {
        if (const auto n = number_of(line, "CPU implementer")) implementer = *n;
        const auto part = number_of(line, "CPU part");
        if (!part) continue;
        const std::string name = name_of(implementer, *part);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : " and ") + name;
    return all;
}

}  // namespace nz
