"""The model of many ranks, where what it must say can be told by hand."""
import json
import unittest
from dataclasses import replace
from pathlib import Path

import dist_model as model

GPU = model.Machine("made up", memory=1e12, launch=1e-5, latency=1e-6, link=1e10)
EIGHTHS = model.Shrinking((8, 8), (7, 27, 27))


class Products(unittest.TestCase):
    def test_one_rank_moves_its_matrix_and_sends_nothing(self):
        part = model.cube(100, 1, boxes=False)
        self.assertEqual((part.rows, part.halo, part.neighbours), (1e6, 0, 0))
        self.assertAlmostEqual(part.product_s(GPU), 1e-5 + 1e6 * (7 * 12 + 20) / 1e12)

    def test_slabs_keep_their_halo_and_cubes_do_not(self):
        for ranks in (4, 32):
            self.assertEqual(model.cube(100, ranks, boxes=False).halo, 2 * 100**2)
        few, many = (model.cube(64, ranks, boxes=True) for ranks in (8, 64))
        self.assertAlmostEqual(few.halo, 6 * 32**2)
        self.assertAlmostEqual(many.halo, 6 * 16**2)

    def test_waiting_hides_behind_the_own_columns_or_binds(self):
        slow = replace(GPU, latency=1.0)
        part = model.cube(400, 8, boxes=True)
        fast = replace(GPU, link=1e30)
        self.assertLess(part.product_s(fast), 1.1 * (GPU.launch + part.local_bytes / GPU.memory))
        self.assertAlmostEqual(part.product_s(slow), 1, places=3)  # six messages, started together

    def test_travel_comes_on_top(self):
        part = model.cube(400, 8, boxes=True)
        more = part.product_s(replace(GPU, link=1e9)) - part.product_s(GPU)
        self.assertAlmostEqual(more / (part.halo_bytes * (1e-9 - 1e-10)), 1)


class Measured(unittest.TestCase):
    def test_latency_and_rate_are_found_again(self):
        told = [(size, 2e-5 + size / 3e11) for size in (1e5, 4e5, 3.2e7)]
        latency, rate = model.fitted_messages(told)
        self.assertAlmostEqual(latency * 1e5, 2)
        self.assertAlmostEqual(rate / 1e11, 3)

    def test_a_product_waits_for_the_slower_of_own_columns_and_messages(self):
        def expected(latency, travel_s=0.0):
            return model.expected_product_s(12.0, [6, 6], [2, 1], latency, travel_s, 0.5)
        self.assertAlmostEqual(expected(3), 5 + 1 + 1)  # rank 1: 5 own, then 1
        self.assertAlmostEqual(expected(9), 9 + 2 + 1)  # rank 0 has 2 of others
        self.assertAlmostEqual(expected(3, 4), expected(3) + 4)  # nothing hides what travels


class Multigrid(unittest.TestCase):
    def test_levels_shrink_to_one_that_is_solved_directly(self):
        levels = model.levels_of(8**7, 64, EIGHTHS)
        self.assertEqual([level.all_rows for level in levels], [8**k for k in range(7, 1, -1)])
        self.assertEqual([level.is_last for level in levels], [False] * 5 + [True])
        # With fewer than 1,000 rows each, as many ranks as have them.
        self.assertEqual([level.ranks for level in levels], [64, 64, 32, 4, 1, 1])
        self.assertEqual([level.products for level in levels], [4, 6, 6, 6, 6, 0])

    def test_one_rank_waits_for_nobody(self):
        levels = model.levels_of(8**7, 1, EIGHTHS)
        self.assertEqual(sum(level.messages + level.halo_bytes for level in levels), 0)
        self.assertEqual(model.iteration_s(levels, 1, GPU),
                         model.iteration_s(levels, 1, replace(GPU, latency=1.0, link=1.0)))

    def test_coarser_levels_reach_all_around(self):
        finest, second = model.levels_of(8**8, 64, EIGHTHS)[:2]
        side = (8**8 / 64) ** (1 / 3)
        self.assertAlmostEqual(finest.A.halo, 6 * side**2)
        self.assertAlmostEqual(second.A.halo, (side / 2 + 2) ** 3 - (side / 2) ** 3)
        self.assertEqual((finest.A.neighbours, second.A.neighbours), (6, 26))
        # An aggregate is a cube of side 2, so that every other row has a neighbour in the next one.
        self.assertAlmostEqual(finest.P.entries, 1 + 6 / 2)
        self.assertAlmostEqual(second.P.entries, 2**3)

    def test_a_gathered_level_comes_from_all_that_had_the_one_before(self):
        third, fourth = model.levels_of(8**7, 64, EIGHTHS)[2:4]
        self.assertEqual((third.ranks, fourth.ranks), (32, 4))
        self.assertEqual((third.P.halo, third.P.neighbours), (8**4 / 4, 7))

    def test_the_time_is_the_sum_of_its_parts(self):
        last = model.levels_of(8**3, 4, model.Shrinking((2, 2), (7, 7, 7)))[-1]
        self.assertAlmostEqual(last.cycle_s(GPU), 1e-5 + 256**2 * 8 / 1e12)
        levels = model.levels_of(8**7, 16, EIGHTHS)
        still = replace(GPU, memory=1e30, launch=0, link=1e30)  # where latency alone is left
        waits = (levels[0].A.neighbours > 0) + sum(
            level.products * (level.A.neighbours > 0) + 2 * (level.P.neighbours > 0)
            for level in levels)
        self.assertAlmostEqual(model.iteration_s(levels, 16, still) / still.latency,
                               waits + 2 * 4)

    def test_the_levels_are_those_that_were_measured(self):
        how = model.measured_shrinking()
        self.assertGreater(min(how.rows), 8)
        rows = [level.all_rows for level in model.levels_of(160**3, 1, how)]
        self.assertAlmostEqual(rows[1], 176269)
        self.assertAlmostEqual(rows[2], 10942)

    def test_a_cycle_on_one_gpu_takes_about_what_was_measured(self):
        path = Path(model.__file__).resolve().parent / "results/h200/amg/amg.json"
        for side in (100, 160):
            problem = json.loads(path.read_text())["problems"][f"laplace3d:{side}"]
            levels = model.levels_of(side**3, 1, model.measured_shrinking())
            seconds = sum(level.cycle_s(model.h200()) for level in levels)
            # Measured were packed levels, which take fewer bytes than the model's CSR.
            self.assertLess(0.5, seconds / (problem["cycle_us"] * 1e-6))
            self.assertLess(seconds / (problem["cycle_us"] * 1e-6), 2.5)

    def test_tables_have_a_line_for_each(self):
        for lines in (model.gpu_table(), model.amg_table()):
            self.assertEqual(len(lines), 2 + len(model.GPUS))
            self.assertEqual({line.count("|") for line in lines}, {lines[0].count("|")})
        self.assertEqual(len(model.level_table(64)), 2 + 7)


if __name__ == "__main__":
    unittest.main()
