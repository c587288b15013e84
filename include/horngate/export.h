// HORNGATE_API marks what libhorngate.so exports; everything else stays hidden.
#pragma once

#if defined(__GNUC__)
#define HORNGATE_API __attribute__((visibility("default")))
#else
#define HORNGATE_API
#endif
