// Everything a user of the library needs: matrices from files or made, what to know of them, and
// the methods that multiply them.
#pragma once

#include "nonzero/core/error.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/space.hpp"
#include "nonzero/core/value.hpp"
#include "nonzero/formats/csr.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/solve/amg.hpp"
#include "nonzero/solve/cg.hpp"
#include "nonzero/solve/function_operator.hpp"
#include "nonzero/solve/pagerank.hpp"
#include "nonzero/solve/report.hpp"
#include "nonzero/solve/vectors.hpp"
