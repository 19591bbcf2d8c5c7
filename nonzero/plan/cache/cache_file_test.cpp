// Cache files: given back to the build that wrote them, and whatever else stands in their place is
// passed over, without waiting for it.
#include "nonzero/plan/cache/cache_file.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "nonzero/gen/generate.hpp"
#include "nonzero/plan/plan.hpp"
#include "test/files.hpp"

namespace nz::test {
namespace {

namespace fs = std::filesystem;

class cache_file : public ::testing::Test {
  protected:
    cache_file() {
        setenv("XDG_CACHE_HOME", folder.file("cache").c_str(), 1);
        path = cache_path("a");
        alarm(60);  // what waits for ever fails
    }
    ~cache_file() override {
        alarm(0);
        setenv("XDG_CACHE_HOME", NZ_TEST_CACHE, 1);
    }
    [[nodiscard]] json loaded() const { return load_kept(path, {{"of", 1}}); }

    scratch_folder folder;
    std::string path;
};

void put_socket(const std::string& path) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof(at.sun_path) - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
    ::close(fd);
}

void put_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// Things that may stand in a file's place, and how each is made.
const std::pair<const char*, std::function<void(const std::string&)>> others[] = {
    {"folder", [](const std::string& at) { fs::create_directory(at); }},
    {"pipe", [](const std::string& at) { ASSERT_EQ(::mkfifo(at.c_str(), 0600), 0); }},
    {"socket", put_socket},
    {"endless device", [](const std::string& at) { fs::create_symlink("/dev/zero", at); }},
    {"loop of links", [](const std::string& at) { fs::create_symlink(at, at); }},
    {"empty file", [](const std::string& at) { put_text(at, ""); }},
    {"nothing but brackets",
     [](const std::string& at) { put_text(at, std::string(1 << 19, '[')); }},
    {"other file", [](const std::string& at) { put_text(at, "\x7f\x45\x4c\x46\x01\xff"); }},
    {"large file", [](const std::string& at) { fs::resize_file((put_text(at, ""), at), 1 << 30); }},
};

TEST_F(cache_file, gives_back_what_was_kept) {
    EXPECT_TRUE(loaded().is_null());
    keep(path, {{"of", 1}}, {{"speed", 2.5}, {"name", "\xff no UTF-8"}});
    EXPECT_EQ(loaded()["speed"], 2.5);
    EXPECT_TRUE(load_kept(path, {{"of", 2}}).is_null());
}

TEST_F(cache_file, of_another_build_is_stale) {
    keep(path, {{"of", 1}}, {{"speed", 2.5}});
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    json all = json::parse(text).value();
    ASSERT_EQ(all["build"].members().size(), 3U);
    for (const char* what : {"nz", "commit", "layouts"}) {
        json other = all;
        ASSERT_TRUE(other["build"].contains(what));
        other["build"][what] = "another";
        put_text(path, other.dump());
        EXPECT_TRUE(loaded().is_null()) << what;
    }
    put_text(path, all.dump());
    EXPECT_FALSE(loaded().is_null());
}

TEST_F(cache_file, whose_place_something_else_takes_is_passed_over) {
    fs::create_directories(fs::path(path).parent_path());
    for (const auto& [name, put] : others) {
        fs::remove_all(path);
        put(path);
        EXPECT_TRUE(loaded().is_null()) << name;
    }
    keep(path, {{"of", 1}}, {{"speed", 2.5}});  // it replaces a file
    EXPECT_EQ(loaded()["speed"], 2.5);
}

TEST_F(cache_file, whose_place_something_else_takes_stops_no_plan) {
    const auto A = laplace2d<double>(20, 20);
    const plan_options tuned{.tune = true, .tune_s = 1e-4};
    fs::create_directories(folder.file("cache/nonzero"));
    for (const int threads : {1, 2})  // of the machine's speeds
        others[threads - 1].second(cache_path("machine-cpu-" + std::to_string(threads)));
    EXPECT_FALSE(make_plan(A, cpu{2}).empty());
    (void)make_plan(A, cpu{1}, tuned);
    std::string kept;
    for (const auto& entry : fs::directory_iterator(folder.file("cache/nonzero")))
        if (entry.path().filename().string().rfind("plan-", 0) == 0) kept = entry.path();
    ASSERT_NE(kept, "");
    for (const auto& [name, put] : others) {
        fs::remove_all(kept);
        put(kept);
        EXPECT_FALSE(make_plan(A, cpu{1}, tuned).empty()) << name;
    }
}

TEST_F(cache_file, whose_folder_something_else_takes_stops_no_plan) {
    const auto A = laplace2d<double>(20, 20);
    for (const auto& [name, put] : others) {
        fs::remove_all(folder.file("cache"));
        put(folder.file("cache"));
        EXPECT_FALSE(make_plan(A, cpu{1}, {.tune = true, .tune_s = 1e-4}).empty()) << name;
    }
}

}  // namespace
}  // namespace nz::test
