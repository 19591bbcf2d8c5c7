// The public headers: matrices from files or generators, their stats, plans and operators, solvers,
// graphs, matrices over processes (docs/api.md). These headers, and those that they include, are
// what is installed.
#pragma once

#include "nonzero/core/error.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/gpu/gpu_ranks.hpp"
#include "nonzero/dist/read_slice.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/graph/pagerank.hpp"
#include "nonzero/graph/partitioned.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/solve/eigs/eigs.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/solve.hpp"
#include "nonzero/vector/vector_space.hpp"
