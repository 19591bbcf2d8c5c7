#include "nonzero/io/matlab.hpp"

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/io/columns.hpp"
#include "nonzero/io/standard_input.hpp"
#include "nonzero/io/text.hpp"
#include "nonzero/matrix/order.hpp"

#ifdef NZ_MATIO_LIBRARY
#include <dlfcn.h>
#include <matio.h>
#endif

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>

namespace nz::matlab {

#ifdef NZ_MATIO_LIBRARY
namespace {

struct matio_library {
    decltype(&Mat_Open) open = nullptr;
    decltype(&Mat_Close) close = nullptr;
    decltype(&Mat_VarReadNextInfo) read_next_info = nullptr;
    decltype(&Mat_VarReadDataAll) read_data = nullptr;
    decltype(&Mat_VarGetStructFieldByName) field_of = nullptr;
    decltype(&Mat_VarFree) free = nullptr;
    std::string why_not;

    matio_library() {
        void* const library = dlopen(NZ_MATIO_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            why_not = std::string("matio, which reads MAT-files, is not installed: ") + dlerror();
            return;
        }
        load(library, "Mat_Open", open);
        load(library, "Mat_Close", close);
        load(library, "Mat_VarReadNextInfo", read_next_info);
        load(library, "Mat_VarReadDataAll", read_data);
        load(library, "Mat_VarGetStructFieldByName", field_of);
        load(library, "Mat_VarFree", free);
    }

  private:
    template <class F>
    void load(void* library, const char* name, F& f) {
        f = reinterpret_cast<F>(dlsym(library, name));
        if (f == nullptr) why_not = std::string("matio has no ") + name;
    }
};

const matio_library& matio() {
    static const matio_library library;
    return library;
}

struct closer {
    void operator()(mat_t* file) const { matio().close(file); }
    void operator()(matvar_t* variable) const { matio().free(variable); }
};

/// A file's sparse matrix, its entries not read yet. One at a time: matio keeps what is global.
class sparse_variable {
  public:
    explicit sparse_variable(const std::string& path) : path_(path), lock_(one_at_a_time()) {
        if (!matio().why_not.empty()) throw unavailable(matio().why_not);
        if (content_of(path) != content::matlab)
            fail("is no MAT-file of version 5, expected one, as MATLAB's save -v7 writes it");
        file_.reset(matio().open(place_of(path).c_str(), MAT_ACC_RDONLY));
        if (!file_) fail("cannot be read as a MAT-file, expected one of version 5");
        find();
        check_sizes();
    }

    [[noreturn]] void fail(const std::string& what) const { throw parse_error(path_, 0, what); }
    [[nodiscard]] nz::shape shape() const {
        return {index(matrix_->dims[0]), index(matrix_->dims[1])};
    }
    [[nodiscard]] bool is_complex() const { return matrix_->isComplex != 0; }
    [[nodiscard]] bool is_logical() const { return matrix_->isLogical != 0; }
    [[nodiscard]] matio_types type() const { return matrix_->data_type; }

    const mat_sparse_t& read_entries() {
        const int status = matio().read_data(file_.get(), matrix_);
        if (status != 0 || matrix_->data == nullptr)
            fail(fmt::format("the entries of {} cannot be read, expected a whole file", name_));
        return *static_cast<const mat_sparse_t*>(matrix_->data);
    }

  private:
    static std::mutex& one_at_a_time() {
        static std::mutex mutex;
        return mutex;
    }

    void find() {
        std::string others;
        for (;;) {
            variable_.reset(matio().read_next_info(file_.get()));
            if (!variable_) break;
            name_ = variable_->name == nullptr ? "a variable" : variable_->name;
            matrix_ = variable_.get();
            if (matrix_->class_type == MAT_C_STRUCT && count_of(*matrix_) > 0) {
                matrix_ = matio().field_of(matrix_, "A", 0);
                name_ += ".A";
            }
            if (matrix_ != nullptr && matrix_->class_type == MAT_C_SPARSE) return;
            others += (others.empty() ? "" : ", ") + name_;
        }
        fail(fmt::format("no sparse matrix among its variables ({}), expected one",
                         others.empty() ? "there are none" : others));
    }

    static std::size_t count_of(const matvar_t& v) {
        std::size_t n = v.dims == nullptr ? 0 : 1;
        for (int k = 0; v.dims != nullptr && k < v.rank; ++k) n *= v.dims[k] > 0 ? 1 : 0;
        return n;
    }

    void check_sizes() const {
        constexpr auto most = std::size_t(std::numeric_limits<index>::max());
        if (matrix_->rank != 2 || matrix_->dims == nullptr || matrix_->dims[0] > most ||
            matrix_->dims[1] > most)
            fail(fmt::format("{} has sizes beyond {} or other than two, expected rows and columns",
                             name_, most));
    }

    const std::string& path_;
    std::lock_guard<std::mutex> lock_;
    std::unique_ptr<mat_t, closer> file_;
    std::unique_ptr<matvar_t, closer> variable_;
    matvar_t* matrix_ = nullptr;  ///< the variable, or its field
    std::string name_;
};

/// Where each column ends, checked against how many entries there are.
host_vector<offset> column_ends(const sparse_variable& of, const mat_sparse_t& s) {
    const auto cols = std::size_t(of.shape().cols);
    if (s.jc == nullptr || s.njc != cols + 1)
        of.fail(fmt::format("{} column pointers, expected {}", s.njc, cols + 1));
    host_vector<offset> ends(s.jc + 1, s.jc + cols + 1);
    if (s.jc[0] != 0 || !std::is_sorted(ends.begin(), ends.end()))
        of.fail("column pointers that go down, expected them to start at 0 and go up");
    const offset entries = cols == 0 ? 0 : ends.back();
    if (entries > offset(s.nir) || entries > offset(s.ndata))
        of.fail(fmt::format("{} row indices and {} values, expected {}", s.nir, s.ndata, entries));
    return ends;
}

host_vector<index> row_indices(const sparse_variable& of, const mat_sparse_t& s,
                               std::size_t entries) {
    const auto rows = std::uint32_t(of.shape().rows);
    host_vector<index> all(entries);
    for (std::size_t k = 0; k < entries; ++k) {
        if (s.ir[k] >= rows)
            of.fail(fmt::format("row index {}, expected 0 to {}", s.ir[k], std::int64_t(rows) - 1));
        all[k] = index(s.ir[k]);
    }
    return all;
}

/// f(T()) for the type that matio stores the values as; false for none that is known.
template <class F>
bool with_stored_type(matio_types type, F f) {
    switch (type) {
        case MAT_T_DOUBLE:
            return f(double()), true;
        case MAT_T_SINGLE:
            return f(float()), true;
        case MAT_T_INT64:
            return f(std::int64_t()), true;
        case MAT_T_UINT64:
            return f(std::uint64_t()), true;
        case MAT_T_INT32:
            return f(std::int32_t()), true;
        case MAT_T_UINT32:
            return f(std::uint32_t()), true;
        case MAT_T_INT16:
            return f(std::int16_t()), true;
        case MAT_T_UINT16:
            return f(std::uint16_t()), true;
        case MAT_T_INT8:
            return f(std::int8_t()), true;
        case MAT_T_UINT8:
            return f(std::uint8_t()), true;
        default:
            return false;
    }
}

template <class V>
host_vector<V> values_of(const sparse_variable& of, const mat_sparse_t& s, std::size_t entries) {
    host_vector<V> values(entries);
    if (entries == 0) return values;
    if (s.data == nullptr) of.fail("no values, expected one for each entry");
    const bool known = with_stored_type(of.type(), [&]<class T>(T) {
        const auto* const split = static_cast<const mat_complex_split_t*>(s.data);
        const auto* const re = static_cast<const T*>(of.is_complex() ? split->Re : s.data);
        for (std::size_t k = 0; k < entries; ++k) values[k] = V(real<V>(re[k]));
        if constexpr (is_complex<V>) {
            if (!of.is_complex()) return;
            const auto* const im = static_cast<const T*>(split->Im);
            for (std::size_t k = 0; k < entries; ++k) values[k].imag(real<V>(im[k]));
        }
    });
    if (!known) of.fail("values that are no numbers, expected numbers");
    return values;
}

}  // namespace

std::string why_no_matio() { return matio().why_not; }

template <class V>
csr<V, host> read(const std::string& path, const read_options& options) {
    sparse_variable from(path);
    if (from.is_complex() && !is_complex<V>)
        from.fail(fmt::format("complex values, expected real ones to read as {}", value_name<V>()));
    const mat_sparse_t& s = from.read_entries();
    const auto ends = column_ends(from, s);
    const std::size_t entries = ends.empty() ? 0 : std::size_t(ends.back());
    const auto rows = row_indices(from, s, entries);
    const auto values = values_of<V>(from, s, entries);
    return from_columns<V>(from.shape(), symmetry::general, ends, rows, values, options.threads);
}

file_info inspect(const std::string& path) {
    const sparse_variable from(path);
    const field f = from.is_complex()   ? field::complex
                    : from.is_logical() ? field::pattern
                                        : field::real;
    return {"MAT-file", from.shape(), -1, f, symmetry::general, false};
}

#else

std::string why_no_matio() { return "this build of nonzero has no matio, which reads MAT-files"; }

template <class V>
csr<V, host> read(const std::string&, const read_options&) {
    throw unavailable(why_no_matio());
}
file_info inspect(const std::string&) { throw unavailable(why_no_matio()); }

#endif

#define NZ_INSTANTIATE(V) template csr<V, host> read(const std::string&, const read_options&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::matlab
