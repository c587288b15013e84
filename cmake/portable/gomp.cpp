// The functions of GNU OpenMP that oneDNN calls, for one thread: we cut the work ourselves and ask oneDNN for no more.
// So a wheel needs no OpenMP, and never meets that of another package.
extern "C" {

void GOMP_barrier() {}
// The calling thread does its share, which is all, between these two.
void GOMP_parallel_start(void (*)(void*), void*, unsigned) {}
void GOMP_parallel_end() {}

bool GOMP_loop_static_start(long start, long end, long step, long, long* from, long* to) {
  *from = start;
  *to = end;
  return step > 0 ? start < end : start > end;
}
bool GOMP_loop_static_next(long*, long*) { return false; }
void GOMP_loop_end_nowait() {}

int omp_get_max_threads() { return 1; }
int omp_get_num_threads() { return 1; }
int omp_get_thread_num() { return 0; }
int omp_in_parallel() { return 0; }
void omp_set_num_threads(int) {}

}  // extern "C"
