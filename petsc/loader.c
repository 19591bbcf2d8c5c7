/* A program that is not linked with PETSc, as Python is: it loads the library that its second
 * argument names, for itself (local) or for all (global), and starts it with the other arguments.
 *   petsc_loader local libpetsc.so -dll_append path/libnz_petsc.so */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int (*start)(int *, char ***, const char *, const char *) = NULL;
    int (*end)(void) = NULL;
    const int of_all = argc > 2 && strcmp(argv[1], "global") == 0;
    void *petsc = argc > 2 ? dlopen(argv[2], RTLD_LAZY | (of_all ? RTLD_GLOBAL : RTLD_LOCAL)) : NULL;
    if (petsc) *(void **)&start = dlsym(petsc, "PetscInitialize");
    if (petsc) *(void **)&end = dlsym(petsc, "PetscFinalize");
    if (!start || !end) {
        fprintf(stderr, "no PETSc: %s\n", dlerror());
        return 2;
    }
    argc -= 2, argv += 2;
    if (start(&argc, &argv, NULL, NULL)) return 1;
    puts("PETSc runs");
    return end();
}
