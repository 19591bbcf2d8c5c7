// One attempt that fails, in every way there is, and what the next one finds then.
#include "nonzero/solve/attempts.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class T>
class faulty_attempts : public solver_test<T> {
  public:
    using typename solver_test<T>::value;
    using typename solver_test<T>::backend;
    using preconditioner = std::unique_ptr<linear_operator<value, backend>>;

    struct outcome {
        host_vector<value> x;
        system_report report = {};
        std::vector<bool> reconsidered = {};  ///< each time, whether a probe had failed
    };
    /// cg with what `first` makes, in place of amg, then cg with Jacobi; only the latter where
    /// `first` is empty. opening: limits of the first one.
    outcome run(const std::function<preconditioner()>& first,
                choice opening = {krylov_method::cg, preconditioning::amg}) {
        outcome all{host_vector<value>(s.b.size(), value(0))};
        const auto product = this->operator_of(s.A);
        const auto make = [&](const choice& c, bool, system_report::attempt&) -> preconditioner {
            if (c.preconditioner == preconditioning::amg) return first();
            return jacobi(this->on_, view(s.A));
        };
        std::vector<choice> choices{{krylov_method::cg, preconditioning::jacobi}};
        if (first) choices.insert(choices.begin(), opening);
        const auto rounding = [&](in<value, backend> x) {
            return rounding_scale<value>(view(s.A), s.b, to_host<value>(this->on_, x));
        };
        const auto b = this->to_backend(s.b);
        auto x = this->to_backend(all.x);
        const auto reconsider = [&](const choice& failed, auto&) {
            all.reconsidered.push_back(failed.is_probe);
        };
        attempt_all<value, backend>(this->on_, {*product, b, x, make, rounding, reconsider},
                                    choices, options, all.report);
        all.x = this->here(x);
        return all;
    }
    template <class F>
    preconditioner made_of(F f) {
        const index n = s.A.shape.rows;
        auto made = make_operator<value>(this->on_, {n, n}, std::move(f));
        return std::make_unique<decltype(made)>(std::move(made));
    }
    /// y_i = what f makes of the vector's element and of i.
    preconditioner by_element(const std::function<value(value, std::size_t)>& f) {
        return made_of([f, on = this->on_](in<value, backend> x, out<value, backend> y) {
            auto host = to_host<value>(on, x);
            for (std::size_t i = 0; i < host.size(); ++i) host[i] = f(host[i], i);
            const auto there = from_host(on, std::span<const value>(host));
            vector_space<value, backend>(on, std::int64_t(host.size())).copy(there, y);
        });
    }

    const linear_system<value> s = manufactured<value>("", rotated(laplace2d<value>(23, 19)));
    system_options options = [] {
        system_options o;
        o.tol = solver_test<T>::tol, o.graph = false;
        return o;
    }();
};
TYPED_TEST_SUITE(faulty_attempts, everywhere);

TYPED_TEST(faulty_attempts, change_nothing_for_the_next) {
    using V = typename TypeParam::V;
    using R = real<V>;
    const auto alone = this->run({});
    ASSERT_TRUE(alone.report.converged());
    const auto by = [&](std::function<V(V, std::size_t)> f) {
        return [this, f] { return this->by_element(f); };
    };
    using maker = std::function<typename TestFixture::preconditioner()>;
    const std::pair<const char*, maker> faults[] = {
        {"NaN", by([](V, std::size_t) { return V(std::numeric_limits<R>::quiet_NaN()); })},
        {"NaN later", by([](V v, std::size_t i) {
             return i == 7 ? V(std::numeric_limits<R>::quiet_NaN()) : v;
         })},
        {"infinite", by([](V, std::size_t) { return V(std::numeric_limits<R>::infinity()); })},
        {"huge", by([](V, std::size_t i) { return V(R(i % 2 == 0 ? 1e30 : -1e30)); })},
        {"negative", by([](V v, std::size_t) { return -v; })},
        {"zero", by([](V, std::size_t) { return V(0); })},
        {"throws when made",
         []() -> typename TestFixture::preconditioner { throw std::runtime_error("made badly"); }},
        {"out of memory", []() -> typename TestFixture::preconditioner { throw std::bad_alloc(); }},
        {"throws when applied",
         by([](V, std::size_t) -> V { throw unavailable("applied badly"); })},
    };
    for (const auto& [name, fault] : faults) {
        const auto both = this->run(fault);
        ASSERT_EQ(both.report.attempts.size(), 2) << name;
        EXPECT_FALSE(both.report.attempts.front().report.converged) << name;
        EXPECT_FALSE(both.report.attempts.front().report.why.empty()) << name;
        EXPECT_TRUE(both.report.converged()) << name;
        EXPECT_EQ(both.report.best, 1) << name;
        // A direction of any size may have made x a little better.
        if (std::string_view(name) == "huge") continue;
        EXPECT_EQ(both.report.result().report.history, alone.report.result().report.history)
            << name;
        EXPECT_EQ(both.x, alone.x) << name;
    }
}

TYPED_TEST(faulty_attempts, are_thrown_where_no_other_ran) {
    this->options.preconditioner = preconditioning::jacobi;  // alone: the caller's fault
    const auto A = this->s.A;
    std::vector<choice> one{{krylov_method::cg, preconditioning::jacobi}};
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto product = this->operator_of(A);
    const host_vector<V> guess(this->s.b.size(), V(0));
    const auto b = this->to_backend(this->s.b);
    auto x = this->to_backend(guess);
    const auto attempt = [&](auto make) {
        system_report report;
        const auto rounding = [&](in<V, B> at) {
            return rounding_scale<V>(view(A), this->s.b, to_host<V>(this->on_, at));
        };
        attempt_all<V, B>(this->on_, {*product, b, x, make, rounding}, one, this->options, report);
    };
    using made = typename TestFixture::preconditioner;
    EXPECT_THROW(attempt([](auto&&...) -> made { throw argument_error("no"); }), unsuitable);
    EXPECT_THROW(attempt([](auto&&...) -> made { throw unavailable("no"); }), unavailable);
    EXPECT_EQ(this->here(x), guess);
}

TYPED_TEST(faulty_attempts, of_the_monitor_reach_the_caller) {
    struct mine {};
    this->options.monitor = [](std::int64_t k, double) -> bool {
        if (k == 3) throw mine();
        return true;
    };
    EXPECT_THROW(this->run({}), mine);
    struct also_mine : std::runtime_error {
        using std::runtime_error::runtime_error;
    };
    this->options.monitor = [](std::int64_t, double) -> bool { throw also_mine("stop"); };
    using V = typename TypeParam::V;
    EXPECT_THROW(this->run([this] { return this->by_element([](V v, std::size_t) { return v; }); }),
                 also_mine);
}

/// Nobody stopped an attempt that has lost its patience amid a batch of iterations.
TYPED_TEST(faulty_attempts, without_patience_go_on_after_others_were_thought_of) {
    using V = typename TypeParam::V;
    int lost = 0;
    for (std::int64_t patience = 1; patience < 20; ++patience) {
        const auto all =
            this->run([this] { return this->by_element([](V v, std::size_t) { return v; }); },
                      {.method = krylov_method::cg,
                       .preconditioner = preconditioning::amg,
                       .patience = patience});
        ASSERT_TRUE(all.report.converged()) << patience;
        const auto& attempts = all.report.attempts;
        if (attempts.size() == 1) continue;
        ++lost;
        EXPECT_EQ(attempts[0].report.status, status::no_longer_halves) << patience;
        EXPECT_EQ(attempts[1].preconditioner, preconditioning::amg) << patience;
    }
    EXPECT_GT(lost, 0);
}

TYPED_TEST(faulty_attempts, that_are_probes_end_for_good) {
    using V = typename TypeParam::V;
    const auto probed = [&](std::int64_t most) {
        return this->run([this] { return this->by_element([](V v, std::size_t) { return v; }); },
                         {.method = krylov_method::cg,
                          .preconditioner = preconditioning::amg,
                          .most_iterations = most,
                          .is_paced = true,
                          .is_probe = true});
    };
    for (const std::int64_t most : {3, 14}) {
        const auto all = probed(most);
        ASSERT_TRUE(all.report.converged()) << most;
        const auto& attempts = all.report.attempts;
        ASSERT_EQ(attempts.size(), 2) << most;
        EXPECT_EQ(attempts[0].report.status, most < 10 ? status::max_iter : status::too_slow);
        EXPECT_LE(attempts[0].report.iterations, most);
        EXPECT_EQ(attempts[1].preconditioner, preconditioning::jacobi) << most;
        EXPECT_LT(attempts[1].report.history.front(), 1) << "it starts from the probe's x";
        EXPECT_EQ(all.reconsidered, std::vector<bool>{true}) << most;
    }
    const auto fast_enough = probed(1000);
    EXPECT_TRUE(fast_enough.report.converged());
    EXPECT_EQ(fast_enough.report.attempts.size(), 1);
    EXPECT_TRUE(fast_enough.reconsidered.empty());
}

TYPED_TEST(faulty_attempts, leave_time_for_none) {
    this->options.max_seconds = 0;
    using V = typename TypeParam::V;
    const auto both =
        this->run([this] { return this->by_element([](V v, std::size_t) { return v; }); });
    EXPECT_EQ(both.report.attempts.size(), 1);
    EXPECT_EQ(both.report.result().report.why, "max_seconds were spent");
    EXPECT_EQ(both.report.result().report.iterations, 0);
}

}  // namespace
}  // namespace nz::test
