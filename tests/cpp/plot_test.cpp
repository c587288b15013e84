// plot_function in C++: the same pictures, of functions and of tensors.
#include "horngate/plot.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "error_of.h"
#include "gtest/gtest.h"
#include "horngate/horngate.h"

namespace horngate {
namespace {

using testing::error_of;

std::string contents(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

TEST(PlotFunction, AFunctionAndItsTensors) {
  clear_session();
  const Tensor x = placeholder({.shape = {None, 4}, .name = "x"});
  const Tensor y = exp(x) * 2.0 + 1.0;
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("horngate_plot_" + std::to_string(getpid()) + ".dot");
  plot_function(function({x}, {y}), path.string());
  const std::string dot = contents(path);
  std::filesystem::remove(path);
  EXPECT_EQ(dot, function_picture({x}, {y}, {}, "dot"));
  for (const char* words : {"digraph", "What runs, None as 32: 3 operations in 1 step",
                            "step 0: fused(exp, mul, add)", "exp\\nfloat32(32, 4)", "second=2."})
    EXPECT_NE(dot.find(words), std::string::npos) << words << "\n" << dot;
  const std::string before = function_picture({x}, {y}, {}, "dot", {.stage = "program"});
  EXPECT_NE(before.find("float32(None, 4)"), std::string::npos) << before;
  EXPECT_EQ(before.find("fused"), std::string::npos) << before;
}

TEST(PlotFunction, SaysWhatIsWrong) {
  clear_session();
  const Tensor x = placeholder({.shape = {2}});
  EXPECT_EQ(error_of<ValueError>([&] { plot_function(Function(), "f.dot"); }),
            "plot_function: the function is empty.");
  EXPECT_EQ(error_of<ValueError>([&] { plot_function({x}, {Tensor()}, {}, "f.dot"); }),
            "plot_function: an output is empty; perhaps it is a gradient that is None.");
  EXPECT_EQ(error_of<ValueError>([&] { (void)function_picture({x}, {x}, {}, "gif"); }),
            "plot_function: format must be \"dot\", \"svg\" or \"html\"; got \"gif\".");
}

}  // namespace
}  // namespace horngate
