// Reads keras.json and KERAS_BACKEND; writes the file with the defaults if there is none.
#include "api/keras_json.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "engines/names.h"
#include "horngate/config.h"
#include "ir/check.h"
#include "ir/environment.h"

namespace horngate {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace keras_json {

bool is_engine_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

namespace {

/// Quoted, on one line and of readable length, whatever a file or the environment holds.
std::string in_quotes(std::string_view text) {
  constexpr size_t kMost = 100;
  std::string out = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr const char* kDigits = "0123456789abcdef";
    if (byte < 0x20 || byte == 0x7f)
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    else
      out += c;
  }
  return out + (text.size() > kMost ? "...\"" : "\"");
}

}  // namespace

DType floatx_from(std::string_view name, std::string_view where, std::string_view hint) {
  for (const DType t : {DType::float16, DType::float32, DType::float64})
    if (name == name_of(t)) return t;
  fail(where, "floatx must be \"float16\", \"float32\" or \"float64\"; got ", in_quotes(name), ".",
       hint);
}

}  // namespace keras_json

namespace {

using keras_json::in_quotes;

constexpr const char* kHint = " Correct the file, or delete it to get the defaults.";

std::string home_folder() {
  if (std::string home(environment_text("HOME")); !home.empty()) return home;
  passwd entry{};
  passwd* found = nullptr;
  std::string buffer(4096, '\0');
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found &&
      found->pw_dir)
    return found->pw_dir;
  return {};
}

// One keras.json: its text, for line numbers, and its fields.
class File {
 public:
  File(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
    // Keras takes a file without text for one without settings; it may be in the middle of writing it.
    if (text_.find_first_not_of(" \t\r\n") == std::string::npos) {
      fields_ = Json::object();
      return;
    }
    try {
      fields_ = Json::parse(text_, [this](int depth, Json::parse_event_t, const Json&) {
        if (depth > kMostDepth)
          fail_at(1, "must not be nested deeper than ", kMostDepth, ".", kHint);
        return true;
      });
    } catch (const Json::parse_error& e) {
      fail_at(line_at(e.byte), "must be JSON; ", reason_of(e), ".", kHint);
    } catch (const Json::exception& e) {
      fail_at(1, "must be JSON; ", e.what(), ".", kHint);
    }
    if (!fields_.is_object())
      fail_at(1, "must hold a JSON object, { ... }; got ", fields_.type_name(), ".", kHint);
  }

  bool has(const char* key) const { return fields_.contains(key); }

  std::string string(const char* key) const {
    const Json& value = fields_.at(key);
    if (!value.is_string())
      fail_at(line_of(key), key, " must be a string; got ", text(value), ".", kHint);
    return value.get<std::string>();
  }

  double number(const char* key) const {
    const Json& value = fields_.at(key);
    const double number = value.is_number() ? value.get<double>() : -1.0;
    if (!(std::isfinite(number) && number >= 0))
      fail_at(line_of(key), key, " must be a finite number, 0 or more; got ", text(value), ".",
              kHint);
    return number;
  }

  /// {"onnx": {"optimization": "basic"}}; values may also be numbers or booleans.
  std::map<std::string, EngineOptions> options(const char* key) const {
    std::map<std::string, EngineOptions> all;
    const auto wrong = [&](const Json& got) {
      fail_at(line_of(key), key, " must map names of engines to their options, as {\"onnx\": ",
              "{\"optimization\": \"basic\"}}; got ", text(got), ".", kHint);
    };
    const Json& engines = fields_.at(key);
    if (!engines.is_object()) wrong(engines);
    for (const auto& [engine, options] : engines.items()) {
      if (!options.is_object()) wrong(options);
      for (const auto& [name, value] : options.items()) {
        if (value.is_structured() || value.is_null()) wrong(value);
        all[engine][name] = value.is_string() ? value.get<std::string>() : value.dump();
      }
    }
    return all;
  }

  /// "<path>, line 3", with which errors about a field begin.
  std::string where(const char* key) const { return text_of(path_, ", line ", line_of(key)); }

 private:
  template <class... P>
  [[noreturn]] void fail_at(int64_t line, const P&... parts) const {
    fail(text_of(path_, ", line ", line), parts...);
  }

  int64_t line_at(size_t byte) const {
    const size_t end = std::min(byte ? byte - 1 : 0, text_.size());
    return 1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(end), '\n');
  }

  // Of two equal keys JSON takes the last, and so do we.
  int64_t line_of(const char* key) const {
    const std::string quoted = text_of('"', key, '"');
    for (size_t at = text_.rfind(quoted); at != std::string::npos && at > 0;
         at = text_.rfind(quoted, at - 1)) {
      const size_t next = text_.find_first_not_of(" \t\r\n", at + quoted.size());
      if (next != std::string::npos && text_[next] == ':') return line_at(at + 1);
    }
    return 1;
  }

  // nlohmann's text is "[...] parse error at line 2, column 3: what"; we already give the line.
  static std::string reason_of(const Json::parse_error& e) {
    const std::string_view what = e.what();
    const size_t at = what.find("column ");
    return std::string(at == std::string_view::npos ? what : what.substr(at));
  }

  static std::string text(const Json& value) {
    std::string all = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    constexpr size_t kMost = 100;
    return all.size() > kMost ? all.substr(0, kMost) + "..." : all;
  }

  static constexpr int kMostDepth = 100;

  std::string path_;
  std::string text_;
  Json fields_;
};

DataFormat dim_ordering_from(const File& file) {
  constexpr const char* kKey = "image_dim_ordering";
  const std::string value = file.string(kKey);
  check(value == "tf" || value == "th", file.where(kKey), kKey, " must be \"tf\" or \"th\"; got ",
        in_quotes(value), ".", kHint);
  return value == "th" ? DataFormat::channels_first : DataFormat::channels_last;
}

DataFormat image_data_format_from(const File& file) {
  constexpr const char* kKey = "image_data_format";
  const std::string value = file.string(kKey);
  for (const DataFormat f : {DataFormat::channels_last, DataFormat::channels_first})
    if (value == name_of(f)) return f;
  fail(file.where(kKey), kKey, " must be \"channels_last\" or \"channels_first\"; got ",
       in_quotes(value), ".", kHint);
}

[[noreturn]] void fail_unreadable(const std::string& path, int error) {
  fail(path, "must be readable; got \"", std::generic_category().message(error),
       "\". Change its permissions, or set KERAS_HOME to another folder.");
}

// A pipe or a device of that name must not make us wait or read forever.
std::string read_text(const std::string& path) {
  constexpr size_t kMost = size_t{1} << 20;
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) fail_unreadable(path, errno);
  struct Close {
    int file;
    ~Close() { close(file); }
  } close_later{file};
  struct stat about{};
  if (fstat(file, &about) != 0) fail_unreadable(path, errno);
  if (S_ISDIR(about.st_mode)) fail_unreadable(path, EISDIR);
  check(S_ISREG(about.st_mode), path, "must be a file; got a pipe, a device or the like.");
  std::string text;
  char buffer[4096];
  while (text.size() <= kMost) {
    const ssize_t n = read(file, buffer, sizeof buffer);
    if (n < 0 && errno != EINTR) fail_unreadable(path, errno);
    if (n == 0) break;
    if (n > 0) text.append(buffer, static_cast<size_t>(n));
  }
  check(text.size() <= kMost, path, "must have at most ", kMost, " bytes; it has more.", kHint);
  return text;
}

/// Whether anything of that name exists, even a dangling symbolic link.
bool is_there(const std::string& path) {
  struct stat about{};
  if (lstat(path.c_str(), &about) == 0) return true;
  if (errno != ENOENT) fail_unreadable(path, errno);
  return false;
}

// Writes under a second name first, so that another process never sees half a file; link() fails if the file
// exists by now. Failures do not matter: the defaults hold without a file.
void write_defaults(const fs::path& path) {
  const Settings defaults;
  const Json fields = {
      {"image_data_format", name_of(defaults.image_data_format)},
      {"epsilon", defaults.epsilon},
      {"floatx", name_of(defaults.floatx)},
      // Keras imports unknown names as a module, so this must be our module, not the engine's name.
      {"backend", "horngate"}};
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const std::string draft = text_of(path.string(), '.', getpid(), ".tmp");
  // Never open an existing file or link: anyone may be able to write to the folder.
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return;
  const std::string text = fields.dump(4) + '\n';
  const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (close(file) == 0 && whole) static_cast<void>(!link(draft.c_str(), path.c_str()));
  fs::remove(draft, ignored);
}

// "horngate" is left to the caller; "horngate.theano", the module's name under Keras, becomes "theano".
std::string without_module(std::string_view name) {
  constexpr std::string_view kModule = "horngate.";
  return std::string(name.starts_with(kModule) ? name.substr(kModule.size()) : name);
}

void check_engine(std::string_view where, std::string_view argument, std::string_view value,
                  std::string_view hint) {
  const std::string name = without_module(value);
  if (keras_json::is_engine_name(name)) return;
  std::string lower = name;
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const std::string guess = known_engine(lower) ? text_of(" Did you mean \"", lower, "\"?") : "";
  fail(where, argument, "must name an engine (", names_for_users(),
       ") or a plug-in named in lower-case letters, digits and underscores; got ", in_quotes(value),
       ".", guess.empty() ? hint : guess);
}

// KERAS_BACKEND overrides the file. "horngate" asks for the default engine, whatever an old keras.json says
// about other backends.
EngineChoice choose_engine(const File* file, const std::string& path) {
  const std::string wanted(environment_text("KERAS_BACKEND"));
  if (wanted == "horngate") return {"native", "KERAS_BACKEND"};
  if (!wanted.empty()) {
    check_engine("KERAS_BACKEND", "", wanted, "");
    return {without_module(wanted), "KERAS_BACKEND"};
  }
  if (!file || !file->has("backend")) return {};
  const std::string named = file->string("backend");
  if (named == "horngate") return {"native", path};
  check_engine(file->where("backend"), "backend ", named, kHint);
  return {without_module(named), path};
}

// "onnx.optimization=basic,tensorflow.xla=1"
void add_options(std::string_view list, std::map<std::string, EngineOptions>& to) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    const size_t dot = one.find('.'), equals = one.find('=');
    check(dot != one.npos && equals != one.npos && 0 < dot && dot + 1 < equals,
          "HORNGATE_ENGINE_OPTIONS",
          "must be a list like onnx.optimization=basic,tensorflow.xla=1; got ", in_quotes(one),
          ".");
    to[std::string(one.substr(0, dot))][std::string(one.substr(dot + 1, equals - dot - 1))] =
        one.substr(equals + 1);
  }
}

}  // namespace

std::string keras_home() {
  if (std::string home(environment_text("KERAS_HOME")); !home.empty()) return home;
  std::string base = home_folder();
  if (base.empty() || access(base.c_str(), W_OK) != 0) {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    base = error ? "/tmp" : temporary.string();
  }
  return (fs::path(base) / ".keras").string();
}

Settings read_settings() {
  Settings s;
  const std::string path = (fs::path(keras_home()) / "keras.json").string();
  std::optional<File> file;
  if (is_there(path))
    file.emplace(path, read_text(path));
  else if (!environment_flag("HORNGATE_NO_CONFIG_WRITE"))
    write_defaults(path);
  const auto has = [&](const char* key) { return file && file->has(key); };
  if (has("image_data_format"))
    s.image_data_format = image_data_format_from(*file);
  else if (has("image_dim_ordering"))
    s.image_data_format = dim_ordering_from(*file);
  if (has("epsilon")) s.epsilon = file->number("epsilon");
  if (has("floatx"))
    s.floatx = keras_json::floatx_from(file->string("floatx"), file->where("floatx"), kHint);
  s.engine = choose_engine(file ? &*file : nullptr, path);
  if (has("engine_options")) s.engine_options = file->options("engine_options");
  add_options(environment_text("HORNGATE_ENGINE_OPTIONS"), s.engine_options);
  check(!s.engine_options.contains("native"), "engine_options", "engine native takes no options.");
  return s;
}

}  // namespace horngate
