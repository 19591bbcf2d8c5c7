"""What bench/explain_check.py makes of counters, on counters made up."""
import unittest

import explain_check


class Metric:
    def __init__(self, value=0, instances=()):
        self.value, self.instances = value, instances

    def as_uint64(self, k=None):
        return self.value if k is None else self.instances[k][1]

    def num_instances(self):
        return len(self.instances)

    def correlation_ids(self):
        return Metric(instances=[(k, pc) for k, (pc, _) in enumerate(self.instances)])


class Action:
    """A launch: sectors of each instruction by its text."""

    def __init__(self, requests, sectors, instructions):
        self.sass = [text for text, _ in instructions]
        self.metrics = {
            explain_check.REQUESTS: Metric(requests),
            explain_check.SECTORS: Metric(sectors),
            explain_check.SECTORS_OF_INSTRUCTION: Metric(
                instances=[(pc, n) for pc, (_, n) in enumerate(instructions)]),
            explain_check.LANES_OF_INSTRUCTION: Metric(
                instances=[(pc, 32) for pc in range(len(instructions))]),
        }

    def metric_by_name(self, name):
        return self.metrics[name]

    def sass_by_pc(self, pc):
        return self.sass[pc]


def predicted(columns, values, x):
    of = {"columns": columns, "values": values, "x": x, "structure": 0, "y": 0}
    return {"method": "ell.row", "value": "double", "kernels": [{
        "kernel": "row_kernel", "loads": {"sectors": columns + values + x},
        "loads_of": {name: {"sectors": n} for name, n in of.items()},
        "loads_by_bytes": {"4": {"sectors": columns}, "8": {"sectors": values + x}}}]}


class ExplainCheck(unittest.TestCase):
    def test_tells_loads_by_their_width(self):
        for sass, size in (("LDG.E R2, [R4.64]", 4), ("@P0 LDG.E.64.CONSTANT R2, [R4.64]", 8),
                           ("LDG.E.U16 R2, [R4]", 2), ("LDG.E.128 R4, [R8.64]", 16),
                           ("LDG.E.U8.CONSTANT R0, [R2.64]", 1)):
            self.assertEqual(explain_check.bytes_of_load(sass), size, sass)
        for sass in ("STG.E.64 [R2.64], R4", "LDS.64 R2, [R4]", "FFMA R2, R3, R4, R5"):
            self.assertIsNone(explain_check.bytes_of_load(sass), sass)

    def test_adds_launches_up(self):
        counted = explain_check.Counted()
        for _ in range(2):
            explain_check.count_action(
                Action(7, 90, [("LDG.E R2, [R4]", 20), ("DFMA R2", 3), ("LDG.E.64 R2, [R4]", 30),
                               ("LDG.E.64.CONSTANT R2, [R4]", 40)]), counted)
        self.assertEqual(counted.requests, 14)
        self.assertEqual(counted.sectors, 180)
        self.assertEqual(counted.lanes, 2 * 3 * 32)
        self.assertEqual(counted.sectors_by_bytes, {4: 40, 8: 140})

    def judged(self, columns, values_and_x):
        seen = explain_check.Counted(1, columns + values_and_x, 0, {4: columns, 8: values_and_x})
        return {c.bytes: c.agrees for c in explain_check.compare(
            "A", predicted(1000, 2000, 500), {"row_kernel": seen})}

    def test_allows_three_percent_of_the_matrix_and_ten_of_x(self):
        self.assertEqual(self.judged(1000, 2500), {4: True, 8: True, 0: True})
        self.assertEqual(self.judged(1030, 2610), {4: True, 8: True, 0: True})
        self.assertEqual(self.judged(1031, 2500), {4: False, 8: True, 0: True})
        self.assertEqual(self.judged(1000, 2611), {4: True, 8: False, 0: True})
        self.assertEqual(self.judged(900, 2300), {4: False, 8: False, 0: False})

    def test_a_width_that_was_not_predicted_differs(self):
        seen = explain_check.Counted(1, 3501, 0, {4: 1000, 8: 2500, 16: 1})
        judged = explain_check.compare("A", predicted(1000, 2000, 500), {"row_kernel": seen})
        self.assertEqual([c.bytes for c in judged if not c.agrees], [16])

    def test_says_which_kernel_is_missing(self):
        with self.assertRaisesRegex(explain_check.Failure, "row_kernel"):
            explain_check.compare("A", predicted(1, 1, 1), {})

    def test_says_what_cannot_be_run(self):
        with self.assertRaisesRegex(explain_check.Failure, "no_such_command"):
            explain_check.run(["no_such_command"])


if __name__ == "__main__":
    unittest.main()
