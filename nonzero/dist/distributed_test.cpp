// Products over ranks against the oracle: every matrix of the zoo, every value type, 1 to 16 ranks.
#include "nonzero/dist/distributed.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/exchange.hpp"
#include "nonzero/dist/halo.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/matrix/build.hpp"
#include "test/files.hpp"
#include "test/products.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

template <class V>
class distributed_product : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(distributed_product, value_types);

template <class V>
host_vector<V> copy_of(std::span<const V> v) {
    return {v.begin(), v.end()};
}

/// op's product, over all ranks: whole on rank 0.
template <class V>
host_vector<V> product_of(const communicator& ranks, const distributed<V, cpu>& op,
                          const product_case<V>& c) {
    const bool plain = c.how == transposition::plain;
    const shares& of_x = plain ? op.cols() : op.rows();
    const shares& of_y = plain ? op.rows() : op.cols();
    const auto x = slice_of<V>(of_x, ranks.rank(), c.x);
    guarded<V> y(copy_of(slice_of<V>(of_y, ranks.rank(), c.y0)));
    op.apply_transposed(c.how, c.alpha, x, c.beta, y.span());
    EXPECT_TRUE(y.intact()) << "wrote outside y";
    return joined<V>(ranks, y.span());
}

template <class V>
void check_on_all_matrices(int size, const std::vector<zoo_entry<V>>& matrices,
                           const std::vector<std::vector<product_case<V>>>& cases) {
    on_ranks(size, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        for (std::size_t m = 0; m < matrices.size(); ++m) {
            const auto A = view(matrices[m].A);
            const distributed<V, cpu> op(on, slice_of(ranks, A));
            EXPECT_EQ(op.global_shape(), A.shape);
            for (const auto& c : cases[m]) {
                const auto y = product_of(ranks, op, c);
                const auto again = product_of(ranks, op, c);
                if (ranks.rank() != 0) continue;
                EXPECT_TRUE(compare<V>(y, c.want).holds())
                    << matrices[m].name << ", " << size << " ranks, op " << int(c.how) << ", alpha "
                    << c.alpha << ", beta " << c.beta;
                EXPECT_TRUE(same_bits<V>(y, again)) << matrices[m].name << ", " << size << " ranks";
            }
        }
    });
}

TYPED_TEST(distributed_product, meets_the_zoo_on_1_to_16_ranks) {
    using V = TypeParam;
    const auto matrices = zoo<V>();
    std::vector<std::vector<product_case<V>>> cases;
    for (const auto& m : matrices) {
        auto all = product_cases(view(m.A), {transposition::plain, transposition::transpose,
                                             transposition::conjugate_transpose});
        // Each op with alpha 0, and with both numbers, reading y and not.
        std::erase_if(all, [](const auto& c) { return c.alpha == V(1) || c.beta == V(1); });
        cases.push_back(std::move(all));
    }
    const bool all_sizes = std::is_same_v<V, double>;  // enough for what no value decides
    for (const int size : all_sizes ? std::vector{1, 2, 3, 5, 8, 16} : std::vector{3, 7})
        check_on_all_matrices(size, matrices, cases);
}

TYPED_TEST(distributed_product, has_the_same_bits_built_again) {
    using V = TypeParam;
    const auto A = from_rule<V>(300, 300, [](index, index, double u) { return u > 0.9; });
    const auto cases = product_cases(view(A), {transposition::plain, transposition::transpose});
    host_vector<V> first;
    for (int run = 0; run < 3; ++run)
        on_ranks(7, [&](const communicator& ranks) {
            const cpu on{.threads = 1, .ranks = &ranks};
            const auto y =
                product_of(ranks, distributed<V, cpu>(on, slice_of(ranks, view(A))), cases.back());
            if (ranks.rank() != 0) return;
            if (run == 0) first = y;
            EXPECT_TRUE(same_bits<V>(y, first));
        });
}

TEST(distributed, sends_what_others_need_and_no_more) {
    const auto A =
        from_rule<double>(100, 100, [](index i, index j, double) { return std::abs(i - j) <= 1; });
    on_ranks(4, [&](const thread_rank& ranks) {
        const distributed<double, cpu> op({.threads = 1, .ranks = &ranks},
                                          slice_of(ranks, view(A)));
        const bool at_end = ranks.rank() == 0 || ranks.rank() == 3;
        EXPECT_EQ(op.exchanges().columns.size(), at_end ? 1U : 2U);
        const host_vector<double> x(std::size_t(op.shape().cols), 1.0);
        host_vector<double> y(x.size());
        const std::size_t before = ranks.sent_bytes;
        op.apply(1, x, 0, y);
        EXPECT_EQ(ranks.sent_bytes - before, (at_end ? 1U : 2U) * sizeof(double));
    });
}

TEST(distributed, takes_many_vectors) {
    const auto A = from_rule<double>(60, 60, [](index, index, double u) { return u > 0.8; });
    const auto x = random_vector<double>(180, 3);
    const auto whole = build(find_method<double>("csr.serial"), cpu{1}, view(A));
    host_vector<double> want(180);
    whole->apply_many(1, {x, 60, 3}, 0, {want, 60, 3});
    on_ranks(3, [&](const communicator& ranks) {
        const distributed<double, cpu> op({.threads = 1, .ranks = &ranks},
                                          slice_of(ranks, view(A)));
        const auto n = std::size_t(op.shape().rows),
                   first = std::size_t(op.rows().of(ranks.rank()).first);
        host_vector<double> mine(3 * n), y(3 * n);
        for (std::size_t c = 0; c < 3; ++c)
            std::copy_n(x.begin() + std::ptrdiff_t(60 * c + first), n,
                        mine.begin() + std::ptrdiff_t(n * c));
        op.apply_many(1, {mine, n, 3}, 0, {y, n, 3});
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t i = 0; i < n; ++i)
                EXPECT_NEAR(y[n * c + i], want[60 * c + first + i], 1e-13);
    });
}

TEST(distributed, rows_in_any_order_and_twice_are_summed) {
    const csr<double, host> A{{2, 4}, {0, 4, 6}, {3, 0, 3, 1, 2, 2}, {1, 2, 3, 4, 5, 6}};
    on_ranks(2, [&](const communicator& ranks) {
        const distributed<double, cpu> op({.threads = 1, .ranks = &ranks},
                                          slice_of(ranks, view(A)));
        const host_vector<double> x(2, ranks.rank() == 0 ? 1.0 : 10.0);
        host_vector<double> y(std::size_t(op.shape().rows));
        op.apply(1, x, 0, y);
        const auto all = joined<double>(ranks, y);
        EXPECT_EQ(all, ranks.rank() == 0 ? (host_vector<double>{46, 110}) : host_vector<double>());
    });
}

TEST(distributed, all_ranks_learn_what_one_finds_wrong) {
    const auto thrown = thrown_on_ranks(4, [](const communicator& ranks) {
        csr<double, host> own{{1, 4}, {0, 1}, {ranks.rank()}, {1}};
        if (ranks.rank() == 2) own.col_ind[0] = 9;
        (void)slice_from(ranks, std::move(own));
    });
    for (int r = 0; r < 4; ++r) {
        ASSERT_TRUE(thrown[std::size_t(r)]);
        try {
            std::rethrow_exception(thrown[std::size_t(r)]);
        } catch (const argument_error& e) {
            const auto* const agreed = dynamic_cast<const agreed_error*>(&e);
            ASSERT_NE(agreed, nullptr);
            EXPECT_EQ(agreed->rank, 2);
            EXPECT_NE(std::string(e.what()).find("column"), std::string::npos) << e.what();
        }
    }
}

TEST(distributed, ranks_that_disagree_about_the_size_are_told) {
    const auto thrown = thrown_on_ranks(3, [](const communicator& ranks) {
        const index cols = ranks.rank() == 1 ? 5 : 4;
        (void)slice_from(ranks, csr<double, host>{{1, cols}, {0, 1}, {0}, {1}});
    });
    for (const auto& t : thrown)
        EXPECT_EQ(text_of(t), "slice_from: rank 1 was given other arguments than rank 0");
}

TEST(distributed, needs_ranks_and_their_share) {
    EXPECT_THROW((distributed<double, cpu>(cpu{1}, {})), argument_error);
    const auto thrown = thrown_on_ranks(2, [](const communicator& ranks) {
        const csr<double, host> A{{4, 4}, {0, 1, 2, 3, 4}, {0, 1, 2, 3}, {1, 1, 1, 1}};
        auto slice = slice_of(ranks, view(A));
        if (ranks.rank() == 1) slice.own = A;
        const distributed<double, cpu> op({.threads = 1, .ranks = &ranks}, std::move(slice));
    });
    for (const auto& t : thrown)
        EXPECT_EQ(text_of(t), "distributed: own rows are 4 x 4, expected 2 x 4");
}

TEST(agreement, keeps_the_type_and_the_text_of_every_error) {
    const std::vector<std::function<void()>> faults{[] { throw argument_error("a: b"); },
                                                    [] { throw parse_error("file.mtx", 7, "bad: worse"); },
                                                    [] { throw out_of_memory("no room"); },
                                                    [] { throw device_error("broken"); },
                                                    [] { throw unavailable("not here"); },
                                                    [] { throw error("some"); }};
    const auto type_of = [](const std::exception_ptr& t) {
        try {
            std::rethrow_exception(t);
        } catch (const argument_error&) {
            return 1;
        } catch (const parse_error&) {
            return 2;
        } catch (const out_of_memory&) {
            return 3;
        } catch (const device_error&) {
            return 4;
        } catch (const unavailable&) {
            return 5;
        } catch (const error&) {
            return 6;
        }
    };
    for (const auto& fault : faults) {
        const auto thrown = thrown_on_ranks(3, [&](const communicator& ranks) {
            agree(&ranks, [&] {
                if (ranks.rank() > 0) fault();
            });
        });
        EXPECT_EQ(text_of(thrown[0]), text_of(thrown[1]));
        EXPECT_EQ(text_of(thrown[2]), text_of(thrown[1]));
        EXPECT_EQ(type_of(thrown[0]), type_of(thrown[1]));
    }
    EXPECT_THROW(agree(nullptr, faults[0]), argument_error);
}

TEST(agreement, memory_that_ran_out_is_told) {
    const auto thrown = thrown_on_ranks(2, [](const communicator& ranks) {
        agree(&ranks, [&] {
            if (ranks.rank() == 1) throw std::bad_alloc();
        });
    });
    EXPECT_EQ(text_of(thrown[0]), "out of memory");
}

TEST(shares, are_equal_in_entries) {
    const offset_vector ptr{0, 100, 101, 102, 103, 203};
    EXPECT_EQ(balanced_shares(ptr, 2).first, (std::vector<index>{0, 3, 5}));
    EXPECT_EQ(balanced_shares(offset_vector{0}, 3).first, (std::vector<index>{0, 0, 0, 0}));
    EXPECT_EQ(balanced_shares(offset_vector{0, 0, 0}, 4).first,
              (std::vector<index>{0, 1, 2, 2, 2}));
    const shares s{{0, 3, 3, 7}};
    for (index i = 0; i < 7; ++i) EXPECT_EQ(s.owner(i), i < 3 ? 0 : 2);
    EXPECT_THROW(equal_shares(3, 0), argument_error);
    EXPECT_THROW(equal_shares(-1, 2), argument_error);
}

TEST(exchanged, brings_lists_of_any_length_in_order) {
    on_ranks(5, [](const communicator& ranks) {
        std::vector<host_vector<int>> to(5);
        for (int r = 0; r < 5; ++r)
            to[std::size_t(r)].assign(std::size_t(ranks.rank() * r % 4), 10 * ranks.rank() + r);
        const auto from = exchanged(ranks, to);
        for (int r = 0; r < 5; ++r)
            EXPECT_EQ(from[std::size_t(r)],
                      host_vector<int>(std::size_t(ranks.rank() * r % 4), 10 * r + ranks.rank()));
    });
}

}  // namespace
}  // namespace nz::test
