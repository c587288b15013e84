// Bars in memory, and the trace file: the JSON of Chrome's trace viewer, which Perfetto reads too.
#include "ir/profile.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "horngate/profile.h"
#include "ir/check.h"
#include "ir/fork.h"

namespace horngate::profile {
namespace {

/// 40 bytes each; no viewer opens a trace of several GB.
constexpr size_t kMaxBars = 4'000'000;

struct Label {
  std::string what, function, node;
  Work work;
};
struct Bar {
  uint32_t label, thread;
  int64_t begin, end;
};
struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};

struct Trace {
  std::string path;
  std::unique_ptr<std::FILE, CloseFile> file;
  pid_t process;
  int64_t begin;
  std::unordered_map<std::string, uint32_t> label_of;
  std::vector<Label> labels;
  std::vector<Bar> bars;
  size_t dropped = 0;
};

constinit std::mutex mutex;
const AtFork at_fork{mutex, ForkOrder::last};
std::unique_ptr<Trace> trace;  // under the mutex; set while `on`

uint32_t thread_number() {
  static std::atomic<uint32_t> threads{0};
  thread_local const uint32_t number = ++threads;
  return number;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (u < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out + '"';
}

std::string name_of(const Label& l) {
  return l.function.empty() ? l.what : l.function + ": " + l.what;
}

void write(const Trace& t) {
  std::FILE* f = t.file.get();
  std::fprintf(f, "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"dropped\": \"%zu\"},\n",
               t.dropped);
  std::fprintf(f, "\"traceEvents\": [");
  const char* comma = "\n";
  for (const Bar& b : t.bars) {
    const Label& l = t.labels[b.label];
    std::fprintf(
        f,
        "%s{\"ph\": \"X\", \"pid\": %d, \"tid\": %u, \"ts\": %.3f, \"dur\": %.3f, \"name\": %s, "
        "\"args\": {\"flops\": %.0f, \"bytes\": %.0f",
        comma, static_cast<int>(t.process), b.thread, static_cast<double>(b.begin - t.begin) * 1e-3,
        static_cast<double>(b.end - b.begin) * 1e-3, quoted(name_of(l)).c_str(), l.work.flops,
        l.work.bytes);
    if (!l.node.empty()) std::fprintf(f, ", \"node\": %s", quoted(l.node).c_str());
    std::fputs("}}", f);
    comma = ",\n";
  }
  std::fputs("\n]}\n", f);
}

}  // namespace

std::atomic<bool> on{false};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void add(std::string_view what, const NodeName& node, const Work& work, int64_t begin,
         int64_t end) {
  const std::string_view function = node.function ? node.function : "";
  const std::string_view given = node ? std::string_view(*node) : "";
  std::string key(what);
  // The key includes the work, so the same step in different sizes gets different rows.
  (((key += '\n') += function) += '\n') += given;
  key.append(reinterpret_cast<const char*>(&work), sizeof work);
  std::lock_guard lock(mutex);
  if (!trace || begin < trace->begin) return;
  if (trace->bars.size() >= kMaxBars) {
    ++trace->dropped;
    return;
  }
  const auto [at, is_new] =
      trace->label_of.emplace(std::move(key), static_cast<uint32_t>(trace->labels.size()));
  if (is_new)
    trace->labels.push_back({std::string(what), std::string(function), std::string(given), work});
  trace->bars.push_back({at->second, thread_number(), begin, end});
}

void start_from_environment() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* path = std::getenv("HORNGATE_PROFILE");
    if (path && *path) profile_start(path);
  });
}

}  // namespace horngate::profile

namespace horngate {

void profile_start(const std::string& path) {
  using namespace profile;
  profile_stop();
  auto next = std::make_unique<Trace>();
  next->file.reset(std::fopen(path.c_str(), "w"));
  check<RuntimeError>(next->file != nullptr, "profile_start", "cannot write \"", path,
                      "\": ", std::strerror(errno), ".");
  next->path = path;
  next->process = getpid();
  next->begin = now();
  static const int at_exit = std::atexit([] {
    try {
      profile_stop();
    } catch (const std::exception&) {
      // Nobody is left to tell.
    }
  });
  (void)at_exit;
  std::lock_guard lock(mutex);
  trace = std::move(next);
  on = true;
}

void profile_stop() {
  using namespace profile;
  std::unique_ptr<Trace> ended;
  {
    std::lock_guard lock(mutex);
    on = false;
    ended = std::move(trace);
  }
  // A forked child has a copy of the trace, but writing it is up to the parent.
  if (!ended || ended->process != getpid()) return;
  write(*ended);
  const bool is_whole = std::fflush(ended->file.get()) == 0 && !std::ferror(ended->file.get());
  check<RuntimeError>(is_whole, "profile_stop", "could not write all of \"", ended->path, "\".");
}

}  // namespace horngate
