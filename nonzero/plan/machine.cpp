#include "nonzero/plan/machine.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <thread>

#include "nonzero/core/backend.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/memory.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/arm_cores.hpp"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace nz {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    return text;
}

/// The value of the first "key : value" line of /proc/cpuinfo, or empty.
std::string cpuinfo(const std::string& key) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string text; std::getline(file, text);) {
        const auto colon = text.find(':');
        if (text.rfind(key, 0) == 0 && colon != std::string::npos && colon + 2 <= text.size())
            return text.substr(colon + 2);
    }
    return {};
}

/// x86 names the model in /proc/cpuinfo; of arm64 the cores' numbers are there, and boards name
/// themselves in the device tree.
std::string cpu_name() {
    if (std::string name = cpuinfo("model name"); !name.empty()) return name;
    std::ifstream file("/proc/cpuinfo");
    const std::string cores = arm_cores(file);
    std::string board = first_line("/proc/device-tree/model");
    std::erase(board, '\0');
    if (!cores.empty() && !board.empty()) return fmt::format("{} ({})", cores, board);
    if (!cores.empty() || !board.empty()) return cores + board;
    utsname system{};
    return uname(&system) == 0 ? system.machine : "unknown";
}

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
    return int(std::max(1U, std::thread::hardware_concurrency()));
}

/// "32K", "1024K" or "32M" in bytes; 0 for anything else.
std::int64_t parse_size(const std::string& text) {
    std::size_t used = 0;
    std::int64_t n = 0;
    try {
        n = std::stoll(text, &used);
    } catch (const std::exception&) {
        return 0;
    }
    const char unit = used < text.size() ? text[used] : ' ';
    return unit == 'K' ? n << 10 : unit == 'M' ? n << 20 : unit == 'G' ? n << 30 : n;
}

/// The first core's data or unified cache of that level, from sysfs, or else from sysconf.
std::int64_t cache_bytes(int level, int sysconf_name) {
    for (int k = 0; k < 8; ++k) {
        const std::string at = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", k);
        if (first_line(at + "level") != std::to_string(level)) continue;
        if (first_line(at + "type") == "Instruction") continue;
        if (const auto n = parse_size(first_line(at + "size")); n > 0) return n;
    }
    return std::max<std::int64_t>(sysconf(sysconf_name), 0);
}

std::string widest_simd() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return "AVX-512";
    if (__builtin_cpu_supports("avx2")) return "AVX2";
    if (__builtin_cpu_supports("avx")) return "AVX";
    return "SSE2";
#elif defined(__aarch64__)
#if defined(HWCAP_SVE)
    if ((getauxval(AT_HWCAP) & HWCAP_SVE) != 0) return "SVE";
#endif
    return "NEON";
#else
    return {};
#endif
}

}  // namespace

machine_info describe_machine() {
    return {.cpu = cpu_name(),
            .cores = usable_cores(),
            .l1d_bytes = cache_bytes(1, _SC_LEVEL1_DCACHE_SIZE),
            .l2_bytes = cache_bytes(2, _SC_LEVEL2_CACHE_SIZE),
            .l3_bytes = cache_bytes(3, _SC_LEVEL3_CACHE_SIZE),
            .memory_bytes = memory_bytes(),
            .simd = widest_simd()};
}

namespace {

constexpr std::int64_t line = 8;  // doubles in a cache line

/// Two doubles, the register of any x86-64 or arm64.
using pair = double __attribute__((vector_size(16), may_alias));

/// Sums n doubles, a multiple of 16, from a multiple of 16 bytes on. Eight independent
/// accumulators: a single one waits for its own last addition, not for memory. Written out, as g++
/// 12 -O2 keeps neither an array of them nor wider vectors in registers; loads from L1 then bound
/// the sum.
double sum(const double* a, std::int64_t n) {
    pair s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{};
    const auto* const v = reinterpret_cast<const pair*>(a);
    for (std::int64_t k = 0; k < n / 2; k += 8) {
        s0 += v[k], s1 += v[k + 1], s2 += v[k + 2], s3 += v[k + 3];
        s4 += v[k + 4], s5 += v[k + 5], s6 += v[k + 6], s7 += v[k + 7];
    }
    const pair s = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    return s[0] + s[1];
}

/// The median time of passes, at least 5 of them and for at least `budget_s`.
template <class Pass>
double median_time_s(double budget_s, Pass pass) {
    using clock = std::chrono::steady_clock;
    std::vector<double> times;
    double spent = 0;
    while (times.size() < 5 || (spent < budget_s && times.size() < 100)) {
        const auto start = clock::now();
        pass();
        times.push_back(std::chrono::duration<double>(clock::now() - start).count());
        spent += times.back();
    }
    std::nth_element(times.begin(), times.begin() + std::ptrdiff_t(times.size() / 2), times.end());
    return times[times.size() / 2];
}

/// Elements of the array: four times the last-level cache where memory and time allow it.
std::int64_t array_elements() {
    const std::int64_t cache = cache_bytes(3, _SC_LEVEL3_CACHE_SIZE);
    const std::int64_t most = std::max<std::int64_t>(memory_bytes() / 8, 64 << 20);
    const std::int64_t bytes =
        std::min(std::clamp<std::int64_t>(4 * cache, 128 << 20, std::int64_t(1) << 30), most);
    return bytes / std::int64_t(4 * line * sizeof(double)) * (4 * line);
}

}  // namespace

bandwidth measure_bandwidth(int threads) {
    if (threads < 1 || threads > max_threads)
        throw argument_error(
            fmt::format("measure_bandwidth: {} threads, expected 1 to {}", threads, max_threads));
    const std::int64_t n = array_elements();
    host_vector<double> a(static_cast<std::size_t>(n));  // pages untouched
    double* const data = a.data();
    // Each thread touches first what it will read and, in the copy, both ends of what it moves.
    const auto for_each_share = [&](auto f) {
#pragma omp parallel for schedule(static, 1) num_threads(thread_count(cpu{threads}))
        for (int t = 0; t < threads; ++t) {
            const range runs = share(n / 2 / (2 * line), threads, t);
            const std::int64_t first = runs.first * 2 * line, last = runs.last * 2 * line;
            f(t, data + first, data + n / 2 + first, last - first);
        }
    };
    for_each_share([](int t, double* low, double* high, std::int64_t len) {
        std::fill_n(low, len, t + 1.0);
        std::fill_n(high, len, t + 2.0);
    });
    std::vector<double> sums(std::size_t(threads * line));  // a cache line each
    constexpr double budget_s = 0.4;
    const double read_s = median_time_s(budget_s, [&] {
        for_each_share([&](int t, const double* low, const double* high, std::int64_t len) {
            sums[std::size_t(t * line)] = sum(low, len) + sum(high, len);
        });
        [[maybe_unused]] volatile double kept = sums[0];  // so that no pass is dropped
    });
    const double copy_s = median_time_s(budget_s, [&] {
        for_each_share([](int, const double* low, double* high, std::int64_t len) {
            std::memcpy(high, low, std::size_t(len) * sizeof(double));
        });
    });
    const double bytes = double(n) * sizeof(double);
    return {.read_gbps = bytes / read_s / 1e9, .copy_gbps = bytes / copy_s / 1e9};
}

namespace {

/// Runs f(t) on every thread t and returns what that took: the fastest of some runs, as with short
/// ones the median is a neighbour's where cores are shared.
template <class F>
double region_time_s(int threads, double budget_s, F f) {
    using clock = std::chrono::steady_clock;
    double fastest = std::numeric_limits<double>::infinity(), spent = 0;
    for (int run = 0; run < 5 || (spent < budget_s && run < 1000); ++run) {
        const auto start = clock::now();
#pragma omp parallel for schedule(static, 1) num_threads(thread_count(cpu{threads}))
        for (int t = 0; t < threads; ++t) f(t);
        const double s = std::chrono::duration<double>(clock::now() - start).count();
        fastest = std::min(fastest, s), spent += s;
    }
    return fastest;
}

constexpr double budget_each_s = 5e-3;

/// Bytes a second of the threads' sums over the first n doubles, each over its share of them, as
/// often as makes 8 MB a thread.
double read_rate(const host_vector<double>& a, std::int64_t n, int threads) {
    const std::int64_t runs = n / (2 * line);
    const auto passes =
        std::max<std::int64_t>(1, threads * (std::int64_t(8) << 20) / (n * std::int64_t(8)));
    std::vector<double> sums(std::size_t(threads * line));
    const double s = region_time_s(threads, budget_each_s, [&](int t) {
        const range mine = share(runs, threads, t);
        double total = 0;
        for (std::int64_t p = 0; p < passes; ++p) {
            total += sum(a.data() + mine.first * 2 * line, (mine.last - mine.first) * 2 * line);
            asm volatile("" ::: "memory");  // else one pass would do for all of them
        }
        sums[std::size_t(t * line)] = total;
    });
    [[maybe_unused]] volatile double kept = sums[0];
    return double(passes * runs * 2 * line * std::int64_t(sizeof(double))) / s;
}

/// Random x[j] a second, by all threads, of the first 2^log2_len elements. Four sequences of
/// numbers and four sums: one alone would wait for itself. They go on from run to run, as a cache
/// that x does not fit would hold the elements of a sequence that begins anew.
double gather_rate_of(const host_vector<double>& x, int log2_len, int threads) {
    constexpr int gathers = 1 << 16, ways = 4;
    std::vector<double> sums(std::size_t(threads * line));
    struct alignas(64) sequences {
        std::uint32_t state[ways];
    };
    std::vector<sequences> of_thread(std::size_t(threads), sequences{});
    for (std::size_t k = 0; k < of_thread.size() * ways; ++k)
        of_thread[k / ways].state[k % ways] = std::uint32_t(k + 1) * 2654435761U;
    const double s = region_time_s(threads, budget_each_s, [&](int t) {
        auto& [state] = of_thread[std::size_t(t)];
        double total[ways] = {};
        for (int k = 0; k < gathers; k += ways) {
            for (int w = 0; w < ways; ++w) {
                state[w] = state[w] * 1664525U + 1013904223U;
                total[w] += x[state[w] >> (32 - log2_len)];
            }
        }
        sums[std::size_t(t * line)] = (total[0] + total[1]) + (total[2] + total[3]);
    });
    [[maybe_unused]] volatile double kept = sums[0];
    return double(threads) * gathers / s;
}

}  // namespace

cpu_speeds measure_cpu(int threads) {
    if (threads < 1 || threads > max_threads)
        throw argument_error(
            fmt::format("measure_cpu: {} threads, expected 1 to {}", threads, max_threads));
    cpu_speeds s;
    s.region_s = region_time_s(threads, budget_each_s, [](int) {});
    host_vector<double> a(static_cast<std::size_t>(array_elements()));
#pragma omp parallel for schedule(static, 1) num_threads(thread_count(cpu{threads}))
    for (int t = 0; t < threads; ++t) {
        const range mine = share(std::ssize(a), threads, t);
        std::fill(a.begin() + mine.first, a.begin() + mine.last, 1.0);
    }
    constexpr int least = 14;  // log2 of 16 KB
    for (int log2 = least; (std::int64_t(1) << (log2 - 3)) <= std::ssize(a); log2 += 2) {
        const std::int64_t n = std::int64_t(1) << (log2 - 3);
        s.gathers.push_back({double(n) * 8, gather_rate_of(a, log2 - 3, threads)});
        if (n >= 2 * line * threads) s.reads.push_back({double(n) * 8, read_rate(a, n, threads)});
    }
    return s;
}

}  // namespace nz
