/* One all_reduce as SimGrid's SMPI sees it: simulate_scale ALGORITHM BYTES WINDOW. Data is not computed, only sent, from one
 * buffer that all ranks share. bench/simulate_scale.py compiles and runs this. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[1 << 25];
static const double add_rate = 5e9; /* bytes that a rank adds up in a second */

static void add_up(double bytes) { usleep((useconds_t)(bytes / add_rate * 1e6)); }

/* Each rank sends a piece to each other one, `window` of them at a time. */
static void exchange(int me, int n, int bytes, int window) {
  MPI_Request* open = malloc(sizeof(MPI_Request) * 2 * (size_t)window);
  for (int begin = 1; begin < n; begin += window) {
    const int end = begin + window < n ? begin + window : n;
    int count = 0;
    for (int k = begin; k < end; ++k)
      MPI_Irecv(buffer, bytes, MPI_BYTE, (me - k + n) % n, 1, MPI_COMM_WORLD, &open[count++]);
    for (int k = begin; k < end; ++k)
      MPI_Isend(buffer, bytes, MPI_BYTE, (me + k) % n, 1, MPI_COMM_WORLD, &open[count++]);
    MPI_Waitall(count, open, MPI_STATUSES_IGNORE);
  }
  free(open);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const char* algorithm = argv[1];
  const int bytes = atoi(argv[2]), window = atoi(argv[3]), piece = (bytes + n - 1) / n;
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  if (!strcmp(algorithm, "ordered")) { /* as src/comm/collectives.cpp does it */
    exchange(me, n, piece, window);
    add_up(bytes);
    exchange(me, n, piece, window);
  } else if (!strcmp(algorithm, "ring")) {
    for (int round = 0; round < 2 * (n - 1); ++round) {
      MPI_Sendrecv(buffer, piece, MPI_BYTE, (me + 1) % n, 1, buffer, piece, MPI_BYTE, (me - 1 + n) % n, 1,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (round < n - 1) add_up(piece);
    }
  } else { /* the library's own */
    MPI_Allreduce(buffer, buffer + sizeof buffer / 2, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    add_up(bytes);
  }
  const double took = MPI_Wtime() - began;
  double most;
  MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (me == 0) printf("seconds %.9f\n", most);
  MPI_Finalize();
  return 0;
}
