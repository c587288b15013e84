// Warnings and other lines: to standard error, or to whoever asks for them.
#include "horngate/log.h"

#include "gtest/gtest.h"
#include "horngate/horngate.h"
#include "ir/warn.h"

namespace horngate {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

class Log : public testing::Test {
 protected:
  void SetUp() override {
    set_quiet(false);
    unsetenv("HORNGATE_QUIET");
  }
};

/// A function that warns: of two updates that set a variable one is lost.
void make_a_warning() {
  clear_session();
  const Variable v = variable(Array(1.f), {.name = "v"});
  (void)function({}, {}, {update(v, 2.0), update(v, 3.0)});
}

TEST_F(Log, WarningsGoToStandardError) {
  CaptureStderr();
  make_a_warning();
  const std::string text = GetCapturedStderr();
  EXPECT_EQ(text.rfind("warning: function: variable \"v\" ", 0), 0u) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
}

TEST_F(Log, AHandlerTakesThemAll) {
  std::vector<std::pair<LogLevel, std::string>> lines;
  CaptureStderr();
  set_log_handler([&](LogLevel level, const std::string& text) {
    (void)backend();  // it may use the library
    lines.emplace_back(level, text);
  });
  set_warning_handler(
      [](const std::string&) { FAIL() << "the handler of a binding comes second"; });
  make_a_warning();
  announce_engine("log_test");
  set_warning_handler({});
  set_log_handler({});
  EXPECT_EQ(GetCapturedStderr(), "");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].first, LogLevel::warning);
  EXPECT_EQ(lines[0].second.rfind("function: variable \"v\" ", 0), 0u) << lines[0].second;
  EXPECT_EQ(lines[1], std::pair(LogLevel::info, std::string("Using log_test backend.")));
}

TEST_F(Log, ABindingTakesWarningsAlone) {
  std::vector<std::string> warnings;
  set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  CaptureStderr();
  make_a_warning();
  announce_engine("log_test_2");
  set_warning_handler({});
  EXPECT_EQ(GetCapturedStderr(), "Using log_test_2 backend.\n");
  EXPECT_EQ(warnings.size(), 1u);
}

}  // namespace
}  // namespace horngate
