// ILU(0) as one applies it with NVIDIA's library: what ours is compared with.
#pragma once

#include <memory>

#include "nonzero/formats/csr/csr.hpp"

namespace nz::peers {

/// cuSPARSE's csrilu02 and a SpSV with each factor. A has its diagonal, columns ascending, fewer
/// than 2^31 entries; it is copied to the GPU first, which is not counted. Throws device_error.
class cusparse_ilu {
  public:
    cusparse_ilu(gpu on, const csr<double, host_view>& A);
    ~cusparse_ilu();
    /// x = U^-1 L^-1 b, launched in the stream.
    void apply(device_span<double> b, device_out<double> x) const;
    /// Seconds of csrilu02's analysis and factorisation, and of SpSV's analyses.
    [[nodiscard]] double factor_s() const;
    [[nodiscard]] double analysis_s() const;

  private:
    struct state;
    std::unique_ptr<state> s_;
};

}  // namespace nz::peers
