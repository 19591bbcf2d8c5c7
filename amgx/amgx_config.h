/* Modes of AmgX's interface: where vectors lie and of which types values and indices are. */
#ifndef NONZERO_AMGX_CONFIG_H
#define NONZERO_AMGX_CONFIG_H

#ifdef __cplusplus
extern "C" {
#endif

#define AMGX_API __attribute__((visibility("default")))

typedef enum { AMGX_host = 0, AMGX_device = 1, AMGX_memorySpaceNum = 16 } AMGX_MemorySpace;

typedef enum {
    AMGX_double = 0,
    AMGX_float = 1,
    AMGX_int = 2,
    AMGX_doublecomplex = 3,
    AMGX_complex = 4,
    AMGX_usint = 5,
    AMGX_uint = 6,
    AMGX_uint64 = 7,
    AMGX_int64 = 8,
    AMGX_bool = 9,
    AMGX_scalarPrecisionNum = 16
} AMGX_ScalarPrecision;

typedef enum {
    AMGX_vecDouble = 0,
    AMGX_vecFloat = 1,
    AMGX_vecInt = 2,
    AMGX_vecDoubleComplex = 3,
    AMGX_vecComplex = 4,
    AMGX_vecUSInt = 5,
    AMGX_vecUInt = 6,
    AMGX_vecUInt64 = 7,
    AMGX_vecInt64 = 8,
    AMGX_vecBool = 9,
    AMGX_vecPrecisionNum = 16
} AMGX_VecPrecision;

typedef enum {
    AMGX_matDouble = 0,
    AMGX_matFloat = 1,
    AMGX_matInt = 2,
    AMGX_matDoubleComplex = 3,
    AMGX_matComplex = 4,
    AMGX_matPrecisionNum = 16
} AMGX_MatPrecision;

typedef enum { AMGX_indInt = 2, AMGX_indInt64 = 8, AMGX_indPrecisionNum = 16 } AMGX_IndPrecision;

/* A mode is a number of four hexadecimal digits: index, matrix, vector, memory. */
enum {
    AMGX_MemorySpaceBase = 1,
    AMGX_MemorySpaceSize = 16,
    AMGX_VecPrecisionBase = 16,
    AMGX_VecPrecisionSize = 16,
    AMGX_MatPrecisionBase = 256,
    AMGX_MatPrecisionSize = 16,
    AMGX_IndPrecisionBase = 4096,
    AMGX_IndPrecisionSize = 16
};

#define AMGX_ASSEMBLE_MODE(memory, vec, mat, ind) ((memory) + 16 * (vec) + 256 * (mat) + 4096 * (ind))
#define AMGX_GET_MODE_VAL(type, mode) ((type)(((mode) / type##Base) % type##Size))
#define AMGX_SET_MODE_VAL(type, mode, value) \
    ((AMGX_Mode)((mode) + ((value)-AMGX_GET_MODE_VAL(type, mode)) * type##Base))

typedef enum {
    AMGX_unset = -1,
    AMGX_mode_hDDI = 0x2000,
    AMGX_mode_dDDI = 0x2001,
    AMGX_mode_hDFI = 0x2100,
    AMGX_mode_dDFI = 0x2101,
    AMGX_mode_hFFI = 0x2110,
    AMGX_mode_dFFI = 0x2111,
    AMGX_mode_hIDI = 0x2020,
    AMGX_mode_dIDI = 0x2021,
    AMGX_mode_hIFI = 0x2120,
    AMGX_mode_dIFI = 0x2121,
    AMGX_mode_hZZI = 0x2330,
    AMGX_mode_dZZI = 0x2331,
    AMGX_mode_hZCI = 0x2430,
    AMGX_mode_dZCI = 0x2431,
    AMGX_mode_hCCI = 0x2440,
    AMGX_mode_dCCI = 0x2441,
    AMGX_modeNum = 10,
    AMGX_modeRange = 0x10000
} AMGX_Mode;

#ifdef __cplusplus
}
#endif

#endif
