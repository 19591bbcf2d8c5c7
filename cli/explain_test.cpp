// nz explain: its picture, its figures, and what it says of wrong arguments.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/kernel_trace.hpp"
#include "test/command.hpp"

namespace nz::test {
namespace {

using nlohmann::json;

/// 40 rows, tridiagonal.
std::string tridiagonal(int n) {
    std::ostringstream text;
    text << "%%MatrixMarket matrix coordinate real general\n" << n << " " << n << " " << 3 * n - 2;
    for (int i = 1; i <= n; ++i)
        for (int j = std::max(i - 1, 1); j <= std::min(i + 1, n); ++j)
            text << "\n" << i << " " << j << " " << (i == j ? 2 : -1);
    return text.str() + "\n";
}

/// n x n blocks of 2 x 2, tridiagonal: no layout with a kernel that is traced declines it.
std::string tridiagonal_blocks(int n) {
    std::ostringstream text;
    text << "%%MatrixMarket matrix coordinate real general\n"
         << 2 * n << " " << 2 * n << " " << 4 * (3 * n - 2);
    for (int i = 0; i < 2 * n; ++i)
        for (int j = std::max(i / 2 - 1, 0) * 2; j < std::min(i / 2 + 2, n) * 2; ++j)
            text << "\n" << i + 1 << " " << j + 1 << " 1";
    return text.str() + "\n";
}

std::size_t widest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
    return widest;
}

/// Every tag is closed, in order, and nothing stands outside the first.
bool is_well_formed(const std::string& xml) {
    std::vector<std::string> open;
    for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
        const std::size_t end = xml.find('>', at);
        if (end == std::string::npos || xml.find('<', at + 1) < end) return false;
        const std::string name = xml.substr(at + 1, xml.find_first_of(" >", at) - at - 1);
        if (name.front() == '/') {
            if (open.empty() || open.back() != name.substr(1)) return false;
            open.pop_back();
        } else if (xml[end - 1] != '/') {
            open.push_back(name);
        }
    }
    return open.empty();
}

TEST_F(command, explain_draws_a_warp_in_80_columns) {
    write("A.mtx", tridiagonal(40));
    const auto [code, out, err] = nz("explain A.mtx --method ell.row");
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(err, "");
    EXPECT_LE(widest_line(out), 80U) << out;
    // Eight columns are a sector of 32 bytes, and four values.
    EXPECT_NE(out.find("col_ind        aaaaaaaa bbbbbbbb cccccccc dddddddd        4\n"),
              std::string::npos)
        << out;
    EXPECT_NE(out.find("val            aaaabbbb ccccdddd eeeeffff gggghhhh        8\n"),
              std::string::npos)
        << out;
    EXPECT_EQ(out.find('\033'), std::string::npos);
    // The second warp has eight rows.
    const auto second = nz("explain A.mtx --method ell.row --warp 1").out;
    EXPECT_NE(second.find("col_ind        aaaaaaaa"), std::string::npos) << second;
    EXPECT_EQ(second.find("aaaaaaaa bbbbbbbb"), std::string::npos) << second;
}

TEST_F(command, explain_tells_the_figures_as_json) {
    write("A.mtx", tridiagonal(64));
    const auto one = json::parse(nz("explain A.mtx --method ell.row --json").out);
    EXPECT_EQ(one["method"], "ell.row");
    EXPECT_EQ(one["all"]["loads_of"]["columns"]["requests"], 6);
    EXPECT_EQ(one["all"]["loads_of"]["columns"]["sectors"], 24);
    EXPECT_EQ(one["all"]["loads_of"]["values"]["used_bytes"], 2 * 3 * 32 * 8);
    EXPECT_EQ(one["kernels"][0]["kernel"], "row_kernel");
    EXPECT_EQ(one["all"]["loads_by_bytes"]["4"], one["all"]["loads_of"]["columns"]);
    const auto single = json::parse(nz("explain A.mtx --method ell.row --type float --json").out);
    EXPECT_EQ(single["all"]["loads_of"]["values"]["used_bytes"], 2 * 3 * 32 * 4);
    const auto hyb = json::parse(nz("explain A.mtx --method hyb.device --json").out);
    EXPECT_EQ(hyb["kernels"].size(), 1U);  // no row is longer than the split
}

TEST_F(command, explain_writes_a_picture_that_is_well_formed) {
    write("A&<B.mtx", tridiagonal(40));
    for (const char* const method : {"ell.row", "csr.merge", "packed.warp", "coo.segmented"}) {
        const auto [code, out, err] =
            nz(std::string("explain 'A&<B.mtx' -o warp.svg --method ") + method);
        EXPECT_EQ(code, 0) << err;
        const std::string svg = slurp(dir / "warp.svg");
        EXPECT_EQ(svg.rfind("<svg xmlns=", 0), 0U);
        EXPECT_TRUE(is_well_formed(svg)) << svg;
        EXPECT_NE(svg.find("A&#38;&#60;B"), std::string::npos);
    }
    EXPECT_NE(slurp(dir / "warp.svg").find("<title>lane 31: "), std::string::npos);
}

TEST_F(command, explain_lists_all_kernels) {
    write("A.mtx", tridiagonal(100));
    const auto [code, out, err] = nz("explain A.mtx");
    EXPECT_EQ(code, 0) << err;
    EXPECT_LE(widest_line(out), 80U) << out;
    const auto j = json::parse(nz("explain A.mtx --json").out);
    for (const std::string_view method : traced_methods<double>()) {
        EXPECT_NE(out.find("\n" + std::string(method) + " "), std::string::npos) << method;
        EXPECT_TRUE(std::any_of(j["methods"].begin(), j["methods"].end(), [&](const json& m) {
            return m["method"] == method && m.contains("binds") != m.contains("declined");
        })) << method;
    }
    const auto one = json::parse(nz("explain A.mtx --method hll.warp --json").out);
    EXPECT_TRUE(std::any_of(j["methods"].begin(), j["methods"].end(), [&](const json& m) {
        return m["method"] == "hll.warp" && m["kernels"] == one["kernels"];
    }));
    EXPECT_NE(out.find("hyb.host_tail         declined: "), std::string::npos);
}

TEST_F(command, explain_predicts_times_without_a_gpu) {
    ASSERT_EQ(nz("generate laplace3d --nx 40 --ny 40 --nz 40 -o L.npz").code, 0);
    const std::string h100 = std::string(NZ_SOURCE_DIR) + "/bench/results/h100/machine.json";
    const auto [code, out, err] = nz("explain L.npz --gpu " + h100);
    EXPECT_EQ(code, 0) << err;
    EXPECT_LE(widest_line(out), 80U) << out;
    EXPECT_NE(out.find("Times are predicted for an NVIDIA H100 80GB HBM3,\nwhich is not here"),
              std::string::npos)
        << out;
    const auto j = json::parse(nz("explain L.npz --json --gpu " + h100).out);
    EXPECT_EQ(j["predicted_for"], "NVIDIA H100 80GB HBM3");
    double last = 0;
    for (const json& m : j["methods"]) {
        if (m.contains("declined")) continue;
        EXPECT_GE(m["predicted_s"], last) << m["method"];
        EXPECT_FALSE(m.contains("measured_s"));
        last = m["predicted_s"];
    }
    // No product of these bytes takes less than a launch, nor a millisecond.
    EXPECT_GT(j["methods"][0]["predicted_s"], 2e-6);
    EXPECT_LT(last, 1e-3);
    if (why_no_gpu().empty()) return;
    const auto plain = json::parse(nz("explain L.npz --json").out);
    EXPECT_EQ(plain["predicted_for"], "NVIDIA H200");
    EXPECT_LT(plain["methods"][0]["predicted_s"], j["methods"][0]["predicted_s"]);
}

TEST_F(command, explain_refuses_a_file_that_tells_of_no_gpu) {
    write("A.mtx", tridiagonal(10));
    write("none.json", R"({"gpu": {"none": "no driver"}})");
    write("less.json", R"({"gpu": {"name": "A"}})");
    write("text.json", "no JSON at all");
    for (const char* const name : {"none.json", "less.json", "text.json", "missing.json"})
        for (const char* const method : {"", " --method csr.vector"}) {
            const auto r = nz(std::string("explain A.mtx --gpu ") + name + method);
            EXPECT_EQ(r.code, 3) << name;
            EXPECT_NE(r.err.find(std::string(name) + ": "), std::string::npos) << r.err;
        }
}

TEST_F(command, explain_shows_its_progress_and_after_ctrl_c_what_it_has) {
    ASSERT_EQ(nz("generate laplace3d --nx 80 --ny 80 --nz 80 -o L.npz").code, 0);
    const std::string arguments = "explain L.npz --threads 1 --json j.json";
    // The JSON's place is held once counting begins.
    EXPECT_EQ(interrupted(arguments, stage::pipe, "ls | grep -q part && sleep 0.2"), "130\n");
    EXPECT_EQ(slurp(dir / "err"), "");
    EXPECT_NE(slurp(dir / "out").find("Bottleneck of each:"), std::string::npos);
    const auto j = json::parse(slurp(dir / "j.json"));
    EXPECT_EQ(j["interrupted"], true);
    EXPECT_LT(j["methods"].size(), traced_methods<double>().size());
    if (!has_terminals()) GTEST_SKIP() << no_terminals;
    EXPECT_EQ(interrupted(arguments, stage::terminal, "grep -qs 'counting L, ' seen"), "130\n");
}

TEST_F(command, explain_multiplies_once_on_a_gpu) {
    write("A.mtx", tridiagonal_blocks(50));
    ASSERT_EQ(nz("explain A.mtx --threads 1 --json all.json").code, 0);
    for (const auto& m : json::parse(slurp(dir / "all.json"))["methods"])
        EXPECT_TRUE(m["method"] == "hyb.host_tail" || m["method"] == "packed.stripes" ||
                    !m.contains("declined"))
            << m;
    if (const std::string why = why_no_gpu(); !why.empty()) {
        const auto r = nz("explain A.mtx --once --json once.json");
        EXPECT_EQ(r.code, 4);
        EXPECT_NE(r.err.find(why), std::string::npos) << r.err;
        GTEST_SKIP() << why;
    }
    EXPECT_EQ(nz("explain A.mtx --once --json once.json").code, 0);
    const auto all = json::parse(slurp(dir / "once.json"))["multiplied"];
    EXPECT_EQ(all.size(), traced_methods<double>().size()) << all;
    EXPECT_EQ(nz("explain A.mtx --once --method ell.row").out, "ell.row\n");
}

TEST_F(command, explain_takes_matrices_without_rows_entries_or_breadth) {
    const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
    write("empty.mtx", banner + "0 0 0\n");
    write("no_columns.mtx", banner + "5 0 0\n");
    write("no_entries.mtx", banner + "7 5 0\n");
    write("one_row.mtx", banner + "1 3 3\n1 1 1\n1 2 nan\n1 3 inf\n");
    for (const char* const name : {"empty", "no_columns", "no_entries", "one_row"}) {
        const auto all = nz(std::string("explain ") + name + ".mtx");
        EXPECT_EQ(all.code, 0) << name << all.err;
        EXPECT_EQ(all.out.find("nan"), std::string::npos) << all.out;
        for (const std::string_view method : traced_methods<double>()) {
            const auto one =
                nz(std::string("explain ") + name + ".mtx --method " + std::string(method));
            EXPECT_TRUE(one.code == 0 || one.code == 1) << name << " " << method << one.err;
            EXPECT_EQ(one.out.find("nan"), std::string::npos) << one.out;
        }
    }
}

TEST_F(command, explain_refuses_what_it_cannot_draw) {
    write("A.mtx", tridiagonal(40));
    const auto expect = [&](const char* arguments, int code, const char* says) {
        const auto r = nz(std::string("explain ") + arguments);
        EXPECT_EQ(r.code, code) << arguments << r.err;
        EXPECT_NE(r.err.find(says), std::string::npos) << r.err;
        EXPECT_EQ(r.out, "");
    };
    expect("A.mtx --method ell.nothing", 2, "no method 'ell.nothing'; there are ell.row");
    expect("A.mtx --method ell.row --warp 8", 2, "launches 8 warps");
    expect("A.mtx --method ell.row --warp -1", 2, "--warp");
    expect("A.mtx --method ell.row -o warp.png", 2, "warp.png");
    expect("A.mtx --warp 1", 2, "apply to one --method");
    expect("A.mtx --method ell.row --once --warp 1", 2, "without --once");
    expect("A.mtx --method csr.serial", 1, "does not run on the GPU");
    expect("A.mtx --method hyb.host_tail", 1, "its kernel has no trace");
    expect("nowhere.mtx", 3, "nowhere.mtx");
    write(
        "long.mtx", "%%MatrixMarket matrix coordinate real general\n50 50 50\n" + [] {
            std::string text;
            for (int j = 1; j <= 50; ++j) text += "1 " + std::to_string(j) + " 1\n";
            return text;
        }());
    expect("long.mtx --method ell.row", 1, "ell.row: ");
}

}  // namespace
}  // namespace nz::test
