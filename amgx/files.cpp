// Systems in files: Matrix Market, with a line of AmgX's that says what follows the entries.
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include "amgx/handles.hpp"
#include "amgx/memory.hpp"
#include "amgx/scalar_rows.hpp"
#include "amgx/uploads.hpp"
#include "nonzero/io/io.hpp"

namespace nz::amgx {
namespace {

/// AmgX's header of a file: block sizes, and which vectors stand beside the matrix.
struct extras {
    int block_x = 1, block_y = 1;
    bool diagonal = false, rhs = false, solution = false, from_0 = false;
    bool has_header = false;
};

/// The system of a file in numbers, each of one value type.
template <class V>
struct system_of_file {
    csr<V, host> A;
    host_vector<V> rhs, solution;
};

[[noreturn]] void refuse(const char* path, const std::string& why) {
    throw failure(AMGX_RC_IO_ERROR, fmt::format("{}: {}", path, why));
}

extras extras_in(const char* path) {
    std::ifstream file(path);
    if (!file) refuse(path, "cannot be read");
    extras found;
    for (std::string line; std::getline(file, line) && line.starts_with('%');) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word != "%%NVAMG" && word != "%%AMGX") continue;
        found.has_header = true;
        std::vector<int> numbers;
        while (words >> word) {
            found.diagonal |= word == "diagonal";
            found.rhs |= word == "rhs";
            found.solution |= word == "solution";
            found.from_0 |= word == "base0";
            int number = 0;
            const char* const end = word.data() + word.size();
            if (std::from_chars(word.data(), end, number).ptr == end) numbers.push_back(number);
        }
        if (!numbers.empty()) found.block_x = found.block_y = numbers[0];
        if (numbers.size() > 1) found.block_y = numbers[1];
    }
    if (found.diagonal) refuse(path, "a diagonal that is apart is not served");
    return found;
}

/// The numbers of a file after its header.
class numbers_of {
  public:
    explicit numbers_of(const char* path) : path_(path) {
        std::ifstream file(path, std::ios::binary);
        text_.assign(std::istreambuf_iterator<char>(file), {});
        while (at_ < text_.size() && text_[at_] == '%')
            at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    }
    template <class T>
    T next() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
        if (at_ < text_.size() && text_[at_] == '+') ++at_;
        T number{};
        const char* const end = text_.data() + text_.size();
        const auto [stop, fault] = std::from_chars(text_.data() + at_, end, number);
        if (fault != std::errc{}) refuse(path_, "a number is missing or malformed");
        at_ = std::size_t(stop - text_.data());
        return number;
    }
    template <class V>
    V value() {
        if constexpr (is_complex<V>) {
            const double re = next<double>();
            return {re, next<double>()};
        } else {
            return next<double>();
        }
    }

  private:
    const char* path_;
    std::string text_;
    std::size_t at_ = 0;
};

/// Of a file with a line of AmgX's, whose entries are all there, one a line.
template <class V>
system_of_file<V> read_with_extras(const char* path, const extras& what) {
    std::string head;
    std::getline(std::ifstream(path) >> std::ws, head);
    if (!head.starts_with("%%MatrixMarket matrix coordinate") ||
        head.find("general") == std::string::npos)
        refuse(path, "beside AmgX's line, expected %%MatrixMarket matrix coordinate ... general");
    if ((head.find("complex") != std::string::npos) != is_complex<V>)
        refuse(path, "its values and the mode's are not both complex, or both real");
    numbers_of file(path);
    const auto rows = file.next<index>(), cols = file.next<index>();
    const auto count = file.next<std::int64_t>();
    if (rows < 0 || cols < 0 || count < 0) refuse(path, "a size is negative");
    host_vector<index> row, col;
    host_vector<V> val;
    const index first = what.from_0 ? 0 : 1;
    for (std::int64_t k = 0; k < count; ++k) {
        row.push_back(file.next<index>() - first);
        col.push_back(file.next<index>() - first);
        val.push_back(file.value<V>());
    }
    system_of_file<V> s{assemble<V>({rows, cols}, row, col, val), {}, {}};
    for (auto* const to : {&s.rhs, &s.solution}) {
        if (to == &s.rhs ? !what.rhs : !what.solution) continue;
        if (file.next<index>() != rows) refuse(path, "a vector has another length than the rows");
        for (index i = 0; i < rows; ++i) to->push_back(file.value<V>());
    }
    return s;
}

template <class V>
system_of_file<V> read_file(const char* path) {
    const extras what = extras_in(path);
    if (what.has_header) return read_with_extras<V>(path, what);
    return {nz::read<V>(path), {}, {}};
}

template <class V>
host_vector<std::byte> in_mode(std::span<const V> values, bool single, std::size_t each) {
    host_vector<std::byte> bytes(values.size() * each);
    for (std::size_t k = 0; k < values.size(); ++k) set_value<V>(bytes, single, k, values[k]);
    return bytes;
}

void expect_ok(AMGX_RC code, const char* what) {
    if (code != AMGX_RC_OK) throw failure(code, what);
}

template <class V>
void give_vector(AMGX_vector_handle handle, const host_vector<V>& values, index rows, V otherwise) {
    if (handle == nullptr) return;
    const auto& parts = object_of<vector_of_blocks>(handle).parts;
    const host_vector<V> all =
        values.empty() ? host_vector<V>(std::size_t(rows), otherwise) : values;
    const auto bytes = in_mode<V>(all, parts.single_vector, parts.vector_bytes());
    expect_ok(AMGX_vector_upload(handle, int(all.size()), 1, bytes.data()), "the vector");
}

template <class V>
void read_system(matrix& A, AMGX_vector_handle rhs, AMGX_vector_handle sol, const char* path) {
    const auto s = read_file<V>(path);
    const auto bytes = in_mode<V>(s.A.val, A.parts.single_matrix, A.parts.matrix_bytes());
    host_vector<int> starts(s.A.row_ptr.size());
    for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = int(s.A.row_ptr[i]);
    upload(A,
           {.n = s.A.shape.rows,
            .nnz = int(s.A.val.size()),
            .row_ptr = starts.data(),
            .col_ind = s.A.col_ind.data(),
            .val = bytes.data()},
           s.A.shape.rows, {});
    give_vector<V>(rhs, s.rhs, s.A.shape.rows, V(1));
    give_vector<V>(sol, s.solution, s.A.shape.rows, V(0));
}

template <class V>
std::string text_of(V v) {
    if constexpr (is_complex<V>)
        return fmt::format("{} {}", v.real(), v.imag());
    else
        return fmt::format("{}", v);
}

template <class V>
void write_vector(std::ofstream& file, const void* handle) {
    if (handle == nullptr) return;
    const auto& v = object_of<vector_of_blocks>(handle);
    host_vector<std::byte> bytes(v.bytes());
    copy_anywhere(v.on->device(), v.parts.on_gpu ? v.there.data() : v.here.data(), bytes.data(),
                  bytes.size());
    file << v.elements() << "\n";
    for (std::size_t k = 0; k < v.elements(); ++k)
        file << text_of(value_at<V>(bytes, v.parts.single_vector, k)) << "\n";
}

template <class V>
void write_system(const matrix& A, const void* rhs, const void* sol, const char* path) {
    const auto scalars = scalar_rows<V>(A);
    std::ofstream file(path);
    file << "%%MatrixMarket matrix coordinate " << (is_complex<V> ? "complex" : "real")
         << " general\n%%AMGX 1 1" << (rhs ? " rhs" : "") << (sol ? " solution" : "") << "\n"
         << scalars.shape.rows << " " << scalars.shape.cols << " " << scalars.val.size() << "\n";
    for (index i = 0; i < scalars.shape.rows; ++i)
        for (offset k = scalars.row_ptr[std::size_t(i)]; k < scalars.row_ptr[std::size_t(i) + 1];
             ++k)
            file << i + 1 << " " << scalars.col_ind[std::size_t(k)] + 1 << " "
                 << text_of(scalars.val[std::size_t(k)]) << "\n";
    write_vector<V>(file, rhs);
    write_vector<V>(file, sol);
    if (!file.flush()) refuse(path, "cannot be written");
}

void expect_one_rank(const matrix& A) {
    if (A.on->ranks() != nullptr && A.on->ranks()->size() > 1)
        throw failure(AMGX_RC_NOT_IMPLEMENTED, "files over ranks are not served");
}

}  // namespace
}  // namespace nz::amgx

using namespace nz::amgx;

AMGX_RC AMGX_read_system(AMGX_matrix_handle mtx, AMGX_vector_handle rhs, AMGX_vector_handle sol,
                         const char* filename) {
    return guarded(__func__, [&] {
        auto& A = object_of<matrix>(mtx);
        expect_one_rank(A);
        not_null(filename, "filename");
        A.parts.is_complex ? read_system<std::complex<double>>(A, rhs, sol, filename)
                           : read_system<double>(A, rhs, sol, filename);
    });
}

AMGX_RC AMGX_write_system(const AMGX_matrix_handle mtx, const AMGX_vector_handle rhs,
                          const AMGX_vector_handle sol, const char* filename) {
    return guarded(__func__, [&] {
        const auto& A = object_of<matrix>(mtx);
        expect_one_rank(A);
        require(A.is_uploaded(), "the matrix was not uploaded");
        not_null(filename, "filename");
        for (const auto* const v : {rhs, sol})
            require(v == nullptr ||
                        object_of<vector_of_blocks>(v).parts.is_complex == A.parts.is_complex,
                    "the matrix and a vector differ in mode");
        A.parts.is_complex ? write_system<std::complex<double>>(A, rhs, sol, filename)
                           : write_system<double>(A, rhs, sol, filename);
    });
}

AMGX_RC AMGX_read_system_distributed(AMGX_matrix_handle mtx, AMGX_vector_handle rhs,
                                     AMGX_vector_handle sol, const char* filename, int, int,
                                     const int*, int, const int*) {
    return AMGX_read_system(mtx, rhs, sol, filename);
}

AMGX_RC AMGX_write_system_distributed(const AMGX_matrix_handle mtx, const AMGX_vector_handle rhs,
                                      const AMGX_vector_handle sol, const char* filename, int, int,
                                      const int*, int, const int*) {
    return AMGX_write_system(mtx, rhs, sol, filename);
}

AMGX_RC AMGX_read_system_global(int*, int*, int*, int*, int**, void**, void**, void**, void**,
                                void**, AMGX_resources_handle, AMGX_Mode, const char*, int, int,
                                const int*, int, const int*) {
    return guarded(__func__,
                   [] { throw failure(AMGX_RC_NOT_IMPLEMENTED, "AMGX_read_system reads files"); });
}

AMGX_RC AMGX_read_system_maps_one_ring(int*, int*, int*, int*, int**, int**, void**, void**, void**,
                                       void**, int*, int**, int**, int***, int**, int***,
                                       AMGX_resources_handle, AMGX_Mode, const char*, int, int,
                                       const int*, int, const int*) {
    return guarded(__func__,
                   [] { throw failure(AMGX_RC_NOT_IMPLEMENTED, "AMGX_read_system reads files"); });
}

AMGX_RC AMGX_free_system_maps_one_ring(int*, int*, void*, void*, void*, void*, int, int*, int*,
                                       int**, int*, int**) {
    return guarded(__func__, [] {
        throw failure(AMGX_RC_NOT_IMPLEMENTED, "AMGX_read_system_maps_one_ring makes nothing");
    });
}
