! The Fortran module of nonzero's C interface: the same names, which nonzero.h describes. Fortran
! 2018; compile this file with your program and link with -lnonzero_c.
!
!   * Handles are type(c_ptr), streams too: c_null_ptr is the default stream.
!   * Arrays of values are of any type: pass the array, and its type beside it. alpha and beta are
!     scalars of that type. Arguments that may be NULL are optional.
!   * Strings end in c_null_char: "tol=1e-10" // c_null_char.
!   * Rows, columns and positions count from 0, as in C: col_ind = my_columns - 1.
module nonzero
    use, intrinsic :: iso_c_binding
    implicit none
    private :: text_at

    integer(c_int), parameter :: NZ_ABI = 1
    integer(c_int), parameter :: NZ_OK = 0, NZ_NOT_CONVERGED = 1, NZ_INVALID_ARGUMENT = 2, &
        NZ_INVALID_HANDLE = 3, NZ_WRONG_TYPE = 4, NZ_PARSE_ERROR = 5, NZ_OUT_OF_MEMORY = 6, &
        NZ_DEVICE_ERROR = 7, NZ_UNAVAILABLE = 8, NZ_UNSUITABLE = 9, NZ_INTERNAL_ERROR = 10
    integer(c_int), parameter :: NZ_FLOAT = 1, NZ_DOUBLE = 2, NZ_COMPLEX_FLOAT = 3, &
        NZ_COMPLEX_DOUBLE = 4
    integer(c_int), parameter :: NZ_INT32 = 32, NZ_INT64 = 64
    integer(c_int), parameter :: NZ_BORROW = 101, NZ_COPY = 102
    integer(c_int), parameter :: NZ_PLAIN = 201, NZ_TRANSPOSE = 202, NZ_CONJUGATE_TRANSPOSE = 203
    integer(c_int), parameter :: NZ_COLUMN_MAJOR = 301, NZ_ROW_MAJOR = 302
    integer(c_int), parameter :: NZ_CPU = -1

    type, bind(C) :: nz_report
        integer(c_size_t) :: struct_size = 984
        integer(c_int32_t) :: converged = 0, attempts = 0
        integer(c_int64_t) :: iterations = 0
        real(c_double) :: residual = 0, residual_norm = 0, setup_s = 0, solve_s = 0
        character(kind=c_char) :: status(32) = c_null_char, method(32) = c_null_char
        character(kind=c_char) :: preconditioner(32) = c_null_char, product(64) = c_null_char
        character(kind=c_char) :: why(256) = c_null_char, advice(512) = c_null_char
    end type

    interface
        integer(c_int) function nz_abi_version() bind(C)
            import
        end function
        integer(c_int) function nz_gpu_count() bind(C)
            import
        end function

        integer(c_int) function nz_matrix_read(path, type, A) bind(C)
            import
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: type
            type(c_ptr), intent(out) :: A
        end function
        integer(c_int) function nz_matrix_wrap(type, rows, cols, nnz, position_type, row_ptr, &
                                               col_ind, val, ownership, device, stream, A) bind(C)
            import
            integer(c_int), value :: type, position_type, ownership, device
            integer(c_int32_t), value :: rows, cols
            integer(c_int64_t), value :: nnz
            type(*), intent(in), target :: row_ptr(*), val(*)
            integer(c_int32_t), intent(in), target :: col_ind(*)
            type(c_ptr), value :: stream
            type(c_ptr), intent(out) :: A
        end function
        integer(c_int) function nz_matrix_info(A, rows, cols, nnz, type, device) bind(C)
            import
            type(c_ptr), value :: A
            integer(c_int32_t), intent(out), optional :: rows, cols
            integer(c_int64_t), intent(out), optional :: nnz
            integer(c_int), intent(out), optional :: type, device
        end function
        integer(c_int) function nz_matrix_arrays(A, position_type, row_ptr, col_ind, val) bind(C)
            import
            type(c_ptr), value :: A
            integer(c_int), intent(out), optional :: position_type
            type(c_ptr), intent(out), optional :: row_ptr, col_ind, val
        end function
        integer(c_int) function nz_matrix_destroy(A) bind(C)
            import
            type(c_ptr), value :: A
        end function

        integer(c_int) function nz_plan(A, device, stream, options, op) bind(C)
            import
            type(c_ptr), value :: A, stream
            integer(c_int), value :: device
            character(kind=c_char), intent(in), optional :: options(*)
            type(c_ptr), intent(out) :: op
        end function
        integer(c_int) function nz_operator_info(op, rows, cols, type, device, bytes) bind(C)
            import
            type(c_ptr), value :: op
            integer(c_int32_t), intent(out), optional :: rows, cols
            integer(c_int), intent(out), optional :: type, device
            integer(c_int64_t), intent(out), optional :: bytes
        end function
        integer(c_int) function nz_operator_text(op, text, capacity, length) bind(C)
            import
            type(c_ptr), value :: op
            character(kind=c_char), intent(out), optional :: text(*)
            integer(c_int64_t), value :: capacity
            integer(c_int64_t), intent(out), optional :: length
        end function
        integer(c_int) function nz_operator_update(op, A) bind(C)
            import
            type(c_ptr), value :: op, A
        end function
        integer(c_int) function nz_operator_destroy(op) bind(C)
            import
            type(c_ptr), value :: op
        end function
        integer(c_int) function nz_apply(A, op, type, alpha, x, x_length, beta, y, y_length) bind(C)
            import
            type(c_ptr), value :: A
            integer(c_int), value :: op, type
            integer(c_int64_t), value :: x_length, y_length
            type(*), intent(in) :: alpha, beta, x(*)
            type(*), intent(inout) :: y(*)
        end function
        integer(c_int) function nz_apply_many(A, type, count, alpha, X, X_length, X_stride, &
                                              X_order, beta, Y, Y_length, Y_stride, Y_order) bind(C)
            import
            type(c_ptr), value :: A
            integer(c_int), value :: type, X_order, Y_order
            integer(c_int32_t), value :: count
            integer(c_int64_t), value :: X_length, X_stride, Y_length, Y_stride
            type(*), intent(in) :: alpha, beta, X(*)
            type(*), intent(inout) :: Y(*)
        end function

        integer(c_int) function nz_amg(A, device, stream, near, near_length, options, M) bind(C)
            import
            type(c_ptr), value :: A, stream
            integer(c_int), value :: device
            type(*), intent(in), optional :: near(*)
            integer(c_int64_t), value :: near_length
            character(kind=c_char), intent(in), optional :: options(*)
            type(c_ptr), intent(out) :: M
        end function

        integer(c_int) function nz_solve(A, device, stream, type, b, b_length, x, x_length, &
                                         options, report) bind(C)
            import
            type(c_ptr), value :: A, stream
            integer(c_int), value :: device, type
            integer(c_int64_t), value :: b_length, x_length
            type(*), intent(in) :: b(*)
            type(*), intent(inout) :: x(*)
            character(kind=c_char), intent(in), optional :: options(*)
            type(nz_report), intent(inout), optional :: report
        end function
        integer(c_int) function nz_krylov(A, M, type, b, b_length, x, x_length, options, &
                                          report) bind(C)
            import
            type(c_ptr), value :: A, M
            integer(c_int), value :: type
            integer(c_int64_t), value :: b_length, x_length
            type(*), intent(in) :: b(*)
            type(*), intent(inout) :: x(*)
            character(kind=c_char), intent(in), optional :: options(*)
            type(nz_report), intent(inout), optional :: report
        end function
        integer(c_int) function nz_solver_create(A, device, stream, options, solver) bind(C)
            import
            type(c_ptr), value :: A, stream
            integer(c_int), value :: device
            character(kind=c_char), intent(in), optional :: options(*)
            type(c_ptr), intent(out) :: solver
        end function
        integer(c_int) function nz_solver_solve(solver, type, b, b_length, x, x_length, &
                                                report) bind(C)
            import
            type(c_ptr), value :: solver
            integer(c_int), value :: type
            integer(c_int64_t), value :: b_length, x_length
            type(*), intent(in) :: b(*)
            type(*), intent(inout) :: x(*)
            type(nz_report), intent(inout), optional :: report
        end function
        integer(c_int) function nz_solver_update(solver, A) bind(C)
            import
            type(c_ptr), value :: solver, A
        end function
        integer(c_int) function nz_solver_destroy(solver) bind(C)
            import
            type(c_ptr), value :: solver
        end function

        integer(c_int) function nz_eigs(A, M, type, values, values_length, vectors, &
                                        vectors_length, found, options, report) bind(C)
            import
            type(c_ptr), value :: A, M
            integer(c_int), value :: type
            integer(c_int64_t), value :: values_length, vectors_length
            real(c_double), intent(inout) :: values(*)
            type(*), intent(inout), optional :: vectors(*)
            integer(c_int32_t), intent(out), optional :: found
            character(kind=c_char), intent(in), optional :: options(*)
            type(nz_report), intent(inout), optional :: report
        end function

        integer(c_int) function nz_pagerank(A, device, stream, type, teleport, teleport_length, &
                                            rank, rank_length, options, report) bind(C)
            import
            type(c_ptr), value :: A, stream
            integer(c_int), value :: device, type
            integer(c_int64_t), value :: teleport_length, rank_length
            type(*), intent(in), optional :: teleport(*)
            type(*), intent(inout) :: rank(*)
            character(kind=c_char), intent(in), optional :: options(*)
            type(nz_report), intent(inout), optional :: report
        end function
        integer(c_int) function nz_partition(A, device, stream, part, part_length, cut, &
                                             imbalance, options) bind(C)
            import
            type(c_ptr), value :: A, stream
            integer(c_int), value :: device
            integer(c_int64_t), value :: part_length
            integer(c_int32_t), intent(inout) :: part(*)
            integer(c_int64_t), intent(out), optional :: cut
            real(c_double), intent(out), optional :: imbalance
            character(kind=c_char), intent(in), optional :: options(*)
        end function
    end interface

contains

    function nz_version() result(text)
        character(:), allocatable :: text
        interface
            type(c_ptr) function address() bind(C, name="nz_version")
                import
            end function
        end interface
        text = text_at(address())
    end function
    function nz_status_name(status) result(text)
        integer(c_int), intent(in) :: status
        character(:), allocatable :: text
        interface
            type(c_ptr) function address(status) bind(C, name="nz_status_name")
                import
                integer(c_int), value :: status
            end function
        end interface
        text = text_at(address(status))
    end function
    function nz_last_error() result(text)
        character(:), allocatable :: text
        interface
            type(c_ptr) function address() bind(C, name="nz_last_error")
                import
            end function
        end interface
        text = text_at(address())
    end function

    ! A copy of a string of C's.
    function text_at(address) result(text)
        type(c_ptr), intent(in) :: address
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: length, k
        interface
            integer(c_size_t) function strlen(s) bind(C)
                import
                type(c_ptr), value :: s
            end function
        end interface
        length = int(strlen(address))
        call c_f_pointer(address, letters, [length])
        allocate (character(length) :: text)
        do k = 1, length
            text(k:k) = letters(k)
        end do
    end function

end module
