// Triangular matrices on a GPU: levels, and substitution.
#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/solve/preconditioners/triangular/triangular_on_gpu.hpp"
#include "nonzero/solve/preconditioners/triangular/waiting_rows.cuh"
#include "nonzero/vector/scalar.cuh"

namespace nz {
namespace {

/// Row or column i by its turn: the order in which one thread would compute the rows.
struct turns {
    bool backwards;
    index rows;
    __device__ index of(index i) const { return backwards ? rows - 1 - i : i; }
};

/// The level of every row, by turn.
struct level_rows {
    using value = index;
    struct entry {
        index column;
    };
    struct row {
        offset first, last;
        index result;
    };
    turns turn;
    device_offset_span row_ptr;
    const index* col;
    index* level;
    index most;
    int* too_many;  ///< whether there are more levels than `most`

    __device__ row open(std::int64_t t, bool) const {
        const index i = turn.of(index(t));
        return {row_ptr[i], row_ptr[i + 1], 0};
    }
    __device__ entry load(std::int64_t t, offset k) const {
        const index before = turn.of(col[k]);
        return {before < t ? before : -1};
    }
    __device__ static void add(index& mine, entry, index other) { mine = max(mine, other + 1); }
    __device__ static index join(index a, index b) { return max(a, b); }
    __device__ index finish(const row& r) const {
        if (r.result >= most) tell(too_many, 1);
        return r.result;
    }
    __device__ index* results() const { return level; }
    __device__ bool gives_up() const { return asked(too_many) != 0; }
};

/// Forward substitution in rows that stand in their order.
template <class T>
struct substitution_rows {
    using value = T;
    struct entry {
        index column;
        T factor;
    };
    csr<T, device_view> beside;
    const T* inverse;  ///< null: ones
    T* solution;
    T* b;  ///< at b_at, for each row
    const index* b_at;
    bool spends;  ///< leaves b unknown
    T* other;     ///< as long, to be left unknown; or null
    T* x;         ///< at x_at; or null
    const index* x_at;

    struct row {
        offset first, last;
        T result, inverse;
        index at;  ///< in x
    };

    __device__ row open(std::int64_t p, bool leads) const {
        row r{beside.row_ptr[p], beside.row_ptr[p + 1], T(0), T(1), 0};
        if (!leads) return r;
        T* const at = b + b_at[p];
        r.result = *at;
        if (inverse != nullptr) r.inverse = inverse[p];
        if (x != nullptr) r.at = x_at[p];
        if (spends) *at = unknown<T>();
        if (other != nullptr) other[p] = unknown<T>();
        return r;
    }
    __device__ entry load(std::int64_t, offset k) const {
        return {beside.col_ind[k], beside.val[k]};
    }
    __device__ static void add(T& sum, const entry& e, T v) {
        sum = sum - rounded_product(e.factor, v);
    }
    __device__ static T join(T a, T b) { return a + b; }
    __device__ T finish(const row& r) const {
        const T v = known(inverse == nullptr ? r.result : rounded_product(r.inverse, r.result));
        if (x != nullptr) x[r.at] = v;
        return v;
    }
    __device__ T* results() const { return solution; }
    __device__ static bool gives_up() { return false; }
};

struct number_turns {
    index* turn;
    __device__ void operator()(std::int64_t t) const { turn[t] = index(t); }
};
struct turns_to_rows {
    turns turn;
    index* row;
    __device__ void operator()(std::int64_t p) const { row[p] = turn.of(row[p]); }
};

/// place[row[p]] = p, and how long row[p] is.
struct place_rows {
    device_offset_span row_ptr;
    const index* row;
    index* place;
    offset* length;
    __device__ void operator()(std::int64_t p) const {
        place[row[p]] = index(p);
        length[p] = row_ptr[row[p] + 1] - row_ptr[row[p]];
    }
};

/// Entries of the rows in their order, `lanes` threads a row.
template <class T>
struct take_rows {
    int lanes;
    csr<T, device_view> from;
    const T* from_inverse;
    const index *row, *place;
    device_offset_span row_ptr;
    index* col;
    T *val, *inverse;
    __device__ void operator()(std::int64_t thread) const {
        const std::int64_t p = thread / lanes;
        const index i = row[p];
        const offset first = from.row_ptr[i], length = from.row_ptr[i + 1] - first;
        for (offset k = thread % lanes; k < length; k += lanes) {
            col[row_ptr[p] + k] = place[from.col_ind[first + k]];
            val[row_ptr[p] + k] = from.val[first + k];
        }
        if (inverse != nullptr && thread % lanes == 0) inverse[p] = from_inverse[i];
    }
};

/// Rows of an approximate inverse, `lanes` threads each, by the operations of the CPU's in their
/// order.
template <class T, int lanes>
struct invert_rows {
    csr<T, device_view> beside;  ///< of the triangle
    const T* inverse;            ///< null: ones
    bool backwards;              ///< of an upper triangle: columns descend
    device_offset_span row_ptr;  ///< of what is made
    index* col;
    T* val;
    offset shortest,
        longest;  ///< entries of the triangle's rows that are inverted; others are left

    /// A row under way. Places count the triangle's entries, the diagonal behind them.
    struct row {
        offset first, length;
        index* col;
        T* val;
        bool backwards;
        __device__ offset at(offset place) const { return backwards ? length - place : place; }
    };

    __device__ void operator()(std::int64_t thread) const {
        const index i = index(thread / lanes);
        const int lane = lane_id() % lanes;
        const offset first = beside.row_ptr[i], to = row_ptr[i];
        const row r{first, beside.row_ptr[i + 1] - first, col + to, val + to, backwards};
        if (r.length < shortest || r.length > longest) return;
        const T diagonal = over_diagonal(i, T(1));
        for (offset k = lane; k < r.length; k += lanes) {
            r.col[r.at(k)] = beside.col_ind[first + k];
            r.val[r.at(k)] = T(0) - rounded_product(diagonal, beside.val[first + k]);
        }
        if (lane == 0) r.col[r.at(r.length)] = i, r.val[r.at(r.length)] = diagonal;
        bool fits = true;
        for (offset k = r.length; k-- > 0;) {
            __syncwarp(group());
            const index j = beside.col_ind[first + k];
            const T v = over_diagonal(j, r.val[r.at(k)]);
            fits = fits && is_finite(v);
            __syncwarp(group());
            if (lane == 0) r.val[r.at(k)] = v;
            subtract(r, v, j, k);
        }
        __syncwarp(group());
        if (!fits)
            for (offset k = lane; k < r.length; k += lanes) r.val[r.at(k)] = T(0);
    }

  private:
    __device__ static unsigned group() {
        if constexpr (lanes == warp_size) return full_warp;
        return ((1U << lanes % warp_size) - 1) << (lane_id() / lanes * lanes);
    }
    __device__ T over_diagonal(index j, T v) const {
        return inverse == nullptr ? v : rounded_product(inverse[j], v);
    }
    /// Row j of the triangle, times a factor, from what is left of the identity's row before
    /// `last`.
    __device__ void subtract(const row& r, T factor, index j, offset last) const {
        for (offset k = beside.row_ptr[j] + lane_id() % lanes; k < beside.row_ptr[j + 1];
             k += lanes) {
            const offset place = find(r, beside.col_ind[k], last);
            if (place == last) continue;
            T& rest = r.val[r.at(place)];
            rest = rest - rounded_product(factor, beside.val[k]);
        }
    }
    /// The place before `last` of a column, or `last`.
    __device__ offset find(const row& r, index j, offset last) const {
        offset low = 0, high = last;
        while (low < high) {
            const offset mid = (low + high) / 2;
            const index c = beside.col_ind[r.first + mid];
            if (backwards ? c > j : c < j) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        return low < last && beside.col_ind[r.first + low] == j ? low : last;
    }
};

struct count_with_diagonal {
    device_offset_span row_ptr;
    offset* length;
    __device__ void operator()(std::int64_t i) const {
        length[i] = row_ptr[i + 1] - row_ptr[i] + 1;
    }
};

struct compose {
    const index *row, *place;
    index* to;
    __device__ void operator()(std::int64_t p) const { to[p] = place[row[p]]; }
};

template <class V>
V* or_null(const device_array<V>& a) {
    return a.size() == 0 ? nullptr : a.data();
}

}  // namespace

level_order order_by_level(gpu on, triangle_side side, index rows, device_offset_span row_ptr,
                           device_span<index> col_ind, index most) {
    const auto n = std::size_t(rows);
    if (n == 0) return {};
    const turns turn{side == triangle_side::upper, rows};
    device_array<index> level(on, n), turn_of(on, n), sorted_level(on, n), row(on, n);
    device_array<unsigned> started(on, 1);
    device_array<int> too_many(on, 1);
    fill_bytes(on, level, 0xff), fill_bytes(on, started, 0), fill_bytes(on, too_many, 0);
    launch_rows(on, rows, double(col_ind.size()) / double(n),
                level_rows{turn, row_ptr, col_ind.data(), level.data(), most, too_many.data()},
                started.data());
    if (read_back(on, too_many.data()) != 0) return {};
    launch_each(on, rows, number_turns{turn_of.data()});
    with_scratch(on, [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, level.data(), sorted_level.data(),
                                               turn_of.data(), row.data(), rows, 0,
                                               8 * sizeof(index), stream_of(on));
    });
    launch_each(on, rows, turns_to_rows{turn, row.data()});
    return {std::move(row), 1 + read_back(on, sorted_level.data() + n - 1)};
}

template <class V>
auto triangles_on_gpu<V>::ordered(gpu on, const device_triangle<V>& T) -> ordered_rows {
    const auto from = view(T.beside);
    const index n = from.shape.rows;
    const auto nnz = from.val.size();
    ordered_rows R;
    auto order = order_by_level(on, T.side, n, from.row_ptr, from.col_ind, n);
    R.levels = order.levels, R.row = std::move(order.row);
    R.mean_length = double(nnz) / std::max(1.0, double(n));
    device_array<index> place(on, std::size_t(n));
    device_array<offset> length(on, std::size_t(n) + 1);
    fill_bytes(on, length, 0);
    launch_each(on, n, place_rows{from.row_ptr, R.row.data(), place.data(), length.data()});
    offset same = 0;
    R.beside = {from.shape, row_pointers(on, length, same), device_array<index>(on, nnz),
                device_array<V>(on, nnz)};
    if (T.inverse.size() > 0) R.inverse = device_array<V>(on, std::size_t(n));
    const auto inner = in_kernels(from);
    constexpr int lanes = 8;
    launch_each(on, std::int64_t(n) * lanes,
                take_rows<device_value<V>>{lanes, inner, in_kernels(or_null(T.inverse)),
                                           R.row.data(), place.data(), R.beside.row_ptr,
                                           R.beside.col_ind.data(), in_kernels(R.beside.val.data()),
                                           in_kernels(or_null(R.inverse))});
    R.solution = device_array<V>(on, std::size_t(n));
    R.started = device_array<unsigned>(on, 1);
    fill_bytes(on, R.solution, 0xff), fill_bytes(on, R.started, 0);
    R.place = std::move(place);
    return R;
}

template <class V>
triangles_on_gpu<V>::triangles_on_gpu(gpu on, const device_triangle<V>& first,
                                      const device_triangle<V>& second)
    : on_(on) {
    const device_guard guard(on);
    first_ = ordered(on, first), second_ = ordered(on, second);
    right_hand_side_ = device_array<index>(on, second_.row.size());
    launch_each(on, std::int64_t(second_.row.size()),
                compose{second_.row.data(), first_.place.data(), right_hand_side_.data()});
    first_.place = {}, second_.place = {};
}

template <class V>
void triangles_on_gpu<V>::solve(device_span<V> b, device_out<V> x) const {
    using T = device_value<V>;
    if (b.size() == 0) return;
    const auto n = std::int64_t(b.size());
    const auto run = [&](const ordered_rows& R, T* rhs, const index* rhs_at, bool spends, T* other,
                         T* to, const index* to_at) {
        const substitution_rows<T> rows{in_kernels(view(R.beside)),
                                        in_kernels(or_null(R.inverse)),
                                        in_kernels(R.solution.data()),
                                        rhs,
                                        rhs_at,
                                        spends,
                                        other,
                                        to,
                                        to_at};
        launch_rows(on_, n, R.mean_length, rows, R.started.data());
    };
    run(first_, in_kernels(const_cast<V*>(b.data())), first_.row.data(), false,
        in_kernels(second_.solution.data()), nullptr, nullptr);
    run(second_, in_kernels(first_.solution.data()), right_hand_side_.data(), true, nullptr,
        in_kernels(x.data()), second_.row.data());
}

template <class V>
std::size_t triangles_on_gpu<V>::bytes() const {
    std::size_t sum = 0;
    for (const ordered_rows* R : {&first_, &second_})
        sum += R->row.size() * sizeof(index) + R->beside.row_ptr.size_bytes() +
               R->beside.val.size() * (sizeof(index) + sizeof(V)) +
               (R->inverse.size() + R->solution.size()) * sizeof(V);
    return sum + right_hand_side_.size() * sizeof(index);
}

template <class V>
csr<V, device> approximate_inverse(gpu on, const device_triangle<V>& T) {
    const device_guard guard(on);
    const auto from = view(T.beside);
    const index n = from.shape.rows;
    const auto nnz = from.val.size() + std::size_t(n);
    device_array<offset> length(on, std::size_t(n) + 1);
    fill_bytes(on, length, 0);
    launch_each(on, n, count_with_diagonal{from.row_ptr, length.data()});
    offset same = 0;
    csr<V, device> M{from.shape, row_pointers(on, length, same), device_array<index>(on, nnz),
                     device_array<V>(on, nnz)};
    const auto invert = [&](auto lanes, offset shortest, offset longest) {
        launch_each(
            on, std::int64_t(n) * lanes,
            invert_rows<device_value<V>, lanes>{
                in_kernels(from), in_kernels(or_null(T.inverse)), T.side == triangle_side::upper,
                M.row_ptr, M.col_ind.data(), in_kernels(M.val.data()), shortest, longest});
    };
    constexpr offset longest = 32;  // for fewer lanes than a warp: work grows as its square
    with_lanes(double(from.val.size()) / std::max(1.0, double(n)),
               [&](auto lanes) { invert(lanes, 0, longest); });
    invert(std::integral_constant<int, warp_size>{}, longest + 1, offset(n));
    return M;
}

#define NZ_INSTANTIATE(V)               \
    template class triangles_on_gpu<V>; \
    template csr<V, device> approximate_inverse(gpu, const device_triangle<V>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
