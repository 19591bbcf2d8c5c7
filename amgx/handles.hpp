// Handles: which objects are alive, so that one that is not is told and never followed.
#pragma once

#include <memory>

#include "amgx/objects.hpp"

namespace nz::amgx {

/// Kinds of objects behind handles.
enum class kind { configuration, resources, matrix, vector, solver, distribution };

/// The kind of each type.
template <class T>
struct handle_of;
template <>
struct handle_of<configuration> {
    static constexpr kind k = kind::configuration;
    using type = AMGX_config_handle;
};
template <>
struct handle_of<std::shared_ptr<resources>> {
    static constexpr kind k = kind::resources;
    using type = AMGX_resources_handle;
};
template <>
struct handle_of<matrix> {
    static constexpr kind k = kind::matrix;
    using type = AMGX_matrix_handle;
};
template <>
struct handle_of<vector_of_blocks> {
    static constexpr kind k = kind::vector;
    using type = AMGX_vector_handle;
};
template <>
struct handle_of<solver> {
    static constexpr kind k = kind::solver;
    using type = AMGX_solver_handle;
};
template <>
struct handle_of<distribution> {
    static constexpr kind k = kind::distribution;
    using type = AMGX_distribution_handle;
};

/// From now on, until `forget`, the object at this address is alive.
void remember(const void* object, kind);
/// Throws failure with BAD_PARAMETERS where no such object is alive there.
void expect_alive(const void* object, kind);
void forget(const void* object, kind);

/// The object behind a handle. Throws failure with BAD_PARAMETERS where the handle is null, of
/// another kind, or of an object that was destroyed.
template <class T>
T& object_of(const void* handle) {
    expect_alive(handle, handle_of<T>::k);
    return *static_cast<T*>(const_cast<void*>(handle));
}
template <class T>
void give(typename handle_of<T>::type* handle, std::unique_ptr<T> object) {
    remember(object.get(), handle_of<T>::k);
    *handle = reinterpret_cast<typename handle_of<T>::type>(object.release());
}
template <class T>
void destroy(const void* handle) {
    T* const object = &object_of<T>(handle);
    forget(object, handle_of<T>::k);
    delete object;
}

}  // namespace nz::amgx
