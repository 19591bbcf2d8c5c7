// A x = b from Rust, by extern "C": no crate is needed.
//
//   rustc poisson.rs -l nonzero_c            (-L and -C link-arg=-Wl,-rpath,... where it is not
//   ./poisson                                 in a system folder)
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::ptr;

const NZ_OK: c_int = 0;
const NZ_DOUBLE: c_int = 2;
const NZ_INT64: c_int = 64;
const NZ_BORROW: c_int = 101;
const NZ_CPU: c_int = -1;

#[repr(C)]
struct NzReport {
    struct_size: usize,
    converged: i32,
    attempts: i32,
    iterations: i64,
    residual: f64,
    residual_norm: f64,
    setup_s: f64,
    solve_s: f64,
    status: [c_char; 32],
    method: [c_char; 32],
    preconditioner: [c_char; 32],
    product: [c_char; 64],
    why: [c_char; 256],
    advice: [c_char; 512],
}

#[rustfmt::skip]
extern "C" {
    fn nz_last_error() -> *const c_char;
    fn nz_matrix_wrap(
        kind: c_int, rows: i32, cols: i32, nnz: i64, position_type: c_int, row_ptr: *const c_void,
        col_ind: *const i32, val: *const c_void, ownership: c_int, device: c_int,
        stream: *mut c_void, a: *mut *mut c_void) -> c_int;
    fn nz_solve(
        a: *const c_void, device: c_int, stream: *mut c_void, kind: c_int, b: *const c_void,
        b_length: i64, x: *mut c_void, x_length: i64, options: *const c_char,
        report: *mut NzReport) -> c_int;
    fn nz_matrix_destroy(a: *mut c_void) -> c_int;
}

fn expect(status: c_int) -> Result<(), String> {
    if status == NZ_OK {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(nz_last_error()) }.to_string_lossy().into_owned())
}

/// A square matrix that borrows its arrays: they outlive it.
struct Matrix<'a> {
    handle: *mut c_void,
    _arrays: std::marker::PhantomData<&'a f64>,
}

impl<'a> Matrix<'a> {
    fn of(row_ptr: &'a [i64], col_ind: &'a [i32], val: &'a [f64]) -> Result<Self, String> {
        let rows = row_ptr.len() as i32 - 1;
        let mut handle = ptr::null_mut();
        expect(unsafe {
            nz_matrix_wrap(NZ_DOUBLE, rows, rows, val.len() as i64, NZ_INT64,
                           row_ptr.as_ptr().cast(), col_ind.as_ptr(), val.as_ptr().cast(),
                           NZ_BORROW, NZ_CPU, ptr::null_mut(), &mut handle)
        })?;
        Ok(Matrix { handle, _arrays: std::marker::PhantomData })
    }

    fn solve(&self, b: &[f64], x: &mut [f64], options: &str) -> Result<NzReport, String> {
        let options = CString::new(options).map_err(|e| e.to_string())?;
        let mut report: NzReport = unsafe { std::mem::zeroed() };
        report.struct_size = std::mem::size_of::<NzReport>();
        expect(unsafe {
            nz_solve(self.handle, NZ_CPU, ptr::null_mut(), NZ_DOUBLE, b.as_ptr().cast(),
                     b.len() as i64, x.as_mut_ptr().cast(), x.len() as i64, options.as_ptr(),
                     &mut report)
        })?;
        Ok(report)
    }
}

impl Drop for Matrix<'_> {
    fn drop(&mut self) {
        unsafe { nz_matrix_destroy(self.handle) };
    }
}

fn main() -> Result<(), String> {
    const SIDE: usize = 100;
    let n = SIDE * SIDE;
    let (mut row_ptr, mut col_ind, mut val) = (vec![0i64], Vec::new(), Vec::new());
    for i in 0..n {
        let mut add = |there: bool, column: usize, value: f64| {
            if there {
                col_ind.push(column as i32);
                val.push(value);
            }
        };
        add(i >= SIDE, i.wrapping_sub(SIDE), -1.0);
        add(i % SIDE > 0, i.wrapping_sub(1), -1.0);
        add(true, i, 4.0);
        add(i % SIDE < SIDE - 1, i + 1, -1.0);
        add(i < n - SIDE, i + SIDE, -1.0);
        row_ptr.push(val.len() as i64);
    }
    let (b, mut x) = (vec![1.0; n], vec![0.0; n]);
    let a = Matrix::of(&row_ptr, &col_ind, &val)?;
    let report = a.solve(&b, &mut x, "method=cg precond=amg tol=1e-10")?;
    println!("iterations {}, residual {:.1e}", report.iterations, report.residual);
    println!("x in the middle {:.3}", x[n / 2 + SIDE / 2]);
    match a.solve(&b, &mut x[1..], "") {
        Err(why) => println!("a vector too short: {why}"),
        Ok(_) => return Err("a vector too short was taken".into()),
    }
    Ok(())
}
