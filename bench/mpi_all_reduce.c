/* The bare library's all-reduce, for bench/all_reduce.py: mpi_all_reduce BYTES TIMES. Compiled by the library's own mpicc. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = atoi(argv[1]) / 4, times = atoi(argv[2]);
  float *x = malloc(count * 4u), *y = malloc(count * 4u);
  for (int i = 0; i < count; ++i) x[i] = 1, y[i] = 0;
  double best = 1e9;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < times; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const double took = MPI_Wtime() - began;
    if (took < best) best = took;
  }
  if (rank == 0) printf("{\"best\": %g}\n", best);
  MPI_Finalize();
  return 0;
}
