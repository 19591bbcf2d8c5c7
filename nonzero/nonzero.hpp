// Everything a user of the library needs: matrices, methods, and what to know of a matrix.
#pragma once

#include "nonzero/core/error.hpp"
#include "nonzero/core/space.hpp"
#include "nonzero/core/value.hpp"
#include "nonzero/formats/csr.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/plan/stats.hpp"
