// The list of file formats against what is written of it, and how a file's kind is found.
#include "nonzero/io/io.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "nonzero/io/file_formats.hpp"
#include "test/files.hpp"

namespace nz::test {
namespace {

/// The table of docs/guides/files.md has every format and every ending.
TEST(file_formats, as_documented) {
    std::stringstream text;
    text << std::ifstream(NZ_SOURCE_DIR "/docs/guides/files.md").rdbuf();
    for (const file_format& f : file_formats()) {
        std::string row = "| " + std::string(f.name) + " |";
        for (const std::string_view ending : f.endings) row += " `" + std::string(ending) + "`";
        row += f.written ? " | yes |" : " | no |";
        EXPECT_NE(text.str().find(row), std::string::npos) << row;
    }
}

TEST(file_formats, follow_from_the_name_where_the_content_does_not_say) {
    const scratch_folder folder;
    const auto format_of = [&](const std::string& name, const std::string& text) {
        std::ofstream(folder.file(name)) << text;
        return inspect(folder.file(name)).format;
    };
    EXPECT_EQ(format_of("a.txt", "1 2\n"), "edge list");
    EXPECT_EQ(format_of("a.CSV", "1,2\n"), "edge list");
    EXPECT_EQ(format_of("a.graph", "1 0\n"), "METIS graph");
    EXPECT_EQ(format_of("a.graph", "%%MatrixMarket matrix array real general\n1 1\n"),
              "matrix market");
    for (const std::string name : {"a.mtx", "a", "a.dat"}) {
        try {
            format_of(name, "1 2\n");
            ADD_FAILURE() << name << " was read";
        } catch (const parse_error& e) {
            const std::string what = e.what();
            EXPECT_NE(what.find("no Matrix Market banner"), std::string::npos);
            EXPECT_EQ(what.find("a list of edges is named .txt, .tsv") == std::string::npos,
                      name == "a.mtx");
        }
    }
}

}  // namespace
}  // namespace nz::test
