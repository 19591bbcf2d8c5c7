#!/usr/bin/env bash
# Run by scripts/deb-check on a bare root, as root, beside the packages: installs, runs and removes
# them. The line that begins with "failed: " says what went wrong.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR

fail() {
    echo "failed: $1"
    exit 1
}
# expect WHAT EXPECTED SAID
expect() { [[ $3 == "$2" ]] || fail "$1 is '$3', expected '$2'"; }
install() { DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"; }

main=$(echo ./nonzero_*.deb)
version=$(dpkg-deb --field "$main" Version)
if dpkg-deb --field "$main" Depends | grep -E 'mpi|petsc|metis|matio'; then
    fail "the package depends on what nz opens at need only"
fi
install "$main"
mapfile -t files < <(dpkg --listfiles nonzero)

expect "the version" "nz $version" "$(nz --version)"

# The Laplacian of a 10 by 10 grid: 100 fours, 360 minus ones.
nz generate laplace2d --nx 10 --ny 10 -o A.mtx
nz info A.mtx | grep -x 'size  *100 x 100, 460 nonzeros'
sum=$(nz spmv A.mtx -o - | awk 'NR > 2 { s += $1 } END { print s }')
expect "the sum of A times ones" 40 "$sum"
nz solve A.mtx | grep -E '^converged +yes'
nz bench A.mtx --seconds 0.01 | grep -E '^[a-z_]+\.[a-z0-9_]+ \* '
printf '# who follows whom\nanna\tbert\nbert\tcarl\ncarl\tanna\ndora\tanna\n' >edges.tsv
nz pagerank edges.tsv | grep -E '^ +1  anna '
nz report edges.tsv -o report.html --seconds 0.01
expect "the report's end" "</html>" "$(tail -n 1 report.html)"

# Programs in C and in Fortran need a compiler and what the package brings, and no header of C++.
install gcc gfortran libc6-dev pkg-config
flags=$(pkg-config --cflags --libs nonzero_c)
said=$'iterations 14, residual 2.7e-11\nx in the middle 751.338'
# shellcheck disable=SC2086 # several words
gcc -std=c99 poisson.c $flags -o poisson
expect "what the program in C says" "$said" "$(./poisson)"
# shellcheck disable=SC2086
gfortran /usr/include/nonzero.f90 poisson.f90 $flags -o poisson
expect "what the program in Fortran says" "${said/ 2.7e/  2.7E}" "$(./poisson)"

if amgx=$(compgen -G './nonzero-amgx_*.deb'); then
    install "$amgx"
    gcc amgx.c -lamgxsh -o amgx_program
    ./amgx_program || fail "the program of docs/amgx.md finds another solution"
fi

# Every subcommand that the command lists has its page, and is completed.
mapfile -t subcommands < <(nz --help | sed -n '/^Subcommands/,$s/^  \([a-z]\+\) .*/\1/p')
((${#subcommands[@]} > 10)) || fail "nz --help lists ${#subcommands[@]} subcommands"
for name in '' "${subcommands[@]/#/-}"; do
    page=/usr/share/man/man1/nz$name.1
    grep -q '^\.SH SYNOPSIS' "$page" || fail "$page is no manual page"
done
others=(zsh fish)
mpi=$(compgen -G './nonzero-mpi_*.deb') && others+=("$mpi" openmpi-bin)
install "${others[@]}"
not_among() { comm -23 <(printf '%s\n' "${subcommands[@]}" | sort) <(sort -u) | xargs; }
expect "what bash does not complete" "" "$(bash -c '. /usr/share/bash-completion/completions/nz
    COMP_WORDS=(nz ""); COMP_CWORD=1; _nz; printf "%s\n" "${COMPREPLY[@]}"' | not_among)"
expect "what fish does not complete" "" \
    "$(fish --command 'complete --do-complete "nz "' | cut -f 1 | not_among)"
expect "what zsh completes nz by" _nz \
    "$(zsh -f -c 'autoload -Uz compinit; compinit -u -D; autoload +X _nz; echo ${_comps[nz]}')"

if [[ -n $mpi ]]; then
    ranks=$(mpirun --allow-run-as-root --oversubscribe -n 2 nz spmv A.mtx --json -)
    [[ $ranks == *'"where": "2 processes of '* ]] || fail "two ranks say $ranks"
fi

apt-get remove --yes nonzero  # and what depends on it
for file in "${files[@]}"; do
    [[ -d $file || ! -e $file ]] || fail "$file is left after apt-get remove"
done
expect "what is left of nz" "" "$(find / -xdev -name '*nonzero*' \
    -not -path '/root/*' -not -path '/var/lib/dpkg/*')"
echo "nonzero $version was installed, run and removed on a bare root"
