"""nonzero for Spack: copy into a repository's packages/nonzero/."""

from spack.package import *


class Nonzero(CMakePackage, CudaPackage):
    """Sparse matrix-vector products on CPUs and NVIDIA GPUs."""

    license("BSD-3-Clause")
    # From a clone: spack dev-build nonzero@main
    version("main")

    variant("mpi", default=False, description="the command's plugin for mpirun")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11")
    depends_on("eigen@3.4:")
    depends_on("fast-float")
    depends_on("fmt")
    depends_on("libpng")
    depends_on("libzip")
    depends_on("nlohmann-json")
    depends_on("zlib-api")
    depends_on("cuda@12:", when="+cuda")
    depends_on("mpi", when="+mpi")

    def cmake_args(self):
        """Return what differs from the defaults."""
        args = [
            self.define_from_variant("NONZERO_CUDA", "cuda"),
            self.define("NONZERO_TESTS", False),
            self.define("NONZERO_MATIO", False),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", "~mpi" in self.spec),
        ]
        if "+cuda" in self.spec:
            args.append(
                self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value)
            )
        return args
