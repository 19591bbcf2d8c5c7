// CUDA graph capture: calls forbidden in the captured stream, and in others meanwhile.
#pragma once

#include "nonzero/core/cuda.cuh"

namespace nz {

/// As long as it lives, captures that others have begun do not forbid this thread what it does in
/// streams that are not captured; the forbidden call would spoil their capture.
class beside_captures {
  public:
    beside_captures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    ~beside_captures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    beside_captures(const beside_captures&) = delete;
    beside_captures& operator=(const beside_captures&) = delete;

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Whether what is launched in on.stream becomes part of a CUDA graph, or would spoil one: the
/// default stream does so while a stream that waits for it is captured.
inline bool is_captured(gpu on) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t code = cudaStreamIsCapturing(stream_of(on), &status);
    if (code != cudaSuccess) cudaGetLastError();
    return code == cudaErrorStreamCaptureImplicit || status != cudaStreamCaptureStatusNone;
}

/// Throws device_error, saying so, where that is the case.
inline void refuse_capture(gpu on, const char* what) {
    if (is_captured(on))
        throw device_error(std::string(what) +
                           " is not possible while the stream is being captured in a CUDA graph: "
                           "plan, build and copy before the capture");
}

}  // namespace nz
