// Handles, and how their values, positions and places become the library's types: a verb is one
// template body, which these call with the types of its handle.
#pragma once

#include <algorithm>
#include <complex>
#include <variant>

#include "c/status.hpp"
#include "nonzero/core/format.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/solver.hpp"

namespace nz::c {

#if defined(NDEBUG)
inline constexpr bool keeps_registry = false;
#else
inline constexpr bool keeps_registry = true;
#endif

/// Debug builds know the handles that live, and read no other.
void enter(const void*);
void leave(const void*);
[[nodiscard]] bool is_live(const void*);

/// The base of all handles: its word says of what kind it is, as long as it lives.
template <std::uint64_t word_of_kind>
class handle {
  public:
    handle() {
        if constexpr (keeps_registry) enter(this);
    }
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    ~handle() {
        word_ = 0;  // volatile: it is written though nobody may read it
        if constexpr (keeps_registry) leave(this);
    }
    /// Whether p, which may be anything but null, is such a handle, as far as can be known.
    static bool is(const handle* p) {
        if constexpr (keeps_registry)
            if (!is_live(p)) return false;
        return p->word_ == word_of_kind;
    }

  private:
    volatile std::uint64_t word_ = word_of_kind;
};

/// V and S of a matrix, V and B of an operator or a solver, one beside the other.
template <template <class, class> class T, class A, class B>
using each_type =
    std::variant<T<float, A>, T<double, A>, T<std::complex<float>, A>, T<std::complex<double>, A>,
                 T<float, B>, T<double, B>, T<std::complex<float>, B>, T<std::complex<double>, B>>;

/// An operator of a plan or, without one, multigrid.
template <class V, class B>
struct typed_operator {
    B on;
    nz::plan<V, B> plan;
    std::unique_ptr<linear_operator<V, B>> op;
};

template <class V, class B>
struct typed_solver {
    B on;
    std::unique_ptr<solver<V, B>> kept;
};

}  // namespace nz::c

struct nz_matrix : nz::c::handle<0x6e7a5f6d61747269> {
    nz::c::each_type<nz::csr, nz::host_view, nz::device_view> view;
    std::shared_ptr<const void> owner;  ///< of the arrays; null where they are borrowed
    int device = NZ_CPU;
};
struct nz_operator : nz::c::handle<0x6e7a5f6f70657261> {
    nz::c::each_type<nz::c::typed_operator, nz::cpu, nz::gpu> held;
};
struct nz_solver : nz::c::handle<0x6e7a5f736f6c7665> {
    nz::c::each_type<nz::c::typed_solver, nz::cpu, nz::gpu> held;
    int device = NZ_CPU;  ///< where its matrix and its vectors lie
    int threads = 0;
};

namespace nz::c {

[[noreturn]] void refuse_handle(const char* name, bool null);

/// The handle, which must be one. Throws handle_error.
template <class H>
H& checked(H* p, const char* name) {
    if (p == nullptr) refuse_handle(name, true);
    if (!H::is(p)) refuse_handle(name, false);
    return *p;
}
template <class H>
int destroyed(H* p, const char* name) noexcept {
    return guarded([&] {
        if (p != nullptr) delete &checked(p, name);
        return NZ_OK;
    });
}
/// *to = what, where somebody wants to know.
template <class T>
void tell(T* to, T what) {
    if (to != nullptr) *to = what;
}
/// Throws argument_error where a pointer is null.
inline void expect(const void* p, const char* name) {
    if (p == nullptr) throw argument_error(fmt::format("{} is null", name));
}

/// *to = what make() returns; null where it throws.
template <class H, class F>
int made(H** to, const char* name, F make) noexcept {
    return guarded([&] {
        expect(to, name);
        *to = nullptr;
        *to = make().release();
        return NZ_OK;
    });
}

template <class V>
inline constexpr int type_of = std::is_same_v<V, float>                 ? NZ_FLOAT
                               : std::is_same_v<V, double>              ? NZ_DOUBLE
                               : std::is_same_v<V, std::complex<float>> ? NZ_COMPLEX_FLOAT
                                                                        : NZ_COMPLEX_DOUBLE;
std::string name_of_type(int type);
[[noreturn]] void refuse_type(int type, int expected);
/// Throws type_error.
template <class V>
void expect_type(int type) {
    if (type != type_of<V>) refuse_type(type, type_of<V>);
}
/// f.template operator()<V>() of that type. Throws type_error where there is none.
template <class F>
auto with_type(int type, F f) {
    switch (type) {
        case NZ_FLOAT:
            return f.template operator()<float>();
        case NZ_DOUBLE:
            return f.template operator()<double>();
        case NZ_COMPLEX_FLOAT:
            return f.template operator()<std::complex<float>>();
        case NZ_COMPLEX_DOUBLE:
            return f.template operator()<std::complex<double>>();
        default:
            refuse_type(type, 0);
    }
}

/// Throws argument_error for what is no device, or no number of threads; unavailable for no GPU.
void expect_device(int device, int threads);
/// Calls f(cpu) or f(gpu); loops on the CPU run on `threads` threads. Throws as expect_device.
template <class F>
auto with_device(int device, void* stream, int threads, F f) {
    expect_device(device, threads);
    const cpu host_threads{.threads = threads};
    const thread_limit limit(host_threads);
    if (device == NZ_CPU) return f(host_threads);
    return f(gpu{.device = device, .stream = stream});
}
template <class B>
int device_of(const B& on) {
    if constexpr (std::is_same_v<B, gpu>) return on.device;
    return NZ_CPU;
}
template <class B>
void* stream_of(const B& on) {
    if constexpr (std::is_same_v<B, gpu>) return on.stream;
    return nullptr;
}

[[noreturn]] void refuse_array(const char* name, std::int64_t length, bool null);
/// Elements of B's memory, or of the host's. Throws argument_error where p is null or the length
/// negative.
template <class V, class B>
in<V, B> input(const void* p, std::int64_t length, const char* name) {
    if (length < 0 || (p == nullptr && length > 0)) refuse_array(name, length, p == nullptr);
    return {static_cast<const V*>(p), std::size_t(length)};
}
template <class V, class B>
out<V, B> output(void* p, std::int64_t length, const char* name) {
    if (length < 0 || (p == nullptr && length > 0)) refuse_array(name, length, p == nullptr);
    return {static_cast<V*>(p), std::size_t(length)};
}
template <class V>
V scalar(const void* p, const char* name) {
    expect(p, name);
    return *static_cast<const V*>(p);
}

[[noreturn]] void refuse_lost_operator();
/// The library's operator. Throws out_of_memory where an update that ran out of memory lost it.
template <class V, class B>
const linear_operator<V, B>& built_of(const typed_operator<V, B>& op) {
    if (op.op == nullptr) refuse_lost_operator();
    return *op.op;
}

[[noreturn]] void refuse_operator(const char* name);
/// The operator in the handle. Throws type_error where it is of other values or on another backend.
template <class V, class B>
const linear_operator<V, B>& operator_in(const nz_operator& op, const char* name) {
    const auto* const own = std::get_if<typed_operator<V, B>>(&checked(&op, name).held);
    if (own == nullptr) refuse_operator(name);
    return built_of(*own);
}

/// Throws argument_error where the matrix lies elsewhere.
void expect_same_place(const nz_matrix& A, int device);
/// Throws argument_error where a matrix in GPU memory is for another device than `device`.
void expect_reachable(const nz_matrix& A, int device);

/// f(csr<V, host_view>): A where it lies in CPU memory, else a copy of it that lives as long.
template <class F>
auto with_host_matrix(const nz_matrix& A, void* stream, F f) {
    return std::visit(
        [&]<class V, class S>(const csr<V, S>& view) {
            if constexpr (std::is_same_v<S, device_view>) {
                const auto copy = download(gpu{.device = A.device, .stream = stream}, view);
                return f(nz::view(copy));
            } else {
                return f(view);
            }
        },
        A.view);
}

/// A vector of the caller's that lies on `device`, on the host: borrowed there, else a copy.
template <class V>
class host_input {
  public:
    host_input(int device, void* stream, const void* p, std::int64_t length, const char* name)
        : view_(input<V, cpu>(p, length, name)) {
        if (device == NZ_CPU) return;
        copy_ = to_host(gpu{.device = device, .stream = stream},
                        device_span<V>{view_.data(), view_.size()});
        view_ = copy_;
    }
    operator std::span<const V>() const { return view_; }

  private:
    std::span<const V> view_;
    host_vector<V> copy_;
};
/// The same of one that is written too: `put_back` before its end.
template <class V>
class host_output {
  public:
    host_output(int device, void* stream, void* p, std::int64_t length, const char* name)
        : on_{.device = device, .stream = stream},
          view_(output<V, cpu>(p, length, name)),
          to_(view_) {
        if (device == NZ_CPU) return;
        copy_ = to_host(on_, device_span<V>{to_.data(), to_.size()});
        view_ = copy_;
    }
    operator std::span<V>() const { return view_; }
    void put_back() const {
        if (on_.device != NZ_CPU) copy_to_device(on_, view_.data(), to_.data(), to_.size_bytes());
    }

  private:
    gpu on_;
    std::span<V> view_, to_;
    host_vector<V> copy_;
};

}  // namespace nz::c
