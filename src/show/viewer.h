// What is on every page: style and frame, and the program that lays graphs out and draws them.
#pragma once

namespace horngate {

extern const char* const kViewerHead;
extern const char* const kViewerProgram;

}  // namespace horngate
