// Rules of Matrix Market and habits of files in the wild, case by case: hence over 500 lines.
#include "nonzero/io/matrix_market/matrix_market.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <regex>
#include <sstream>

#include "nonzero/io/text.hpp"
#include "test/files.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

using C = std::complex<double>;

std::vector<std::string> corpus(const std::string& folder) {
    auto paths = files_of(folder, ".mtx");
    for (auto& path : files_of(folder, ".mtx.gz")) paths.push_back(path);
    return paths;
}

std::string path_of(const std::string& name) {
    return std::string(NZ_TEST_DATA) + "/mtx/valid/" + name;
}

// -- valid files
// -----------------------------------------------------------------------------------

double to_double(const std::string& word) { return std::strtod(word.c_str(), nullptr); }

/// The entries that a .dense file lists: a line a row, a word a column, '.' where there is none.
struct listing {
    index rows = 0, cols = 0;
    host_vector<offset> row_ptr{0};
    host_vector<index> col;
    host_vector<C> val;

    explicit listing(const std::string& path) {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line); ++rows) {
            std::istringstream words(line);
            index j = 0;
            for (std::string word; words >> word; ++j) {
                if (word == ".") continue;
                const std::size_t comma = word.find(',');
                const double im = comma == word.npos ? 0 : to_double(word.substr(comma + 1));
                col.push_back(j), val.emplace_back(to_double(word.substr(0, comma)), im);
            }
            cols = std::max(cols, j);
            row_ptr.push_back(offset(col.size()));
        }
    }
};

bool same_value(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(matrix_market, every_valid_file_holds_the_matrix_listed_beside_it) {
    int seen = 0;
    for (const auto& path : corpus("mtx/valid")) {
        SCOPED_TRACE(path);
        const listing want(path.substr(0, path.rfind(".mtx")) + ".dense");
        const auto A = read<C>(path);
        EXPECT_EQ(A.shape.rows, want.rows);
        if (want.rows > 0) {
            EXPECT_EQ(A.shape.cols, want.cols);
        }
        EXPECT_TRUE(A.row_ptr == offset_vector(want.row_ptr));
        EXPECT_TRUE(same_bits<index>(A.col_ind, want.col));
        ASSERT_EQ(A.val.size(), want.val.size());
        for (std::size_t k = 0; k < want.val.size(); ++k) {
            EXPECT_TRUE(same_value(A.val[k].real(), want.val[k].real())) << k << ": " << A.val[k];
            EXPECT_EQ(A.val[k].imag(), want.val[k].imag()) << k;
        }
        ++seen;
    }
    EXPECT_GE(seen, 60);
}

TEST(matrix_market, neither_chunks_nor_threads_change_a_bit) {
    for (const auto& path : corpus("mtx/valid")) {
        const auto want = read<C>(path);
        for (const std::size_t chunk : {1, 2, 3, 7, 16, 61, 1000})
            for (const int threads : {1, 3})
                EXPECT_TRUE(
                    same_matrix(matrix_market::read<C>(path, {.threads = threads}, chunk), want))
                    << path << ", chunks of " << chunk << ", " << threads << " threads";
    }
}

TEST(matrix_market, many_duplicates_are_summed_in_the_order_of_the_file) {
    const scratch_folder folder;
    const std::string path = folder.file("A.mtx");
    constexpr index n = 300;
    constexpr int entries = 60000;
    std::mt19937_64 rng(4);
    std::vector<double> sum(std::size_t(n) * n, 0);
    std::vector<bool> has_entry(sum.size());
    {
        std::ofstream file(path);
        file << "%%MatrixMarket matrix coordinate real general\n"
             << n << ' ' << n << ' ' << entries << '\n';
        file.precision(17);
        for (int k = 0; k < entries; ++k) {
            const auto i = rng() % n, j = rng() % 40;
            const auto v = random_value<double>(rng) * std::pow(10.0, double(rng() % 30));
            file << i + 1 << ' ' << j + 1 << ' ' << v << '\n';
            sum[i * n + j] += v, has_entry[i * n + j] = true;
        }
    }
    const auto A = read<double>(path);
    EXPECT_EQ(std::ptrdiff_t(A.val.size()), std::count(has_entry.begin(), has_entry.end(), true));
    for_each_entry(view(A), 0, n, [&](index i, index j, double v) {
        EXPECT_EQ(v, sum[std::size_t(i) * n + std::size_t(j)]) << i << ' ' << j;
    });
    for (const std::size_t chunk : {100, 1000, 100000})
        for (const int threads : {1, 2, 4})
            EXPECT_TRUE(
                same_matrix(matrix_market::read<double>(path, {.threads = threads}, chunk), A));
}

TEST(matrix_market, the_header_tells_what_is_in_the_file) {
    const file_info info = inspect(path_of("complex_hermitian.mtx"));
    EXPECT_EQ(info.format, "matrix market");
    EXPECT_EQ(info.shape, (shape{2, 2}));
    EXPECT_EQ(info.entries, 2);
    EXPECT_EQ(info.field, field::complex);
    EXPECT_EQ(info.symmetry, symmetry::hermitian);
    EXPECT_FALSE(info.dense);
    EXPECT_TRUE(inspect(path_of("array_symmetric.mtx")).dense);
    EXPECT_EQ(inspect(path_of("array_symmetric.mtx")).entries, 6);
    EXPECT_EQ(inspect(path_of("pattern.mtx")).field, field::pattern);
    EXPECT_EQ(inspect(path_of("gzip.mtx.gz")).entries, 5);
}

TEST(matrix_market, the_content_decides_and_not_the_name) {
    const scratch_folder folder;
    std::filesystem::copy(path_of("gzip.mtx.gz"), folder.file("A.npz"));
    EXPECT_TRUE(same_matrix(read<C>(folder.file("A.npz")), read<C>(path_of("plain.mtx"))));
}

TEST(matrix_market, the_matrices_of_the_repository_are_whole) {
    struct known {
        const char* name;
        shape size;
        std::size_t entries;
    };
    for (const auto& [name, size, entries] :
         {known{"memplus", {17758, 17758}, 126150}, known{"lap3d_40", {64000, 64000}, 438400},
          known{"bcsstk17", {10974, 10974}, 428650}, known{"lp_fast0507_A", {507, 63009}, 409349},
          known{"CA-HepPh", {89209, 89209}, 237010},
          known{"gitdag_simdjson", {85410, 85410}, 734037}}) {
        const auto A = read<double>(std::string(NZ_SOURCE_DIR) + "/matrices/" + name + ".mtx.gz");
        EXPECT_EQ(A.shape, size) << name;
        EXPECT_EQ(A.val.size(), entries) << name;
        EXPECT_NO_THROW(validate(view(A))) << name;
    }
}

TEST(matrix_market, progress_runs_from_0_to_1) {
    std::vector<double> seen;
    read<double>(std::string(NZ_SOURCE_DIR) + "/matrices/gitdag_simdjson.mtx.gz",
                 {.threads = 2, .progress = [&](double f) { seen.push_back(f); }});
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.back(), 1.0);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

// -- invalid files
// ---------------------------------------------------------------------------------

template <class V>
std::string message_of(const std::string& path, int threads, std::size_t chunk) {
    try {
        matrix_market::read<V>(path, {.threads = threads}, chunk);
        return "it was read";
    } catch (const parse_error& e) {
        return e.what();
    }
}

TEST(matrix_market, every_invalid_file_is_a_parse_error_at_its_line) {
    const std::regex name(R"(\.line(\d+)\.mtx)");
    int seen = 0;
    for (const auto& path : corpus("mtx/invalid")) {
        std::smatch line;
        ASSERT_TRUE(std::regex_search(path, line, name)) << path;
        const std::string prefix = path + ':' + line[1].str() + ": ";
        const std::string what = message_of<C>(path, 1, 0);
        EXPECT_TRUE(what.starts_with(prefix)) << what;
        EXPECT_NE(what.find(", expected "), what.npos) << what;
        for (const std::size_t chunk : {1, 13, 1000})
            EXPECT_EQ(message_of<C>(path, 3, chunk), what) << "chunks of " << chunk;
        if (what.find("complex") == what.npos) {
            EXPECT_TRUE(message_of<float>(path, 2, 100).starts_with(path + ':')) << path;
        }
        ++seen;
    }
    EXPECT_GE(seen, 120);
}

TEST(matrix_market, what_is_no_file_is_a_parse_error) {
    const scratch_folder folder;
    const auto what = [](const std::string& path) { return message_of<double>(path, 1, 100); };
    EXPECT_NE(what(folder.file("none")).find("none: cannot open: No such file"), std::string::npos);
    EXPECT_NE(what(folder.file("")).find("is a directory, expected a file"), std::string::npos);
    EXPECT_NE(what("/dev/null").find("is no regular file"), std::string::npos);
    EXPECT_THROW(inspect(folder.file("none")), parse_error);
    EXPECT_THROW(read<double>(folder.file("")), parse_error);
    EXPECT_THROW(read_vector<double>(folder.file("")), parse_error);
}

TEST(matrix_market, complex_values_are_no_real_ones) {
    EXPECT_THROW(read<double>(path_of("complex.mtx")), parse_error);
    EXPECT_THROW(read<float>(path_of("array_complex.mtx")), parse_error);
}

TEST(matrix_market, what_a_double_holds_may_be_too_large_for_a_float) {
    EXPECT_NO_THROW(read<double>(path_of("values.mtx")));
    EXPECT_NE(message_of<float>(path_of("values.mtx"), 1, 100).find("too large for float"),
              std::string::npos);
}

TEST(matrix_market, an_endless_line_is_an_error_and_is_not_kept) {
    const scratch_folder folder;
    const std::string path = folder.file("A.mtx");
    std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n1 1 1\n"
                        << std::string(std::size_t(5) << 20, ' ') << "1 1 1\n";
    EXPECT_NE(message_of<double>(path, 2, 1000).find(":3: a line of more than"), std::string::npos);
}

constexpr std::size_t chunks[] = {0, 100, 300000, std::size_t(3) << 20};

/// Reading gives this message at every size of chunk; "it was read" where nothing is wrong.
void expect_at_every_chunk(const std::string& path, const std::string& want) {
    for (const std::size_t chunk : chunks)
        for (const int threads : {1, 3})
            EXPECT_EQ(message_of<double>(path, threads, chunk), want) << "chunks of " << chunk;
}

TEST(matrix_market, a_line_of_1_mib_is_read_and_a_longer_one_is_one_error) {
    const scratch_folder folder;
    const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
    constexpr std::size_t most = std::size_t(1) << 20;
    for (const std::size_t length : {most, most + 1, most + 5000}) {
        const std::string comment = '%' + std::string(length - 1, 'x');
        const std::string in_header = banner + comment + "\n1 2 1\n1 1 1\n";
        const std::string in_body = banner + "1 2 2\n1 1 1\n" + comment + "\n1 2 1\n";
        const std::string at_end = banner + "1 2 1\n1 1 1\n" + comment;
        for (const auto& [text, line] : {std::pair(&in_header, 2), {&in_body, 4}, {&at_end, 4}}) {
            const std::string plain = folder.file("A.mtx"), gzip = folder.file("A.mtx.gz");
            std::ofstream(plain) << *text;
            std::ofstream(gzip) << gzip_member(*text);
            for (const std::string& path : {plain, gzip})
                expect_at_every_chunk(path, length == most
                                                ? "it was read"
                                                : path + ':' + std::to_string(line) +
                                                      ": a line of more than 1048576 bytes, "
                                                      "expected a text file");
        }
    }
}

TEST(matrix_market, a_gzip_cut_short_says_so_wherever_it_is_cut) {
    const scratch_folder folder;
    std::string text = "%%MatrixMarket matrix coordinate real general\n% a comment\n9 9 81\n";
    for (int k = 0; k < 81; ++k)  // what repeats is inflated long after its bytes were read
        text +=
            std::to_string(k / 9 + 1) + ' ' + std::to_string(k % 9 + 1) +
            (k % 2 == 0 ? " 1.0000000000000000\n" : " " + std::to_string(k * k * 7 % 97) + '\n');
    const std::string whole = gzip_member(text), path = folder.file("A.mtx.gz");
    for (std::size_t bytes = 2; bytes < whole.size(); ++bytes) {
        std::ofstream(path) << whole.substr(0, bytes);
        const std::string what = message_of<double>(path, 1, 0);
        EXPECT_TRUE(what.ends_with(": the gzip data end early, expected more")) << what;
        for (const std::size_t chunk : {1, 3, 40, 1000})
            EXPECT_EQ(message_of<double>(path, 1, chunk), what)
                << bytes << " bytes, chunks of " << chunk;
    }
}

TEST(matrix_market, a_long_line_cut_short_with_its_gzip_is_one_error) {
    const scratch_folder folder;
    const std::string path = folder.file("A.mtx.gz");
    const std::string whole = gzip_member("%%MatrixMarket matrix coordinate real general\n1 1 1\n" +
                                          std::string((std::size_t(1) << 20) + 9000, ' ') + "1");
    std::ofstream(path) << whole.substr(0, whole.size() - 9);
    expect_at_every_chunk(path,
                          path + ":3: a line of more than 1048576 bytes, expected a text file");
}

TEST(matrix_market, a_header_without_end_is_an_error) {
    const scratch_folder folder;
    const std::string path = folder.file("A.mtx.gz");
    const std::string comments = gzip_member(std::string((std::size_t(1) << 20) - 1, '%') + '\n');
    {
        std::ofstream file(path);
        file << gzip_member("%%MatrixMarket matrix coordinate real general\n");
        for (int k = 0; k < 256; ++k) file << comments;
    }
    EXPECT_EQ(message_of<double>(path, 1, 0),
              path + ":258: a header of more than 268435456 bytes, expected its sizes before");
}

// -- writing
// ---------------------------------------------------------------------------------------

template <class V>
class matrix_market_files : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(matrix_market_files, value_types);

TYPED_TEST(matrix_market_files, read_back_what_was_written_bit_for_bit) {
    using V = TypeParam;
    const scratch_folder folder;
    for (const auto& [name, bug, A] : zoo<V>()) {
        for (const char* ending : {".mtx", ".mtx.gz"}) {
            const std::string path = folder.file(std::string("zoo") + ending);
            write(path, view(A));
            EXPECT_TRUE(same_matrix(read<V>(path), A)) << name << ending;
        }
    }
}

TYPED_TEST(matrix_market_files, keep_awkward_values) {
    using V = TypeParam;
    using R = real<V>;
    using limits = std::numeric_limits<R>;
    const scratch_folder folder;
    host_vector<V> x;
    for (const R v : {limits::max(), limits::lowest(), limits::min(), limits::denorm_min(), R(0.1),
                      R(1) / 3, -R(0), R(0), limits::infinity(), -limits::infinity()})
        x.push_back(V(v));
    for (const char* name : {"x.mtx", "x.mtx.gz"}) {
        write_vector<V>(folder.file(name), x);
        EXPECT_TRUE(same_bits<V>(read_vector<V>(folder.file(name)), x)) << name;
    }
    const host_vector<V> nan{V(limits::quiet_NaN())};
    write_vector<V>(folder.file("nan.mtx"), nan);
    EXPECT_NE(read_vector<V>(folder.file("nan.mtx"))[0], nan[0]);
}

/// A + s(A^T), which has symmetry s; without a diagonal where it is skew.
template <class V>
csr<V, host> symmetrised(const csr<V, host>& A, symmetry s) {
    host_vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        V w = s == symmetry::skew_symmetric ? -v : v;
        if constexpr (is_complex<V>) {
            if (s == symmetry::hermitian) w = std::conj(v);
        }
        if (i > j) {
            row.insert(row.end(), {i, j}), col.insert(col.end(), {j, i});
            val.insert(val.end(), {v, w});
        } else if (i == j && s != symmetry::skew_symmetric) {
            row.push_back(i), col.push_back(i), val.push_back(V(std::real(v)));
        }
    });
    return assemble<V>(A.shape, row, col, val);
}

TYPED_TEST(matrix_market_files, store_one_triangle_of_a_symmetric_matrix) {
    using V = TypeParam;
    const scratch_folder folder;
    const std::string path = folder.file("A.mtx");
    const auto A =
        from_rule<V>(40, 40, [](index i, index j, double u) { return i == j || u > 0.8; });
    for (const symmetry s : {symmetry::symmetric, symmetry::skew_symmetric, symmetry::hermitian}) {
        EXPECT_THROW(write(path, view(A), {.store = s}), argument_error) << name_of(s);
        const auto S = symmetrised(A, s);
        write(path, view(S), {.store = s});
        EXPECT_EQ(inspect(path).symmetry, s);
        EXPECT_LT(inspect(path).entries, std::int64_t(S.val.size()));
        EXPECT_TRUE(same_matrix(read<V>(path), S)) << name_of(s);
        EXPECT_EQ(folder.files(), 1U);
    }
    const auto wide = from_rule<V>(3, 4, [](index, index, double) { return true; });
    EXPECT_THROW(write(path, view(wide), {.store = symmetry::symmetric}), argument_error);
}

TEST(matrix_market, values_take_the_fewest_digits) {
    const scratch_folder folder;
    const csr<double, host> A{{1, 3}, {0, 3}, {0, 1, 2}, {0.1, 100, 1e300}};
    write(folder.file("A.mtx"), view(A));
    std::stringstream text;
    text << std::ifstream(folder.file("A.mtx")).rdbuf();
    EXPECT_EQ(
        text.str(),
        "%%MatrixMarket matrix coordinate real general\n1 3 3\n1 1 0.1\n1 2 100\n1 3 1e+300\n");
}

TEST(matrix_market, an_unknown_ending_is_an_argument_error) {
    const csr<double, host> A{{1, 1}, {0, 1}, {0}, {1.0}};
    EXPECT_THROW(write("A.csv", view(A)), argument_error);
    EXPECT_THROW(write_vector<double>("A.npz", A.val), argument_error);
}

/// Files may not grow beyond `bytes` while this lives: writing fails as on a full disk.
class small_disk {
  public:
    explicit small_disk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    small_disk(const small_disk&) = delete;
    small_disk& operator=(const small_disk&) = delete;
    ~small_disk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST(matrix_market, a_failed_write_leaves_what_was_there_and_nothing_else) {
    const auto A = from_rule<double>(200, 200, [](index, index, double u) { return u > 0.5; });
    const csr<double, host> old{{1, 1}, {0, 1}, {0}, {7.0}};
    for (const char* name : {"A.mtx", "A.mtx.gz", "A.npz"}) {
        const scratch_folder folder;
        const std::string path = folder.file(name);
        write(path, view(old));
        {
            const small_disk full(4096);
            try {
                write(path, view(A));
                ADD_FAILURE() << name << " was written";
            } catch (const error& e) {
                EXPECT_TRUE(std::string(e.what()).starts_with(path + ": cannot write: "))
                    << e.what();
            }
        }
        EXPECT_EQ(folder.files(), 1U) << name;
        EXPECT_TRUE(same_matrix(read<double>(path), old)) << name;
    }
}

TEST(matrix_market, a_missing_folder_is_an_error) {
    const scratch_folder folder;
    const csr<double, host> A{{1, 1}, {0, 1}, {0}, {1.0}};
    for (const char* name : {"none/A.mtx", "none/A.mtx.gz", "none/A.npz"}) {
        try {
            write(folder.file(name), view(A));
            ADD_FAILURE() << name << " was written";
        } catch (const error& e) {
            EXPECT_NE(std::string(e.what()).find("No such file"), std::string::npos) << e.what();
        }
    }
    EXPECT_EQ(folder.files(), 0U);
}

// -- vectors
// ---------------------------------------------------------------------------------------

TEST(matrix_market, vectors_are_columns_or_rows_listed_or_sparse) {
    const scratch_folder folder;
    const auto vector_of = [&](const std::string& text) {
        std::ofstream(folder.file("x.mtx")) << "%%MatrixMarket matrix " << text;
        return read_vector<double>(folder.file("x.mtx"));
    };
    EXPECT_EQ(vector_of("array real general\n3 1\n1\n0\n3\n"), (host_vector<double>{1, 0, 3}));
    EXPECT_EQ(vector_of("array integer general\n1 3\n1\n0\n3\n"), (host_vector<double>{1, 0, 3}));
    EXPECT_EQ(vector_of("coordinate real general\n3 1 2\n3 1 3\n1 1 1\n"),
              (host_vector<double>{1, 0, 3}));
    EXPECT_EQ(vector_of("coordinate pattern general\n1 3 2\n1 3\n1 1\n"),
              (host_vector<double>{1, 0, 1}));
    EXPECT_EQ(vector_of("array real general\n0 1\n").size(), 0U);
    EXPECT_THROW(vector_of("array real general\n2 2\n1\n2\n3\n4\n"), parse_error);
    EXPECT_THROW(vector_of("array real general\n2 1\n1\n"), parse_error);
}

TEST(matrix_market, scipy_reads_what_is_written) {
    if (std::system("python3 -c 'import scipy.sparse' 2>/dev/null") != 0)
        GTEST_SKIP() << "python3 with SciPy is not here";
    const scratch_folder folder;
    const auto A = from_rule<C>(50, 50, [](index, index, double u) { return u > 0.8; });
    const auto H = symmetrised(A, symmetry::hermitian);
    write(folder.file("A.mtx"), view(A));
    write(folder.file("H.mtx.gz"), view(H), {.store = symmetry::hermitian});
    write(folder.file("A.npz"), view(A));
    write(folder.file("H.npz"), view(H));
    write_vector<C>(folder.file("x.mtx"), A.val);
    std::ofstream(folder.file("t.py")) << R"(
import sys
import scipy.io as io, scipy.sparse as sp
at = sys.argv[1] + '/'
for text, packed in ('A.mtx', 'A.npz'), ('H.mtx.gz', 'H.npz'):
    A, B = io.mmread(at + text).tocsr(), sp.load_npz(at + packed)
    assert A.shape == B.shape and A.nnz == B.nnz and (A != B).nnz == 0, text
x = io.mmread(at + 'x.mtx')
assert x.shape == (sp.load_npz(at + 'A.npz').nnz, 1) and (x[:, 0] == sp.load_npz(at + 'A.npz').data).all()
)";
    const std::string command = "python3 " + folder.file("t.py") + " " + folder.file(".");
    EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace nz::test
