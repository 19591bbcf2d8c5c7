"""Conan 2 recipe of nonzero, of the clone that it lies in: ``conan create packaging/conan``."""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps

CLONE = Path(__file__).resolve().parents[2]


class NonzeroConan(ConanFile):
    name = "nonzero"
    description = "Sparse matrix-vector products at the speed of memory"
    license = "BSD-3-Clause"
    topics = ("sparse", "spmv", "cuda", "openmp", "multigrid", "pagerank")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "cuda": [True, False],
        "command": [True, False],
    }
    default_options = {"shared": False, "fPIC": True, "cuda": False, "command": True}
    implements = ["auto_shared_fpic"]

    def set_version(self):
        text = load(self, str(CLONE / "CMakeLists.txt"))
        self.version = re.search(r"project\(nonzero VERSION ([0-9.]+)", text)[1]

    def export_sources(self):
        for part in ("CMakeLists.txt", "LICENSE", "cmake/*", "nonzero/*", "cli/*"):
            copy(self, part, CLONE, self.export_sources_folder)

    def requirements(self):
        self.requires("fmt/[>=9.1 <12]")
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("libpng/[>=1.6 <2]")
        self.requires("libzip/[>=1.7 <2]")
        self.requires("fast_float/[>=3 <9]", visible=False)
        self.requires("nlohmann_json/[>=3.11 <4]", visible=False)
        self.requires("eigen/[>=3.4 <6]", visible=False)
        if self.options.command:
            self.requires("cli11/[>=2.3 <3]", visible=False)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(
            NONZERO_CUDA=bool(self.options.cuda),
            NONZERO_CLI=bool(self.options.command),
            NONZERO_TESTS=False,
            NONZERO_C=False,
            NONZERO_PETSC=False,
            NONZERO_MATIO=False,
        )
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder) / "licenses"))
        rmdir(self, str(Path(self.package_folder) / "share" / "doc"))

    def package_info(self):
        # The package's own nonzeroConfig.cmake is right: it finds what a static library needs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/nonzero"]
        self.cpp_info.libs = ["nonzero"]
        self.cpp_info.system_libs = ["dl", "pthread"]
