// Stand-in for libmpi_cxx.so.1: three methods that CNTK names but never calls, under their mangled names.
#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void _ZN3MPI4CommC2Ev() {}
EXPORT void _ZN3MPI3Win4FreeEv() {}
EXPORT void _ZN3MPI8Datatype4FreeEv() {}
