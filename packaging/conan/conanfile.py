"""nonzero for Conan 2: ``conan create packaging/conan --build=missing``."""

from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps


class Nonzero(ConanFile):
    """The library and the command, without CUDA."""

    name = "nonzero"
    version = "0.2.0"
    description = "Sparse matrix-vector products on CPUs and NVIDIA GPUs"
    license = "BSD-3-Clause"
    settings = "os", "compiler", "build_type", "arch"
    package_type = "static-library"
    requires = (
        "cli11/2.4.2",
        "eigen/3.4.0",
        "fast_float/6.1.5",
        "fmt/11.0.2",
        "libpng/1.6.44",
        "libzip/1.11.1",
        "nlohmann_json/3.11.3",
        "zlib/1.3.1",
    )

    def export_sources(self):
        """Take the sources from the clone."""
        root = str(Path(self.recipe_folder).parents[1])
        for pattern in ("CMakeLists.txt", "LICENSE", "nonzero/*", "cli/*", "cmake/*", "petsc/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        """Use CMake's usual folders."""
        cmake_layout(self)

    def generate(self):
        """Tell CMake where the requirements are, and libzip also by pkg-config."""
        toolchain = CMakeToolchain(self)
        for name in ("NONZERO_CUDA", "NONZERO_TESTS", "NONZERO_MATIO"):
            toolchain.cache_variables[name] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        """Configure and build."""
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        """Install what `cmake --install` does, and the licence."""
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")

    def package_info(self):
        """Let users find the package by its own CMake files."""
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/nonzero"]
