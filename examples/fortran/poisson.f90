! Poisson's equation on a square: A x = b by multigrid and conjugate gradients, then one product to
! see how far A x is from b.
!
!   gfortran -o poisson $(pkg-config --cflags-only-I nonzero_c | sed s/-I//)/nonzero.f90 \
!       poisson.f90 $(pkg-config --libs nonzero_c)
program poisson
    use nonzero
    implicit none
    integer(c_int32_t), parameter :: side = 100, n = side * side
    integer(c_int64_t), parameter :: length = n
    integer(c_int32_t) :: row_ptr(n + 1), col_ind(5 * n), k, i
    real(c_double) :: val(5 * n), b(n), x(n), y(n)
    type(c_ptr) :: A, op
    type(nz_report) :: report

    ! Rows and columns count from 0; the i-th point has neighbours to the left and right of it, and
    ! a row of points before and behind.
    k = 0
    do i = 0, n - 1
        row_ptr(i + 1) = k
        if (i >= side) call add(i - side, -1d0)
        if (mod(i, side) > 0) call add(i - 1, -1d0)
        call add(i, 4d0)
        if (mod(i, side) < side - 1) call add(i + 1, -1d0)
        if (i < n - side) call add(i + side, -1d0)
    end do
    row_ptr(n + 1) = k
    b = 1
    x = 0

    call expect(nz_matrix_wrap(NZ_DOUBLE, n, n, int(k, c_int64_t), NZ_INT32, row_ptr, col_ind, &
                               val, NZ_BORROW, NZ_CPU, c_null_ptr, A))
    call expect(nz_solve(A, NZ_CPU, c_null_ptr, NZ_DOUBLE, b, length, x, length, &
                         "method=cg precond=amg tol=1e-10" // c_null_char, report))
    print '(a, i0, a, es8.1)', "iterations ", report%iterations, ", residual ", report%residual

    call expect(nz_plan(A, NZ_CPU, c_null_ptr, op=op))
    y = b
    call expect(nz_apply(op, NZ_PLAIN, NZ_DOUBLE, -1d0, x, length, 1d0, y, length))
    if (norm2(y) > 1.1d-10 * norm2(b)) error stop "A x is far from b"
    print '(a, f0.3)', "x in the middle ", x(n / 2 + side / 2)

    call expect(nz_operator_destroy(op))
    call expect(nz_matrix_destroy(A))

contains

    subroutine add(column, value)
        integer(c_int32_t), intent(in) :: column
        real(c_double), intent(in) :: value
        k = k + 1
        col_ind(k) = column
        val(k) = value
    end subroutine

    subroutine expect(status)
        integer(c_int), intent(in) :: status
        if (status == NZ_OK) return
        print '(a)', nz_status_name(status) // ": " // nz_last_error()
        error stop 1
    end subroutine

end program
