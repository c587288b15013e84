// Settings: defaults, keras.json, KERAS_BACKEND, error texts, the engine line.
#include "horngate/config.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "engines/names.h"
#include "error_of.h"

namespace horngate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariables[] = {"KERAS_HOME",
                                      "HOME",
                                      "KERAS_BACKEND",
                                      "HORNGATE_QUIET",
                                      "HORNGATE_NO_CONFIG_WRITE",
                                      "TMPDIR",
                                      "HORNGATE_ENGINE_OPTIONS"};

// A home folder of its own, and the environment put back afterwards.
class Config : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kVariables) {
      const char* value = std::getenv(name);
      saved_.push_back(value ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
    std::string pattern = (fs::temp_directory_path() / "horngate_config_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
    setenv("HOME", home_.c_str(), 1);
    reset_settings();
  }

  void TearDown() override {
    fs::remove_all(home_);
    for (size_t i = 0; i < saved_.size(); ++i)
      saved_[i] ? setenv(kVariables[i], saved_[i]->c_str(), 1) : unsetenv(kVariables[i]);
    reset_settings();
  }

  fs::path file() const { return home_ / ".keras" / "keras.json"; }

  void write(const std::string& text) const {
    fs::create_directories(file().parent_path());
    std::ofstream(file()) << text;
  }

  std::string contents() const {
    std::ostringstream out;
    out << std::ifstream(file()).rdbuf();
    return out.str();
  }

  // The ValueError of reading, with the path shortened to "FILE"; "" if there is none.
  std::string error() const {
    try {
      (void)read_settings();
    } catch (const ValueError& e) {
      std::string text = e.what();
      if (const size_t at = text.find(file().string()); at != std::string::npos)
        text.replace(at, file().string().size(), "FILE");
      return text;
    }
    return "";
  }

  fs::path home_;
  std::vector<std::optional<std::string>> saved_;
};

using testing::error_of;

TEST_F(Config, DefaultsWithoutFile) {
  EXPECT_EQ(floatx(), DType::float32);
  EXPECT_EQ(epsilon(), 1e-7);
  EXPECT_EQ(image_data_format(), DataFormat::channels_last);
  EXPECT_EQ(backend(), "native");
  EXPECT_EQ(engine_choice().source, "default");
}

TEST_F(Config, WritesDefaults) {
  (void)floatx();
  EXPECT_EQ(contents(),
            "{\n    \"image_data_format\": \"channels_last\",\n    \"epsilon\": 1e-07,\n"
            "    \"floatx\": \"float32\",\n    \"backend\": \"horngate\"\n}\n");
  // Nothing else is left behind, and what was written reads back.
  EXPECT_EQ(std::distance(fs::directory_iterator(file().parent_path()), fs::directory_iterator()),
            1);
  Settings expected;
  expected.engine.source = file().string();
  EXPECT_EQ(read_settings(), expected);
}

TEST_F(Config, WritesNothingWhenAskedNotTo) {
  setenv("HORNGATE_NO_CONFIG_WRITE", "1", 1);
  EXPECT_EQ(read_settings(), Settings());
  EXPECT_FALSE(fs::exists(file().parent_path()));
}

TEST_F(Config, ReadsEveryField) {
  write(R"({"image_data_format": "channels_first", "epsilon": 1e-3, "floatx": "float64",
            "backend": "theano", "iamge_data_format": 7, "unknown": [1, {"floatx": "no"}]})");
  EXPECT_EQ(floatx(), DType::float64);
  EXPECT_EQ(epsilon(), 1e-3);
  EXPECT_EQ(image_data_format(), DataFormat::channels_first);
  EXPECT_EQ(engine_choice(), (EngineChoice{"theano", file().string()}));
}

TEST_F(Config, MissingFieldsKeepDefaults) {
  write("{}");
  EXPECT_EQ(read_settings(), Settings());
}

TEST_F(Config, OldDimOrdering) {
  write(R"({"image_dim_ordering": "th"})");
  EXPECT_EQ(read_settings().image_data_format, DataFormat::channels_first);
  write(R"({"image_dim_ordering": "tf"})");
  EXPECT_EQ(read_settings().image_data_format, DataFormat::channels_last);
  write(R"({"image_dim_ordering": "th", "image_data_format": "channels_last"})");
  EXPECT_EQ(read_settings().image_data_format, DataFormat::channels_last);
}

TEST_F(Config, KerasHome) {
  EXPECT_EQ(keras_home(), (home_ / ".keras").string());
  const fs::path other = home_ / "a" / "b";
  setenv("KERAS_HOME", other.c_str(), 1);
  EXPECT_EQ(keras_home(), other.string());
  (void)read_settings();
  EXPECT_TRUE(fs::exists(other / "keras.json"));
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(Config, UnwritableHomeFallsBack) {
  setenv("HOME", (home_ / "missing").c_str(), 1);
  setenv("TMPDIR", home_.c_str(), 1);
  EXPECT_EQ(keras_home(), (home_ / ".keras").string());
  setenv("KERAS_HOME", "/proc/no/such/folder",
         1);  // cannot be made: the defaults hold all the same
  EXPECT_EQ(read_settings(), Settings());
}

TEST_F(Config, KerasBackendBeatsFile) {
  write(R"({"backend": "theano"})");
  setenv("KERAS_BACKEND", "cntk", 1);
  EXPECT_EQ(read_settings().engine, (EngineChoice{"cntk", "KERAS_BACKEND"}));
  setenv("KERAS_BACKEND", "horngate.tensorflow", 1);
  EXPECT_EQ(read_settings().engine, (EngineChoice{"tensorflow", "KERAS_BACKEND"}));
  setenv("KERAS_BACKEND", "", 1);
  EXPECT_EQ(read_settings().engine, (EngineChoice{"theano", file().string()}));
  setenv("KERAS_BACKEND", "my_engine2", 1);
  EXPECT_EQ(read_settings().engine.name, "my_engine2");
}

TEST_F(Config, HorngateMeansTheDefaultEngine) {
  setenv("KERAS_BACKEND", "horngate", 1);
  const EngineChoice by_environment{"native", "KERAS_BACKEND"};
  EXPECT_EQ(read_settings().engine, by_environment);
  for (const char* old :
       {"theano", "tensorflow", "plaidml.keras.backend"}) {  // of an earlier Keras
    write("{\"backend\": \"" + std::string(old) + "\"}");
    EXPECT_EQ(read_settings().engine, by_environment);
  }
  unsetenv("KERAS_BACKEND");
  write(R"({"backend": "horngate"})");
  EXPECT_EQ(read_settings().engine, (EngineChoice{"native", file().string()}));
  write(R"({"backend": "horngate.cntk"})");
  EXPECT_EQ(read_settings().engine, (EngineChoice{"cntk", file().string()}));
}

TEST_F(Config, BrokenFileNamesLineAndStays) {
  const std::string broken = "{\n  \"floatx\": \"float32\",\n  \"epsilon\": ,\n}\n";
  write(broken);
  const std::string text = error();
  EXPECT_TRUE(text.starts_with("FILE, line 3: must be JSON; column 14: ")) << text;
  EXPECT_TRUE(text.ends_with(" Correct the file, or delete it to get the defaults.")) << text;
  EXPECT_EQ(contents(), broken);
  EXPECT_THROW((void)floatx(), ValueError);
  EXPECT_THROW((void)floatx(), ValueError);  // not only once
  write(R"({"floatx": "float16"})");
  EXPECT_EQ(floatx(), DType::float16);
}

TEST_F(Config, BadValues) {
  const std::string hint = " Correct the file, or delete it to get the defaults.";
  write("[1]");
  EXPECT_EQ(error(), "FILE, line 1: must hold a JSON object, { ... }; got array." + hint);
  write("{\"epsilon\": 1e-7,\n\n \"floatx\" : \"float8\"}");
  EXPECT_EQ(
      error(),
      "FILE, line 3: floatx must be \"float16\", \"float32\" or \"float64\"; got \"float8\"." +
          hint);
  write("{\n\"floatx\": 32}");
  EXPECT_EQ(error(), "FILE, line 2: floatx must be a string; got 32." + hint);
  write("{\"epsilon\": \"small\"}");
  EXPECT_EQ(error(),
            "FILE, line 1: epsilon must be a finite number, 0 or more; got \"small\"." + hint);
  write("{\"epsilon\": -1}");
  EXPECT_EQ(error(), "FILE, line 1: epsilon must be a finite number, 0 or more; got -1." + hint);
  write("{\"image_data_format\": \"tf\"}");
  EXPECT_EQ(error(),
            "FILE, line 1: image_data_format must be \"channels_last\" or \"channels_first\"; "
            "got \"tf\"." +
                hint);
  write("{\"image_dim_ordering\": \"channels_last\"}");
  EXPECT_EQ(
      error(),
      "FILE, line 1: image_dim_ordering must be \"tf\" or \"th\"; got \"channels_last\"." + hint);
  write("{\"backend\": \"CNTK\"}");
  EXPECT_EQ(error(), "FILE, line 1: backend must name an engine (" + names_for_users() +
                         ") or a plug-in named in lower-case letters, digits and underscores; got "
                         "\"CNTK\". Did you mean \"cntk\"?");
  // Whatever engine it is.
  for (const KnownEngine& e : kKnownEngines) {
    std::string upper(e.name);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    write("{\"backend\": \"" + upper + "\"}");
    const std::string guess = "Did you mean \"" + std::string(e.name) + "\"?";
    EXPECT_NE(error().find(guess), std::string::npos) << error();
  }
}

TEST_F(Config, BadKerasBackend) {
  setenv("KERAS_BACKEND", "../evil", 1);
  EXPECT_EQ(names_for_users().find("native, "), 0u);
  EXPECT_EQ(names_for_users().find("null"), std::string::npos);
  EXPECT_EQ(
      error(),
      "KERAS_BACKEND: must name an engine (" + names_for_users() +
          ") or a plug-in named in lower-case letters, digits and underscores; got \"../evil\".");
}

TEST_F(Config, FileThatIsAFolder) {
  fs::create_directories(file());
  EXPECT_EQ(error(),
            "FILE: must be readable; got \"Is a directory\". Change its permissions, or set "
            "KERAS_HOME to another folder.");
}

TEST_F(Config, Setters) {
  set_floatx("float16");
  EXPECT_EQ(floatx(), DType::float16);
  set_floatx(DType::float64);
  EXPECT_EQ(floatx(), DType::float64);
  set_epsilon(1e-5);
  EXPECT_EQ(epsilon(), 1e-5);
  set_image_data_format("channels_first");
  EXPECT_EQ(image_data_format(), DataFormat::channels_first);
  set_image_data_format(DataFormat::channels_last);
  EXPECT_EQ(image_data_format(), DataFormat::channels_last);
  reset_settings();
  EXPECT_EQ(floatx(), DType::float32);
}

TEST_F(Config, SettersRefuse) {
  EXPECT_EQ(error_of<ValueError>([] { set_floatx("float8"); }),
            "set_floatx: floatx must be \"float16\", \"float32\" or \"float64\"; got \"float8\".");
  EXPECT_EQ(
      error_of<ValueError>([] { set_floatx(DType::bfloat16); }),
      "set_floatx: floatx must be \"float16\", \"float32\" or \"float64\"; got \"bfloat16\".");
  EXPECT_EQ(error_of<ValueError>([] { set_epsilon(std::nan("")); }),
            "set_epsilon: e must be a finite number, 0 or more; got nan.");
  EXPECT_EQ(
      error_of<ValueError>([] { set_image_data_format("th"); }),
      "set_image_data_format: data_format must be \"channels_last\" or \"channels_first\"; got "
      "\"th\".");
  EXPECT_EQ(error_of<ValueError>([] { set_engine("Native"); }),
            "set_engine: name must consist of lower-case letters, digits and underscores, like "
            "\"native\"; got \"Native\".");
  EXPECT_EQ(floatx(), DType::float32);
}

TEST_F(Config, SetEngineBeforeFirstUse) {
  set_engine("null");
  EXPECT_EQ(take_engine_choice(), (EngineChoice{"null", "set_engine"}));
  set_engine("null");
  EXPECT_EQ(error_of<RuntimeError>([] { set_engine("cntk"); }),
            "set_engine: must be called before the first use of an engine; \"null\" is already in "
            "use, got \"cntk\".");
  EXPECT_EQ(backend(), "null");
}

TEST_F(Config, AnnouncesOnce) {
  ::testing::internal::CaptureStderr();
  for (const char* name : {"native", "native", "tensorflow", "theano", "cntk", "my_engine"})
    announce_engine(name);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "Using native backend.\nUsing TensorFlow backend.\nUsing Theano backend.\nUsing CNTK "
            "backend\n"
            "Using my_engine backend.\n");
}

TEST_F(Config, Quiet) {
  ::testing::internal::CaptureStderr();
  set_quiet(true);
  announce_engine("native");
  set_quiet(false);
  setenv("HORNGATE_QUIET", "1", 1);
  announce_engine("native");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(Config, ThreadsReadOnce) {
  write(R"({"floatx": "float64"})");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 1000; ++k) EXPECT_EQ(floatx(), DType::float64);
    });
  for (std::thread& t : threads) t.join();
}

TEST(Options, Strings) {
  EXPECT_STREQ(name_of(DataFormat::channels_first), "channels_first");
  EXPECT_EQ(data_format_from("channels_last", "f"), DataFormat::channels_last);
  EXPECT_EQ(padding_from("same", "f"), Padding::same);
  EXPECT_EQ(padding_from("causal", "conv1d", {Padding::valid, Padding::same, Padding::causal}),
            Padding::causal);
  EXPECT_EQ(pool_mode_from("avg", "f"), PoolMode::avg);
  EXPECT_EQ(interpolation_from("bilinear", "f"), Interpolation::bilinear);
  for (const Padding p : {Padding::valid, Padding::same, Padding::causal, Padding::full})
    EXPECT_EQ(padding_from(name_of(p), "f",
                           {Padding::valid, Padding::same, Padding::causal, Padding::full}),
              p);
}

TEST(Options, Errors) {
  EXPECT_EQ(error_of<ValueError>([] { padding_from("full", "conv2d"); }),
            "conv2d: padding must be \"valid\" or \"same\"; got \"full\".");
  EXPECT_EQ(error_of<ValueError>([] {
              padding_from("", "conv1d", {Padding::valid, Padding::same, Padding::causal});
            }),
            "conv1d: padding must be \"valid\", \"same\" or \"causal\"; got \"\".");
  EXPECT_EQ(error_of<ValueError>([] { check_padding(Padding::causal, "conv2d"); }),
            "conv2d: padding must be \"valid\" or \"same\"; got \"causal\".");
  EXPECT_EQ(error_of<ValueError>([] { data_format_from("tf", "conv2d"); }),
            "conv2d: data_format must be \"channels_last\" or \"channels_first\"; got \"tf\".");
  EXPECT_EQ(error_of<ValueError>([] { pool_mode_from("mean", "pool2d"); }),
            "pool2d: pool_mode must be \"max\" or \"avg\"; got \"mean\".");
  EXPECT_EQ(error_of<ValueError>([] { interpolation_from("cubic", "resize_images"); }),
            "resize_images: interpolation must be \"nearest\" or \"bilinear\"; got \"cubic\".");
}

TEST_F(Config, EngineOptions) {
  write(
      R"({"engine_options": {"onnx": {"optimization": "basic", "n": 2}, "tensorflow": {"xla": true}}})");
  EXPECT_EQ(engine_options("onnx"), (EngineOptions{{"n", "2"}, {"optimization", "basic"}}));
  EXPECT_EQ(engine_options("tensorflow"), (EngineOptions{{"xla", "true"}}));
  EXPECT_EQ(engine_options("cntk"), EngineOptions());
  setenv("HORNGATE_ENGINE_OPTIONS", "onnx.optimization=off,cntk.a=", 1);
  reset_settings();
  EXPECT_EQ(engine_options("onnx"), (EngineOptions{{"n", "2"}, {"optimization", "off"}}));
  EXPECT_EQ(engine_options("cntk"), (EngineOptions{{"a", ""}}));
  for (const char* wrong : {R"({"engine_options": 3})", R"({"engine_options": {"onnx": "off"}})",
                            R"({"engine_options": {"onnx": {"optimization": [1]}}})",
                            R"({"engine_options": {"onnx": {"optimization": null}}})"}) {
    write(wrong);
    EXPECT_NE(error_of([] {
                (void)read_settings();
              }).find("line 1: engine_options must map names of engines to their options"),
              std::string::npos)
        << wrong;
    EXPECT_EQ(contents(), wrong);
  }
}

}  // namespace
}  // namespace horngate
