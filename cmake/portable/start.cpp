// The start of a program: since glibc 2.34, what is linked into one leaves constructors to the C library, but older ones
// leave them to it. Linked with --wrap=__libc_start_main.
using Main = int(int, char**, char**);
using Init = void(int, char**, char**);

extern "C" {

extern Init* __preinit_array_start[] __attribute__((visibility("hidden")));
extern Init* __preinit_array_end[] __attribute__((visibility("hidden")));
extern Init* __init_array_start[] __attribute__((visibility("hidden")));
extern Init* __init_array_end[] __attribute__((visibility("hidden")));

static void run_constructors(int argc, char** argv, char** environment) {
  for (Init** f = __preinit_array_start; f != __preinit_array_end; ++f)
    (*f)(argc, argv, environment);
  for (Init** f = __init_array_start; f != __init_array_end; ++f) (*f)(argc, argv, environment);
}

int __real___libc_start_main(Main*, int, char**, Init*, void (*)(), void (*)(), void*);
int __wrap___libc_start_main(Main* main, int argc, char** argv, Init*, void (*)(), void (*unload)(),
                             void* stack) {
  return __real___libc_start_main(main, argc, argv, run_constructors, nullptr, unload, stack);
}

}  // extern "C"
