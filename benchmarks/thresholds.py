"""What the speed gates ask for: ratios of two things measured interleaved in one process, and why so much.

Measured on two-core virtual machines of two kinds (Zen 3, Sapphire Rapids). A gate stands at roughly two thirds of
what is measured there on the generated texts, so that it fails when a kernel is lost or broken, not when a
neighbour is noisy. Figures against other packages, which need not be installed, are in docs/performance.md.
"""

# Our best kernel against the plain one-lane twin of the same build (FSST_FORCE_ISA=plain).
COMPRESS_OVER_PLAIN = 1.4  # measured 2.0 to 3.1: seven lanes against one; tables of many layers gain least
DECOMPRESS_OVER_PLAIN = 1.8  # measured 2.9 to 5.7 with AVX-512, 2.4 to 4.1 with AVX2; text and offsets

# Decompressing against pyarrow's own copy of the plain array (pa.concat_arrays of two halves), which reads more
# bytes than we do but computes nothing: memory bandwidth is the ceiling.
DECOMPRESS_OVER_COPY = 0.15  # measured 0.28 to 0.69

# Compressing with a table given against zstd level 1 of the same bytes (pyarrow's codec).
COMPRESS_OVER_ZSTD = 0.7  # measured 1.04 (UUIDs) to 3.0 (names)

# fsst.decompress against its kernels (measure, decode, UTF-8 check) called directly: the limit is 10 %.
DECOMPRESS_OVER_KERNEL = 1 / 1.1

# Microseconds that fsst.compress and fsst.decompress spend on a column of 1000 short strings outside kernels.
SMALL_COLUMN_MICROSECONDS = 30

# One-column Parquet files with FSST pages against pyarrow's with zstd, CPU time. Taking 1000 spread rows of 8 million
# (and 250 of 2 million) goes through the page index, memory-mapped; zstd's row groups are read whole.
WRITE_PARQUET_OVER_ZSTD = 1.0  # measured 1.3 to 1.5, 8 million rows as well
READ_PARQUET_OVER_ZSTD = 1.4  # measured 2.6 to 3.4 on a free core; 0.9 to 2.6 beside another test run
TAKE_PARQUET_OVER_ZSTD = 15  # measured 24 to 56
