// Files that are there whole or not at all, also when the process is ended.
#include "nonzero/io/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <list>

#include "nonzero/core/error.hpp"
#include "test/files.hpp"

namespace nz::test {
namespace {

TEST(atomic_file, unfinished_ones_are_removed_at_once) {
    const scratch_folder folder;
    atomic_file done(folder.file("done"));
    done.write(std::string_view("all"));
    done.commit();
    std::list<atomic_file> files;  // more than one slot, and some of them used twice
    for (int k = 0; k < 40; ++k) {
        files.emplace_back(folder.file("a" + std::to_string(k)));
        if (k % 3 == 0) files.pop_front();
    }
    EXPECT_EQ(folder.files(), files.size() + 1);
    remove_unfinished_files();
    EXPECT_EQ(folder.files(), 1U);
    EXPECT_THROW(files.front().commit(), error);
}

TEST(atomic_file, a_childs_end_leaves_the_parents) {
    const scratch_folder folder;
    atomic_file mine(folder.file("mine"));
    const pid_t child = ::fork();
    if (child == 0) {
        remove_unfinished_files();
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(folder.files(), 1U);
    mine.commit();
    EXPECT_TRUE(std::filesystem::exists(folder.file("mine")));
}

TEST(atomic_file, replaces_ordinary_files_only) {
    const scratch_folder folder;
    std::filesystem::create_directory(folder.file("folder"));
    ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
    for (const char* name : {"folder", "pipe"})
        EXPECT_THROW(atomic_file(folder.file(name)), error) << name;
    EXPECT_THROW(atomic_file("/dev/null"), error);
    EXPECT_EQ(folder.files(), 2U);
}

}  // namespace
}  // namespace nz::test
