#include "nonzero/dist/read_slice.hpp"

#include <array>
#include <functional>
#include <numeric>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/assembly.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/io/matrix_market/matrix_market.hpp"
#include "nonzero/io/npz.hpp"
#include "nonzero/io/petsc.hpp"
#include "nonzero/io/text.hpp"

namespace nz {
namespace {

using matrix_market::body_part;
using matrix_market::header;

constexpr const char* changed = "changed while it was read";

/// How a file is read: cut at bytes, or at rows, or by every rank as a whole.
enum class way { by_lines, petsc, npz, whole };

/// A file as each rank finds it; all find the same.
struct found_file {
    way read = way::whole;
    header h = {};           ///< of what is cut at bytes
    std::int64_t bytes = 0;  ///< the same
};

way way_to_read(const std::string& path) {
    if (path == "-")
        throw argument_error("standard input comes to one process: several read a file only");
    if (petsc::is_petsc(path)) return way::petsc;
    if (content_of(path) == content::zip)
        return npz::read_stored_header(path) ? way::npz : way::whole;
    if (content_of(path) != content::text) return way::whole;
    return inspect(path).format == "matrix market" ? way::by_lines : way::whole;
}

found_file find(const communicator& ranks, const std::string& path) {
    found_file file;
    agree(&ranks, [&] {
        file.read = way_to_read(path);
        if (file.read != way::by_lines) return;
        file.h = matrix_market::read_header(path);
        file.bytes = file_bytes(path);
    });
    const header& h = file.h;
    expect_equal(&ranks, path,
                 std::array{double(file.read), double(h.rows), double(h.cols), double(h.entries),
                            double(h.body), double(file.bytes)});
    return file;
}

/// The numbers of all ranks: their sum before this one's, and in all.
struct running_sum {
    std::int64_t before = 0, total = 0;
};
running_sum sum_over(const communicator& ranks, std::int64_t mine) {
    running_sum s;
    const auto all = gathered(ranks, mine);
    for (int r = 0; r < ranks.size(); ++r) {
        if (r < ranks.rank()) s.before += all[std::size_t(r)];
        s.total += all[std::size_t(r)];
    }
    return s;
}

/// Throws on all ranks what is wrong with the file, with the line, where a rank's part is faulty or
/// there are not as many entries as the header says. Returns how many come in parts before.
template <class V>
std::int64_t expect_whole(const communicator& ranks, const std::string& path,
                          const found_file& file, std::int64_t entries, bool faulty) {
    const running_sum all = sum_over(ranks, entries);
    const bool good = on_all(&ranks, !faulty) && all.total == file.h.entries;
    agree(&ranks, [&] {
        // The first fault in the file shows only to a rank that reads it from its start.
        if (good || ranks.rank() != 0) return;
        matrix_market::check<V>(path);
        throw parse_error(path, 0, changed);
    });
    return all.before;
}

/// The bytes of a file's body that this rank parses.
range own_bytes(const communicator& ranks, const found_file& file) {
    const range part = share(file.bytes - file.h.body, ranks.size(), ranks.rank());
    return {file.h.body + part.first, file.h.body + part.last};
}

/// This rank's part of the body, at once.
template <class V>
body_part<V> part_of(const communicator& ranks, const std::string& path, const found_file& file) {
    body_part<V> part;
    const range bytes = own_bytes(ranks, file);
    agree(&ranks,
          [&] { part = matrix_market::read_part<V>(path, file.h, bytes.first, bytes.last); });
    const auto before = expect_whole<V>(ranks, path, file, part.entries, part.faulty);
    agree(&ranks, [&] {
        if (file.h.dense) matrix_market::place_array(file.h, before, part);
    });
    return part;
}

/// f(piece) for each piece of this rank's part of the body, and for an empty one while others have
/// more: f may talk to the others.
template <class V, class F>
void for_each_piece(const communicator& ranks, const std::string& path, const found_file& file,
                    F f) {
    const range bytes = own_bytes(ranks, file);
    std::unique_ptr<matrix_market::part_reader<V>> reader;
    agree(&ranks, [&] {
        reader =
            std::make_unique<matrix_market::part_reader<V>>(path, file.h, bytes.first, bytes.last);
    });
    body_part<V> piece;
    for (;;) {
        bool has_piece = false;
        agree(&ranks, [&] { has_piece = reader->next(piece); });
        if (on_all(&ranks, !has_piece)) return;
        f(piece);
    }
}

/// Reads the file twice: how many entries the rows have, then the entries, which go to their rows
/// piece by piece. No rank holds its part of the file.
template <class V>
matrix_slice<V> read_by_pieces(const communicator& ranks, const std::string& path,
                               const found_file& file) {
    row_counter counter(ranks, index(file.h.rows));
    std::int64_t entries = 0;
    bool faulty = false;
    for_each_piece<V>(ranks, path, file, [&](const body_part<V>& piece) {
        counter.add(piece.row);
        entries += piece.entries, faulty = faulty || piece.faulty;
    });
    expect_whole<V>(ranks, path, file, entries, faulty);
    row_filler<V> rows(ranks, counter.finish(), index(file.h.cols));
    try {
        for_each_piece<V>(ranks, path, file, [&](const body_part<V>& piece) {
            rows.add(piece.row, piece.col, piece.val);
        });
        return rows.finish();
    } catch (const argument_error&) {  // on all ranks: there are other entries than the first time
    }
    agree(&ranks, [&] { throw parse_error(path, 0, changed); });
    return {};
}

template <class V>
host_vector<entry<V>> entries_of(body_part<V> part) {
    host_vector<entry<V>> all(part.row.size());
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = {part.row[k], part.col[k], part.val[k]};
    return all;
}

/// A file in which rows are found by their number.
template <class V>
struct file_of_rows {
    nz::shape shape = {};
    std::int64_t entries = 0;
    std::function<host_vector<index>(range)> lengths = {};
    std::function<csr<V, host>(std::span<const index> lengths, std::int64_t before)> rows = {};
};

template <class V>
file_of_rows<V> open_petsc(const std::string& path) {
    const petsc::header h = petsc::read_header(path);
    return {{h.rows, h.cols},
            h.entries,
            [=](range rows) { return petsc::read_lengths(path, h, rows); },
            [=](std::span<const index> lengths, std::int64_t before) {
                return petsc::read_rows<V>(path, h, lengths, before);
            }};
}

template <class V>
file_of_rows<V> open_npz(const std::string& path) {
    const auto h = npz::read_stored_header(path);
    if (!h) throw parse_error(path, 0, changed);
    return {h->shape, h->entries,
            [=](range rows) { return npz::read_stored_lengths(path, *h, rows); },
            [=](std::span<const index> lengths, std::int64_t before) {
                return npz::read_stored_rows<V>(path, *h, lengths, before);
            }};
}

template <class V>
matrix_slice<V> read_by_rows(const communicator& ranks, const std::string& path, way how) {
    file_of_rows<V> file;
    host_vector<index> lengths;
    agree(&ranks, [&] {
        file = how == way::petsc ? open_petsc<V>(path) : open_npz<V>(path);
        lengths = file.lengths(share(file.shape.rows, ranks.size(), ranks.rank()));
    });
    const auto [rows, cols] = file.shape;
    matrix_slice<V> A;
    A.rows = balanced_shares(ranks, rows, lengths);
    A.cols = rows == cols ? A.rows : equal_shares(cols, ranks.size());
    agree(&ranks, [&] { lengths = file.lengths(A.rows.of(ranks.rank())); });
    const running_sum entries =
        sum_over(ranks, std::accumulate(lengths.begin(), lengths.end(), std::int64_t(0)));
    agree(&ranks, [&] {
        if (entries.total != file.entries)
            throw parse_error(path, 0,
                              "rows of " + std::to_string(entries.total) +
                                  " entries in all, expected " + std::to_string(file.entries));
        A.own = file.rows(lengths, entries.before);
    });
    return A;
}

template <class V>
csr<V, host> read_whole(const communicator& ranks, const std::string& path) {
    csr<V, host> A;
    agree(&ranks, [&] { A = read<V>(path); });
    return A;
}

}  // namespace

template <class V>
matrix_slice<V> read_slice(const communicator& ranks, const std::string& path) {
    const found_file file = find(ranks, path);
    if (file.read == way::petsc || file.read == way::npz)
        return read_by_rows<V>(ranks, path, file.read);
    if (file.read == way::by_lines && !file.h.dense) return read_by_pieces<V>(ranks, path, file);
    if (file.read == way::whole) return slice_of(ranks, view(read_whole<V>(ranks, path)));
    auto mine = entries_of(part_of<V>(ranks, path, file));
    const auto rows = index(file.h.rows), cols = index(file.h.cols);
    matrix_slice<V> A;
    A.rows = balanced_shares(ranks, rows, std::span<const entry<V>>(mine));
    A.cols = rows == cols ? A.rows : equal_shares(cols, ranks.size());
    A.own = assembled(ranks, A.rows, cols, std::move(mine));
    return A;
}

template <class V>
host_vector<V> read_vector_slice(const communicator& ranks, const std::string& path,
                                 const shares& all) {
    const found_file file = find(ranks, path);
    const auto check_length = [&](std::int64_t n) {
        if (n != all.total())
            throw argument_error(path + ": " + std::to_string(n) + " elements, expected " +
                                 std::to_string(all.total()));
    };
    if (file.read != way::by_lines) {
        host_vector<V> own;
        agree(&ranks, [&] {
            const auto v = read_vector<V>(path);
            check_length(std::int64_t(v.size()));
            const auto mine = slice_of<V>(all, ranks.rank(), v);
            own.assign(mine.begin(), mine.end());
        });
        return own;
    }
    agree(&ranks, [&] {
        if (file.h.rows != 1 && file.h.cols != 1) (void)read_vector<V>(path);  // says why not
        check_length(file.h.rows * file.h.cols);
    });
    auto mine = entries_of(part_of<V>(ranks, path, file));
    for (entry<V>& e : mine) e.row = std::max(e.row, e.col), e.col = 0;
    const csr<V, host> own = assembled(ranks, all, 1, std::move(mine));
    host_vector<V> x(std::size_t(own.shape.rows), V(0));
    for_each_entry(view(own), 0, own.shape.rows,
                   [&](index i, index, V v) { x[std::size_t(i)] = v; });
    return x;
}

#define NZ_INSTANTIATE(V)                                                              \
    template matrix_slice<V> read_slice(const communicator&, const std::string&);      \
    template host_vector<V> read_vector_slice(const communicator&, const std::string&, \
                                              const shares&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
