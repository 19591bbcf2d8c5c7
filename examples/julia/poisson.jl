# A x = b from Julia, by ccall. Untested: no Julia was at hand; the calls follow nonzero.h.
#
#   LD_LIBRARY_PATH=... julia poisson.jl
using SparseArrays, LinearAlgebra

const lib = "libnonzero_c.so.1"
const NZ_OK, NZ_DOUBLE, NZ_INT64, NZ_COPY, NZ_CPU = Cint.((0, 2, 64, 102, -1))
const NZ_PLAIN = Cint(201)

function expect(status::Cint)
    status == NZ_OK && return
    name = unsafe_string(ccall((:nz_status_name, lib), Cstring, (Cint,), status))
    error(name, ": ", unsafe_string(ccall((:nz_last_error, lib), Cstring, ())))
end

# Julia's matrices lie by columns: the rows of A are the columns of its transpose.
function nz_matrix(A::SparseMatrixCSC{Float64})
    T = sparse(transpose(A))
    row_ptr, col_ind = Int64.(T.colptr .- 1), Int32.(T.rowval .- 1)
    handle = Ref{Ptr{Cvoid}}(C_NULL)
    expect(ccall((:nz_matrix_wrap, lib), Cint,
                 (Cint, Int32, Int32, Int64, Cint, Ptr{Int64}, Ptr{Int32}, Ptr{Float64}, Cint, Cint,
                  Ptr{Cvoid}, Ref{Ptr{Cvoid}}),
                 NZ_DOUBLE, size(A, 1), size(A, 2), nnz(A), NZ_INT64, row_ptr, col_ind, T.nzval,
                 NZ_COPY, NZ_CPU, C_NULL, handle))
    return handle[]
end

function nz_solve(A::Ptr{Cvoid}, b::Vector{Float64}; options = "")
    x = zeros(length(b))
    expect(ccall((:nz_solve, lib), Cint,
                 (Ptr{Cvoid}, Cint, Ptr{Cvoid}, Cint, Ptr{Float64}, Int64, Ptr{Float64}, Int64,
                  Cstring, Ptr{Cvoid}),
                 A, NZ_CPU, C_NULL, NZ_DOUBLE, b, length(b), x, length(x), options, C_NULL))
    return x
end

function nz_multiply(A::Ptr{Cvoid}, rows::Integer, x::Vector{Float64})
    op, y = Ref{Ptr{Cvoid}}(C_NULL), zeros(rows)
    expect(ccall((:nz_plan, lib), Cint, (Ptr{Cvoid}, Cint, Ptr{Cvoid}, Cstring, Ref{Ptr{Cvoid}}),
                 A, NZ_CPU, C_NULL, "", op))
    expect(ccall((:nz_apply, lib), Cint,
                 (Ptr{Cvoid}, Cint, Cint, Ref{Float64}, Ptr{Float64}, Int64, Ref{Float64},
                  Ptr{Float64}, Int64),
                 op[], NZ_PLAIN, NZ_DOUBLE, 1.0, x, length(x), 0.0, y, rows))
    expect(ccall((:nz_operator_destroy, lib), Cint, (Ptr{Cvoid},), op[]))
    return y
end

side = 100
D = spdiagm(-1 => fill(-1.0, side - 1), 0 => fill(2.0, side), 1 => fill(-1.0, side - 1))
A = kron(D, sparse(1.0I, side, side)) + kron(sparse(1.0I, side, side), D)
b = ones(side^2)
handle = nz_matrix(A)
x = nz_solve(handle, b; options = "method=cg precond=amg tol=1e-10")
@assert norm(b - A * x) <= 1.1e-10 * norm(b)
@assert nz_multiply(handle, side^2, x) ≈ A * x
expect(ccall((:nz_matrix_destroy, lib), Cint, (Ptr{Cvoid},), handle))
println("x in the middle ", round(x[side^2 ÷ 2 + side ÷ 2 + 1]; digits = 3))
