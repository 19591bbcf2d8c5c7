// AmgX's functions of the library, the process and configurations.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "amgx/handles.hpp"
#include "amgx/keys.hpp"
#include "amgx/memory.hpp"
#include "nonzero/core/json.hpp"

namespace nz::amgx {
namespace {

/// Clients compare the first sentences with AmgX's own.
const char* sentence_of(int code) {
    switch (code) {
        case AMGX_RC_OK:
            return "No error.";
        case AMGX_RC_BAD_PARAMETERS:
            return "Incorrect parameters for amgx call.";
        case AMGX_RC_INTERNAL:
            return "Internal error.";
        case AMGX_RC_NOT_SUPPORTED_TARGET:
            return "There is no such device, or not for this call.";
        case AMGX_RC_NOT_SUPPORTED_BLOCKSIZE:
            return "Blocks of this size are not served.";
        case AMGX_RC_CUDA_FAILURE:
            return "A CUDA call failed.";
        case AMGX_RC_THRUST_FAILURE:
            return "A library of CUDA's failed.";
        case AMGX_RC_NO_MEMORY:
            return "Memory does not suffice.";
        case AMGX_RC_IO_ERROR:
            return "A file cannot be read or written.";
        case AMGX_RC_BAD_MODE:
            return "This mode is not served.";
        case AMGX_RC_CORE:
            return "The library could not start.";
        case AMGX_RC_PLUGIN:
            return "A plugin could not start.";
        case AMGX_RC_BAD_CONFIGURATION:
            return "An amgx configuration is wrong.";
        case AMGX_RC_NOT_IMPLEMENTED:
            return "This function is not served.";
        case AMGX_RC_LICENSE_NOT_FOUND:
            return "A licence is missing.";
        default:
            return "Unknown error.";
    }
}

std::string description(bool as_json) {
    if (!as_json) {
        std::string text;
        for (const key& k : keys()) text += fmt::format("{}: {}\n", k.name, k.fate);
        return text;
    }
    json all = json::object();
    for (const key& k : keys()) all[k.name] = std::string(k.fate);
    return all.dump(2) + "\n";
}

}  // namespace
}  // namespace nz::amgx

using namespace nz::amgx;

AMGX_RC AMGX_initialize(void) { return AMGX_RC_OK; }
AMGX_RC AMGX_finalize(void) { return AMGX_RC_OK; }
AMGX_RC AMGX_initialize_plugins(void) { return AMGX_RC_OK; }
AMGX_RC AMGX_finalize_plugins(void) { return AMGX_RC_OK; }
AMGX_RC AMGX_install_signal_handler(void) { return AMGX_RC_OK; }
AMGX_RC AMGX_reset_signal_handler(void) { return AMGX_RC_OK; }

void AMGX_abort(AMGX_resources_handle, int err) { std::exit(err); }

AMGX_RC AMGX_get_api_version(int* major, int* minor) {
    return guarded(__func__, [&] {
        not_null(major, "major") = 1;
        not_null(minor, "minor") = 0;
    });
}

AMGX_RC AMGX_get_build_info_strings(char** version, char** date, char** time) {
    return guarded(__func__, [&] {
        static char name[] = "nonzero " NZ_VERSION, none[] = "";
        not_null(version, "version") = name;
        not_null(date, "date") = none;  // builds are reproducible, and know of no time
        not_null(time, "time") = none;
    });
}

AMGX_RC AMGX_get_error_string(AMGX_RC err, char* buf, int buf_len) {
    return guarded(__func__, [&] {
        not_null(buf, "buf");
        require(buf_len > 0, "buf_len is not positive");
        std::strncpy(buf, sentence_of(int(err)), std::size_t(buf_len));
        buf[buf_len - 1] = '\0';
    });
}

AMGX_RC AMGX_register_print_callback(AMGX_print_callback func) {
    set_print_callback(func);
    return AMGX_RC_OK;
}
AMGX_RC AMGX_solver_register_print_callback(AMGX_print_callback func) {
    return AMGX_register_print_callback(func);
}

AMGX_RC AMGX_pin_memory(void* ptr, unsigned int bytes) {
    return guarded(__func__, [&] {
        expect_pointer(ptr, "ptr");
        pin(ptr, bytes);
    });
}
AMGX_RC AMGX_unpin_memory(void* ptr) {
    return guarded(__func__, [&] {
        expect_pointer(ptr, "ptr");
        unpin(ptr);
    });
}

AMGX_RC AMGX_config_create(AMGX_config_handle* cfg, const char* options) {
    return guarded(__func__, [&] {
        not_null(cfg, "cfg");
        auto made = std::make_unique<configuration>();
        made->add(&not_null(options, "options"));
        give(cfg, std::move(made));
    });
}

AMGX_RC AMGX_config_create_from_file(AMGX_config_handle* cfg, const char* param_file) {
    return guarded(__func__, [&] {
        not_null(cfg, "cfg");
        auto made = std::make_unique<configuration>();
        made->add_file(&not_null(param_file, "param_file"));
        give(cfg, std::move(made));
    });
}

AMGX_RC AMGX_config_create_from_file_and_string(AMGX_config_handle* cfg, const char* param_file,
                                                const char* options) {
    return guarded(__func__, [&] {
        not_null(cfg, "cfg");
        auto made = std::make_unique<configuration>();
        made->add_file(&not_null(param_file, "param_file"));
        made->add(&not_null(options, "options"));
        give(cfg, std::move(made));
    });
}

AMGX_RC AMGX_config_add_parameters(AMGX_config_handle* cfg, const char* options) {
    return guarded(__func__, [&] {
        object_of<configuration>(not_null(cfg, "cfg")).add(&not_null(options, "options"));
    });
}

AMGX_RC AMGX_config_get_default_number_of_rings(AMGX_config_handle cfg, int* num_import_rings) {
    return guarded(__func__, [&] {
        object_of<configuration>(cfg);
        not_null(num_import_rings, "num_import_rings") = 1;
    });
}

AMGX_RC AMGX_config_destroy(AMGX_config_handle cfg) {
    return guarded(__func__, [&] { destroy<configuration>(cfg); });
}

AMGX_RC AMGX_write_parameters_description(char* filename, AMGX_GET_PARAMS_DESC_FLAG mode) {
    return guarded(__func__, [&] {
        const bool as_json = mode == AMGX_GET_PARAMS_DESC_JSON_TO_FILE;
        if (!as_json && mode != AMGX_GET_PARAMS_DESC_TEXT_TO_FILE)
            throw failure(AMGX_RC_NOT_IMPLEMENTED, "only to a file");
        std::ofstream file(&not_null(filename, "filename"));
        file << description(as_json);
        if (!file.flush())
            throw failure(AMGX_RC_IO_ERROR, fmt::format("{}: cannot be written", filename));
    });
}
