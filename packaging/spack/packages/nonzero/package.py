from spack.package import *


class Nonzero(CMakePackage, CudaPackage):
    """Sparse matrix-vector products at the speed of memory, on CPUs and NVIDIA GPUs: every classic
    storage format and kernel, a planner that takes the fastest for each matrix, and solvers on it.
    """

    license("BSD-3-Clause")

    # Of a clone: spack repo add packaging/spack; spack dev-build nonzero@0.2.0
    version("0.2.0")

    variant("shared", default=True, description="A shared library")
    variant("command", default=True, description="The command nz")
    variant(
        "mpi", default=False, description="mpirun nz, and nonzero/dist/mpi.hpp", when="+command"
    )
    variant("petsc", default=False, description="libnz_petsc.so, nonzero within PETSc")
    variant("matio", default=True, description="Read MAT-files")
    variant("metis", default=True, description="Partition by METIS")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type=("build", "link"))
    depends_on("fmt@9.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("fast-float@3:")
    depends_on("eigen@3.4:")
    depends_on("zlib-api")
    depends_on("libpng@1.6:")
    depends_on("libzip@1.7:")
    depends_on("cli11@2.3:", when="+command")
    depends_on("mpi", when="+mpi")
    depends_on("petsc@3.18:~complex~int64", when="+petsc")
    depends_on("matio", when="+matio")
    depends_on("metis@5.1: ~int64", when="+metis")
    depends_on("cuda@12:", when="+cuda")

    conflicts("%gcc@:11", msg="nonzero is C++20: gcc 12 or later")

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("NONZERO_CLI", "command"),
            self.define_from_variant("NONZERO_CUDA", "cuda"),
            self.define_from_variant("NONZERO_PETSC", "petsc"),
            self.define_from_variant("NONZERO_MATIO", "matio"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", self.spec.satisfies("~mpi")),
            self.define("NONZERO_TESTS", self.run_tests),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.builder.define_cuda_architectures(self))
        return args
