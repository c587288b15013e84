// Engines as plug-ins: finding, refusing, partitioning, strictness.
#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "engines/names.h"
#include "engines/registry.h"
#include "error_of.h"
#include "ir/warn.h"
#include "on_engine.h"

namespace horngate {
namespace {

using testing::error_of;

using testing::OnEngine;

TEST(Engines, NullRunsNothing) {
  const OnEngine engine("null");
  const Tensor x = placeholder({.shape = {None}});
  EXPECT_EQ(function({x}, {exp(x)})({Array::of({1.f, 2.f})})[0].to_vector<float>(),
            (std::vector<float>{0, 0}));
  EXPECT_EQ(backend(), "null");
}

TEST(Engines, AreChosenBeforeTheFirstRun) {
  setenv("HORNGATE_ENGINE_PATH", HORNGATE_TEST_ENGINE_DIR ":" HORNGATE_TEST_PLUGIN_DIR, 1);
  reset_settings();
  reset_current_engine();
  set_quiet(true);
  const Tensor x = placeholder({.shape = {2}});
  const Variable v = variable(Array::of({1.f, 2.f}));
  const Function f = function({x}, {x + v});
  set_engine("null");  // building graphs and variables does not count
  EXPECT_EQ(f({Array::of({1.f, 1.f})})[0].to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{1, 2}));
  set_engine("null");
  EXPECT_EQ(error_of([] { set_engine("native"); }),
            "set_engine: must be called before the first use of an engine; \"null\" is already in "
            "use, got \"native\".");
  reset_settings();
  reset_current_engine();
  set_quiet(true);
  const std::string wrong = error_of([&] { set_engine("abacus"); });
  EXPECT_EQ(wrong.find("set_engine: there is no engine \"abacus\". Engines here: native, "), 0u)
      << wrong;
  for (const KnownEngine& e : kKnownEngines)
    EXPECT_NE(wrong.find(e.name), std::string::npos) << wrong;
  // Nothing has changed.
  EXPECT_EQ(function({x}, {x * x})({Array::of({1.f, 3.f})})[0].to_vector<float>(),
            (std::vector<float>{1, 9}));
  reset_settings();
  reset_current_engine();
  set_quiet(true);
}

// One that cannot be opened: at once, and another can be chosen.
TEST(Engines, ThatCannotBeOpenedCannotBeChosen) {
  setenv("HORNGATE_ENGINE_PATH", HORNGATE_TEST_ENGINE_DIR ":" HORNGATE_TEST_PLUGIN_DIR, 1);
  reset_settings();
  reset_current_engine();
  set_quiet(true);
  const std::string why = error_of([] { set_engine("newer"); });
  EXPECT_EQ(why.find("engine newer: "), 0u) << why;
  EXPECT_EQ(why.find("set_engine"), std::string::npos) << why;
  EXPECT_EQ(backend(), "native");
  set_engine("null");
  EXPECT_EQ(backend(), "null");
  reset_settings();
  reset_current_engine();
  set_quiet(true);
}

TEST(Engines, TheLineComesOnceAndForEnginesThatExist) {
  setenv("HORNGATE_ENGINE_PATH", HORNGATE_TEST_ENGINE_DIR, 1);
  const auto line_of = [](const char* name) {
    const char* quiet = std::getenv("HORNGATE_QUIET");
    const std::string kept = quiet ? quiet : "";
    unsetenv("HORNGATE_QUIET");
    setenv("KERAS_BACKEND", name, 1);
    reset_settings();
    ::testing::internal::CaptureStderr();
    announce_chosen_engine();
    announce_chosen_engine();
    const std::string text = ::testing::internal::GetCapturedStderr();
    setenv("HORNGATE_QUIET", kept.c_str(), 1);
    unsetenv("KERAS_BACKEND");
    reset_settings();
    set_quiet(true);
    return text;
  };
  EXPECT_EQ(line_of("tensorflow"), "Using TensorFlow backend.\n");
  EXPECT_EQ(line_of("theano"), "Using Theano backend.\n");
  EXPECT_EQ(line_of("cntk"), "Using CNTK backend\n");
  EXPECT_EQ(line_of("onnx"), "Using onnx backend.\n");
  EXPECT_EQ(line_of("native"), "Using native backend.\n");
  EXPECT_EQ(line_of("abacus"), "");
}

TEST(Engines, AStubAndNativeShareAGraph) {
  const OnEngine engine("stub");
  std::vector<std::string> warnings;
  set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  const Tensor x = placeholder({.shape = {3}}), y = placeholder({.shape = {3}});
  const Variable v = variable(Array::of({1.f, 1.f, 1.f}));
  const Tensor z = exp(x + y) * x + sum(x * y);
  const Function f = function({x, y}, {z, x}, {update_add(v, x * y)});
  const Arrays out = f({Array::of({0.f, 1.f, 2.f}), Array::of({0.f, 1.f, -1.f})});
  const float total = 0.f + 1.f - 2.f;
  for (size_t i = 0; i < 3; ++i) {
    const float a = std::vector<float>{0, 1, 2}[i], b = std::vector<float>{0, 1, -1}[i];
    EXPECT_NEAR(out[0].to_vector<float>()[i], std::exp(a + b) * a + total, 1e-5);
  }
  EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{1, 2, -1}));
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(),
                       "engine stub: cannot run exp; that part runs on native."),
            1);
  set_warning_handler({});
}

TEST(Engines, StrictMakesItAnError) {
  const OnEngine engine("stub");
  setenv("HORNGATE_STRICT", "1", 1);
  const Tensor x = placeholder({.shape = {3}});
  EXPECT_EQ(
      error_of([&] { (void)function({x}, {exp(x)})({Array::of({0.f, 1.f, 2.f})}); }),
      "engine stub: cannot run exp and has no decomposition for it. Engines that can: native.");
  unsetenv("HORNGATE_STRICT");
}

TEST(Engines, DecomposesWhatTheEngineLacks) {
  const OnEngine engine("stub");
  const Tensor x = placeholder({.shape = {2, 3}});
  const Array out = function({x}, {softmax(x)})({Array::of<float>({1, 2, 3, 1, 1, 1}, {2, 3})})[0];
  EXPECT_NEAR(out.to_vector<float>()[0], 0.09003057f, 1e-6);
  EXPECT_NEAR(out.to_vector<float>()[5], 1.0f / 3, 1e-6);
}

TEST(Engines, LoopsRunAroundAnEngineWithoutThem) {
  const OnEngine engine("stub");
  const Tensor x = placeholder({.shape = {4, 2}});
  const Tensor y = foldl([](const Tensor& a, const Tensor& b) { return a + b; }, x) * 2.0;
  EXPECT_EQ(function({x}, {y})({Array::of<float>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2})})[0]
                .to_vector<float>(),
            (std::vector<float>{32, 40}));
}

TEST(Engines, ResultsMayLieInTheEnginesMemory) {
  using Count = int (*)();
  const OnEngine engine("giver");
  find_engine("giver");
  void* plugin = dlopen(HORNGATE_TEST_PLUGIN_DIR "/libhorngate_engine_giver.so", RTLD_NOW);
  ASSERT_NE(plugin, nullptr);
  const auto live = reinterpret_cast<Count>(dlsym(plugin, "giver_live"));
  const auto with_memory = reinterpret_cast<Count>(dlsym(plugin, "giver_with_memory"));
  {
    const Tensor x = placeholder({.shape = {None}}), y = placeholder({.shape = {None}});
    const Variable v = variable(Array::of({1.f, 2.f})), w = variable(Array::of({1.f, 2.f})),
                   u = variable(Array::of({5.f, 6.f}));
    // -x is two outputs, the new value of two variables, and goes on to native; -u stays with the engine.
    const Tensor n = -x;
    const Function f =
        function({x, y}, {n, n, exp(n), -y}, {update(v, n), update(w, n), update(u, -Tensor(u))});
    for (int round = 1; round <= 2; ++round) {
      const Arrays out = f({Array::of({0.f, -1.f}), Array::of({3.f})});
      EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{0, 1}));
      EXPECT_EQ(out[1].to_vector<float>(), (std::vector<float>{0, 1}));
      EXPECT_NEAR(out[2].to_vector<float>()[1], std::exp(1.f), 1e-6);
      EXPECT_EQ(out[3].to_vector<float>(), (std::vector<float>{-3}));
      out[0].data<float>()[0] = 77;  // the caller's own
      EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{0, 1}));
      EXPECT_EQ(get_value(w).to_vector<float>(), (std::vector<float>{0, 1}));
      const float sign = round == 1 ? -1.f : 1.f;
      EXPECT_EQ(get_value(u).to_vector<float>(), (std::vector<float>{sign * 5, sign * 6}));
    }
    EXPECT_GT(live(), 0);  // the value of u
    const Arrays none = function({x}, {-x})({Array(DType::float32, {0})});
    EXPECT_EQ(none[0].size(), 0);
  }
  EXPECT_EQ(live(), 0);
  EXPECT_EQ(with_memory(), 0);
}

TEST(Engines, WrongOnesAreRefusedWithAReason) {
  setenv("HORNGATE_ENGINE_PATH", HORNGATE_TEST_ENGINE_DIR ":" HORNGATE_TEST_PLUGIN_DIR, 1);
  const std::string newer = error_of([] { (void)find_engine("newer"); });
  EXPECT_NE(newer.find("engine newer: "), std::string::npos) << newer;
  EXPECT_NE(newer.find("has interface version 3; this library has 2."), std::string::npos) << newer;
  EXPECT_EQ(find_engine("short").api->alloc, nullptr);
  const std::string missing = error_of([] { (void)find_engine("abacus", "KERAS_BACKEND"); });
  EXPECT_NE(
      missing.find("there is no engine \"abacus\" (from KERAS_BACKEND). Engines here: native, "),
      std::string::npos)
      << missing;
  setenv("HORNGATE_THEANO", "/nowhere", 1);
  const std::string known =
      error_of([] { (void)find_engine("theano", "/home/me/.keras/keras.json"); });
  EXPECT_NE(known.find("(from /home/me/.keras/keras.json)"), std::string::npos) << known;
  EXPECT_NE(known.find("KERAS_BACKEND=native"), std::string::npos) << known;
  unsetenv("HORNGATE_THEANO");
}

/// One engine, built with an interface whose structs end earlier than ours, with ours, and with one whose structs have
/// more members.
TEST(Engines, TheInterfaceMayGrow) {
  for (const char* name : {"stub_older", "stub", "stub_newer"}) {
    const OnEngine engine(name);
    const hg_engine_api& api = *find_engine(name).api;
    const bool is_older = name == std::string("stub_older");
    EXPECT_EQ(HG_HAS(&api, executable_bytes), !is_older) << name;
    EXPECT_EQ(api.size > sizeof api, name == std::string("stub_newer")) << name;
    const Tensor x = placeholder({.shape = {None}});
    const Variable v = variable(Array::of({1.f, 2.f, 3.f}));
    const Function f = function({x}, {-(x * v) + x, exp(x * 0.0)}, {update_add(v, x * x)});
    for (int i = 0; i < 2; ++i) {
      const Arrays y = f({Array::of({1.f, 2.f, 3.f})});
      const float k = static_cast<float>(i);
      EXPECT_EQ(y[0].to_vector<float>(), (std::vector<float>{-k, -2 - 8 * k, -6 - 27 * k})) << name;
      EXPECT_EQ(y[1].to_vector<float>(), (std::vector<float>{1, 1, 1})) << name;
    }
    EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{3, 10, 21})) << name;
  }
}

TEST(Engines, OptionsAndThreadsArrive) {
  setenv("HORNGATE_ENGINE_OPTIONS", "options.size=2,options.color=light blue,onnx.optimization=off",
         1);
  setenv("HORNGATE_NUM_THREADS", "3", 1);
  {
    const OnEngine engine("options");
    void* plugin = dlopen(HORNGATE_TEST_PLUGIN_DIR "/libhorngate_engine_options.so", RTLD_NOW);
    const auto seen = reinterpret_cast<const char* (*)()>(dlsym(plugin, "options_seen"));
    EXPECT_STREQ(seen(), "threads=3 color=light blue size=2");
  }
  unsetenv("HORNGATE_NUM_THREADS");
  setenv("HORNGATE_ENGINE_OPTIONS", "native.speed=9", 1);
  reset_settings();
  EXPECT_EQ(error_of([] { (void)read_settings(); }),
            "engine_options: engine native takes no options.");
  setenv("HORNGATE_ENGINE_OPTIONS", "size=2", 1);
  EXPECT_EQ(
      error_of([] { (void)read_settings(); }),
      "HORNGATE_ENGINE_OPTIONS: must be a list like onnx.optimization=basic,tensorflow.xla=1; "
      "got \"size=2\".");
  unsetenv("HORNGATE_ENGINE_OPTIONS");
  reset_settings();
}

TEST(Engines, ATruncatedPluginIsAnError) {
  const std::string folder = ::testing::TempDir() + "engines_" + std::to_string(getpid());
  ASSERT_EQ(std::system(("mkdir -p " + folder).c_str()), 0);
  std::ofstream(folder + "/libhorngate_engine_torn.so") << "\x7f"
                                                           "ELF but no more";
  setenv("HORNGATE_ENGINE_PATH", folder.c_str(), 1);
  const std::string text = error_of([] { (void)find_engine("torn"); });
  EXPECT_NE(text.find("engine torn: the plug-in could not be loaded: "), std::string::npos) << text;
  setenv("HORNGATE_ENGINE_PATH", HORNGATE_TEST_ENGINE_DIR, 1);
}

}  // namespace
}  // namespace horngate
