#include "nonzero/dist/same_speeds.hpp"

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/exchange.hpp"

namespace nz {
namespace {

/// All numbers of the speeds in one list, and back: f(number) for each.
template <class F>
void for_each_number(machine_speeds& s, F f) {
    for (double* const v :
         {&s.launch_s, &s.unit_s, &s.out_of_cache_factor, &s.workers, &s.lanes, &s.evicting_bytes,
          &s.l1_bytes, &s.convert_bytes_per_s, &s.upload_bytes_per_s, &s.memory_bytes})
        f(*v);
    for (auto* const rates : {&s.reads, &s.gathers})
        for (machine_speeds::rate_at& r : *rates) f(r.bytes), f(r.per_s);
}

host_vector<double> to_numbers(machine_speeds s) {
    host_vector<double> all{double(s.reads.size()), double(s.gathers.size()),
                            double(s.units_load_x)};
    for_each_number(s, [&](double v) { all.push_back(v); });
    return all;
}

machine_speeds from_numbers(std::span<const double> all) {
    machine_speeds s;
    s.reads.resize(std::size_t(all[0])), s.gathers.resize(std::size_t(all[1]));
    s.units_load_x = all[2] != 0;
    std::size_t k = 3;
    for_each_number(s, [&](double& v) { v = all[k++]; });
    return s;
}

}  // namespace

template <class B>
plan_options with_same_speeds(B on, const communicator& ranks, const plan_options& given) {
    plan_options options = given;
    if (!on_all(&ranks, !given.speeds)) return options;
    std::vector<host_vector<double>> to(std::size_t(ranks.size()));
    agree(&ranks, [&] {
        if (ranks.rank() != 0) return;
        for (auto& list : to) list = to_numbers(speeds_of(on, given.fresh));
    });
    options.speeds = from_numbers(exchanged(ranks, to)[0]);
    return options;
}

template plan_options with_same_speeds(cpu, const communicator&, const plan_options&);
template plan_options with_same_speeds(gpu, const communicator&, const plan_options&);

}  // namespace nz
