// Process of nz: its setup before anything else, and its cleanup when it is ended.
#pragma once

namespace nz::cli {

/// Opens /dev/null in place of those of stdin, stdout and stderr that are closed: else the first
/// file that is opened takes their place, and what is printed lands in it.
void open_standard_streams();

/// Has OpenMP's threads wait by spinning shortly, and sleep from then on, unless the user's
/// OMP_WAIT_POLICY or GOMP_SPINCOUNT says otherwise (docs/decisions/threads.md). OpenMP reads them
/// before main: so this starts the command anew, in the same process, the first time. That takes
/// time, so call it when there is something to compute.
void bound_waiting(char** argv);

/// From now on, files that are not complete go when SIGINT, SIGTERM, SIGHUP or SIGPIPE ends the
/// process, and when OpenMP does, which then exits with `machine`.
void leave_no_unfinished_files();

/// To be told before main returns what run() returned: `code` itself, or `machine`, with a line on
/// stderr, where not all that was printed could be written.
[[nodiscard]] int finish(int code);

}  // namespace nz::cli
