// The picture of a model: what Graphviz gets, and what it makes of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "horngate/keras.h"

namespace K = horngate;
namespace keras = horngate::keras;

namespace {

std::string file_of(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string();
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

/// Two inputs that one layer sees, and names that mean something to Graphviz.
keras::Model twins() {
  const auto a = keras::Input({.shape = {4}, .name = "left"}), b = keras::Input({.shape = {4}});
  const auto shared = keras::Dense(3, {.name = "a|b {\"<c>\\"});
  return keras::Model({a, b}, keras::Add()({shared(a), shared(b)}));
}

TEST(Plot, DotHasEveryLayerAndEdge) {
  const std::string dot = twins().to_dot();
  EXPECT_EQ(count(dot, "[label="), 4u) << dot;
  EXPECT_EQ(count(dot, " -> "), 4u) << dot;
  EXPECT_NE(dot.find(R"(label="a\|b \{\"\<c\>\\: Dense")"), std::string::npos) << dot;
  EXPECT_NE(dot.find("label=\"left: InputLayer\""), std::string::npos) << dot;
  const std::string wide =
      twins().to_dot({.show_shapes = true, .show_layer_names = false, .rankdir = "LR"});
  EXPECT_NE(wide.find("rankdir=\"LR\""), std::string::npos);
  EXPECT_NE(wide.find("label=\"Dense|{input:|output:}|{{(None, 4)}|{(None, 3)}}\""),
            std::string::npos)
      << wide;
  EXPECT_NE(wide.find("{{[(None, 3), (None, 3)]}|{(None, 3)}}"), std::string::npos) << wide;
}

TEST(Plot, FilesAreDotOrPictures) {
  const std::string dot = file_of("net.dot"), svg = file_of("net.svg");
  const keras::Model net = twins();
  keras::plot_model(net, dot);
  EXPECT_EQ(read(dot), net.to_dot());
  std::filesystem::remove(dot);
  EXPECT_THROW(keras::plot_model(net, file_of("net.txt")), K::ValueError);
  if (std::system("dot -V > /dev/null 2>&1") != 0) {
    // Without Graphviz the error says so, and nothing is left behind.
    try {
      keras::plot_model(net, svg);
      FAIL() << "there is no dot, and no error";
    } catch (const K::RuntimeError& e) {
      EXPECT_NE(std::string(e.what()).find("Graphviz"), std::string::npos) << e.what();
    }
    EXPECT_FALSE(std::filesystem::exists(svg));
    return;
  }
  keras::plot_model(net, svg, {.show_shapes = true});
  const std::string picture = read(svg);
  EXPECT_NE(picture.find("<svg"), std::string::npos);
  EXPECT_NE(picture.find("(None, 3)"), std::string::npos);
  std::filesystem::remove(svg);
}

}  // namespace
