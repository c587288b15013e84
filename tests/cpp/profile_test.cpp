// Profiles: a bar per step with the user's words and the right amount of work, nested where steps are, and files
// that cannot be written.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "horngate/horngate.h"

namespace K = horngate;

namespace {

class ProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "profile_" + test->name() + ".json";
  }
  void TearDown() override {
    K::profile_stop();
    std::filesystem::remove(path_);
  }
  nlohmann::json bars() const {
    std::ifstream file(path_);
    return nlohmann::json::parse(file).at("traceEvents");
  }
  nlohmann::json bar(const std::string& name) const {
    for (const auto& b : bars())
      if (b["name"] == name) return b;
    ADD_FAILURE() << "no bar \"" << name << "\"";
    return {};
  }
  std::string path_;
};

TEST_F(ProfileTest, BarsHaveTheUsersWordsAndTheWork) {
  const K::Tensor x = K::placeholder({.shape = {8, 32}});
  const K::Variable w = K::variable(K::Array::full(K::DType::float32, {32, 16}, 1.0));
  const K::Function f = K::function({x}, {K::relu(K::dot(x, w))});
  K::profile_start(path_);
  (void)f({K::Array::full(K::DType::float32, {8, 32}, 1.0)});
  K::profile_stop();
  (void)f({K::Array::full(K::DType::float32, {8, 32}, 1.0)});  // not noted
  const auto dot = bar("dot: dot_general");
  EXPECT_EQ(dot["args"]["flops"], 2 * 8 * 32 * 16);
  EXPECT_EQ(dot["args"]["bytes"], 4 * (8 * 32 + 32 * 16 + 8 * 16));
  const auto run = bar("native"), plan = bar("plan");
  EXPECT_GE(dot["ts"].get<double>(), run["ts"].get<double>());
  EXPECT_LE(dot["ts"].get<double>() + dot["dur"].get<double>(),
            run["ts"].get<double>() + run["dur"].get<double>() + 0.01);
  EXPECT_LE(plan["ts"].get<double>(), run["ts"].get<double>());
  size_t runs = 0;
  for (const auto& b : bars()) runs += b["name"] == "native";
  EXPECT_EQ(runs, 1u);
}

TEST_F(ProfileTest, ConvolutionsCountTheirGradientsToo) {
  const K::Tensor x = K::placeholder({.shape = {2, 6, 6, 3}});
  const K::Variable k = K::variable(K::Array::full(K::DType::float32, {3, 3, 3, 5}, 0.5));
  const K::Tensor y = K::conv2d(x, k);
  const K::Tensors g = K::gradients(K::sum(K::square(y)), {x, k});
  const K::Function f = K::function({x}, {g[0], g[1]});
  K::profile_start(path_);
  (void)f({K::Array::full(K::DType::float32, {2, 6, 6, 3}, 1.0)});
  K::profile_stop();
  const double flops = 2.0 * (2 * 4 * 4 * 5) * (3 * 3 * 3);
  for (const char* name : {"conv2d: conv", "conv2d: conv_input_grad", "conv2d: conv_filter_grad"})
    EXPECT_EQ(bar(name)["args"]["flops"], flops) << name;
}

TEST_F(ProfileTest, StepsOfALoopAreInsideOfIt) {
  const K::Tensor x = K::placeholder({.shape = {5, 4}});
  const K::Variable w = K::variable(K::Array::full(K::DType::float32, {4, 4}, 0.1));
  const K::Tensor last = K::foldl(
      [&](const K::Tensor& h, const K::Tensor& e) {
        return K::reshape(K::tanh(K::dot(K::reshape(h + e, {1, 4}), w)), {4});
      },
      x);
  const K::Function f = K::function({x}, {last});
  K::profile_start(path_);
  (void)f({K::Array::full(K::DType::float32, {5, 4}, 1.0)});
  K::profile_stop();
  size_t products = 0;
  for (const auto& b : bars()) products += b["name"] == "dot: dot_general";
  EXPECT_EQ(products, 4u);
}

TEST_F(ProfileTest, ManyThreadsShareOneTrace) {
  const K::Tensor x = K::placeholder({.shape = {4}});
  const K::Function f = K::function({x}, {K::exp(x)});
  K::profile_start(path_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) (void)f({K::Array::full(K::DType::float32, {4}, 1.0)});
    });
  for (std::thread& t : threads) t.join();
  K::profile_stop();
  std::map<int, int> runs;
  for (const auto& b : bars())
    if (b["name"] == "native") ++runs[b["tid"]];
  ASSERT_EQ(runs.size(), 4u);
  for (const auto& [thread, n] : runs) EXPECT_EQ(n, 50);
}

TEST_F(ProfileTest, AFileThatCannotBeWrittenIsSaid) {
  try {
    K::profile_start("/nowhere/at/all/trace.json");
    FAIL();
  } catch (const K::RuntimeError& e) {
    EXPECT_STREQ(
        e.what(),
        "profile_start: cannot write \"/nowhere/at/all/trace.json\": No such file or directory.");
  }
}

}  // namespace
