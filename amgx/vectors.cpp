// Vectors of AmgX's interface.
#include <random>

#include "amgx/handles.hpp"
#include "amgx/memory.hpp"
#include "amgx/scalar_rows.hpp"

namespace nz::amgx {

void vector_of_blocks::resize(int to_n, int to_block) {
    const std::size_t bytes = std::size_t(to_n) * std::size_t(to_block) * parts.vector_bytes();
    if (!parts.on_gpu)
        here.resize(bytes);
    else if (there.size() != bytes)
        there = device_array<std::byte>(gpu{.device = on->device()}, bytes);
    n = to_n, block = to_block;
}

namespace {

vector_of_blocks& vector_behind(const void* handle) { return object_of<vector_of_blocks>(handle); }

std::byte* memory_of(vector_of_blocks& v) {
    return v.parts.on_gpu ? v.there.data() : v.here.data();
}

/// The vector takes n blocks from the host, or a GPU.
void fill(vector_of_blocks& v, int n, int block, const void* from) {
    require(n >= 0, "n is negative");
    require(block >= 1, "block_dim is below 1");
    if (n > 0) expect_pointer(from, "data");
    v.resize(n, block);
    copy_anywhere(v.on->device(), from, memory_of(v), v.bytes());
}

}  // namespace
}  // namespace nz::amgx

using namespace nz::amgx;

AMGX_RC AMGX_vector_create(AMGX_vector_handle* vec, AMGX_resources_handle rsc, AMGX_Mode mode) {
    return guarded(__func__, [&] {
        not_null(vec, "vec");
        auto made = std::make_unique<vector_of_blocks>();
        made->on = object_of<std::shared_ptr<resources>>(rsc);
        made->mode = mode;
        made->parts = parts_of(mode);
        give(vec, std::move(made));
    });
}

AMGX_RC AMGX_vector_destroy(AMGX_vector_handle vec) {
    return guarded(__func__, [&] { destroy<vector_of_blocks>(vec); });
}

AMGX_RC AMGX_vector_upload(AMGX_vector_handle vec, int n, int block_dim, const void* data) {
    return guarded(__func__, [&] { fill(vector_behind(vec), n, block_dim, data); });
}

AMGX_RC AMGX_vector_set_zero(AMGX_vector_handle vec, int n, int block_dim) {
    return guarded(__func__, [&] {
        auto& v = vector_behind(vec);
        require(n >= 0 && block_dim >= 1, "n is negative, or block_dim below 1");
        const auto bytes = std::size_t(n) * std::size_t(block_dim) * v.parts.vector_bytes();
        const nz::host_vector<std::byte> zeros(bytes, std::byte(0));
        fill(v, n, block_dim, zeros.data());
    });
}

AMGX_RC AMGX_vector_set_random(AMGX_vector_handle vec, int n) {
    return guarded(__func__, [&] {
        auto& v = vector_behind(vec);
        require(n >= 0, "n is negative");
        std::mt19937_64 bits;  // the same in every run
        const auto uniform = [&] { return double(bits() >> 11) * 0x1p-53; };
        const auto elements = std::size_t(n) * std::size_t(v.block);
        nz::host_vector<std::byte> values(elements * v.parts.vector_bytes());
        for (std::size_t k = 0; k < elements; ++k)
            if (v.parts.is_complex) {
                const double re = uniform(), im = uniform();
                set_value<std::complex<double>>(values, v.parts.single_vector, k, {re, im});
            } else {
                set_value<double>(values, v.parts.single_vector, k, uniform());
            }
        fill(v, n, v.block, values.data());
    });
}

AMGX_RC AMGX_vector_download(const AMGX_vector_handle vec, void* data) {
    return guarded(__func__, [&] {
        auto& v = vector_behind(vec);
        if (v.n > 0) expect_pointer(data, "data");
        copy_anywhere(v.on->device(), memory_of(v), data, v.bytes());
    });
}

AMGX_RC AMGX_vector_get_size(const AMGX_vector_handle vec, int* n, int* block_dim) {
    return guarded(__func__, [&] {
        const auto& v = vector_behind(vec);
        not_null(n, "n") = v.n;
        not_null(block_dim, "block_dim") = v.block;
    });
}

AMGX_RC AMGX_vector_bind(AMGX_vector_handle vec, const AMGX_matrix_handle mtx) {
    return guarded(__func__, [&] {
        const auto& v = vector_behind(vec);
        require(object_of<matrix>(mtx).mode == v.mode, "the matrix and the vector differ in mode");
    });
}
