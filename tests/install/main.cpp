// Compiles against the installed headers and links the installed library.
#include <horngate/horngate.h>

int main() { return 0; }
