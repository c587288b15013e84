// A graph in the form that the worker gets, and the shared memory through which its arrays pass.
#include "program.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace horngate::theano {
namespace {

size_t aligned(size_t n) { return (n + 63) / 64 * 64; }

/// Text of one graph and its bodies; constants are collected after it.
class Writer {
 public:
  std::string text, data;

  void graph(const hg_graph& g) {
    text += "{\"values\":[";
    for (uint32_t i = 0; i < g.n_value; ++i) {
      if (i) text += ',';
      type(*g.value[i]);
    }
    text += "],\"in\":";
    list(g.in, g.n_in);
    text += ",\"out\":";
    list(g.out, g.n_out);
    text += ",\"nodes\":[";
    for (uint32_t i = 0; i < g.n_node; ++i) {
      if (i) text += ',';
      node(*g.node[i]);
    }
    text += "]";
  }

  template <class T>
  void list(const T* items, size_t n) {
    text += '[';
    for (size_t i = 0; i < n; ++i) {
      if (i) text += ',';
      text += std::to_string(items[i]);
    }
    text += ']';
  }

 private:
  void type(const hg_type& t) {
    text += "[" + std::to_string(t.dtype) + ",";
    list(t.dims, static_cast<size_t>(t.rank));
    text += ']';
  }

  void words(const char* s, size_t n) {
    text += '"';
    for (size_t i = 0; i < n; ++i) {
      const auto c = static_cast<unsigned char>(s[i]);
      if (c == '"' || c == '\\') {
        text += '\\';
        text += static_cast<char>(c);
      } else if (c < 0x20) {
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", c);
        text += code;
      } else {
        text += static_cast<char>(c);
      }
    }
    text += '"';
  }
  void words(const char* s) { s ? words(s, std::strlen(s)) : void(text += "null"); }

  void number(double x) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", x);
    text += std::isnan(x) ? "NaN" : std::isinf(x) ? (x < 0 ? "-Infinity" : "Infinity") : digits;
  }

  void attribute(const hg_attr& a) {
    words(a.key);
    text += ':';
    switch (a.kind) {
      case HG_ATTR_I64: list(static_cast<const int64_t*>(a.data), a.n); break;
      case HG_ATTR_F64:
        text += '[';
        for (uint32_t i = 0; i < a.n; ++i) {
          if (i) text += ',';
          number(static_cast<const double*>(a.data)[i]);
        }
        text += ']';
        break;
      case HG_ATTR_TEXT: words(static_cast<const char*>(a.data), a.n); break;
      case HG_ATTR_TYPE: text += std::to_string(*static_cast<const int32_t*>(a.data)); break;
      default: {
        const auto& b = *static_cast<const hg_buffer*>(a.data);
        data.resize(aligned(data.size()));
        text += "{\"type\":";
        type(*b.type);
        text += ",\"at\":" + std::to_string(data.size()) + ",\"bytes\":" + std::to_string(b.bytes) +
                "}";
        data.append(static_cast<const char*>(b.data), b.bytes);
      }
    }
  }

  void node(const hg_node& n) {
    text += "{\"prim\":";
    words(n.prim);
    text += ",\"in\":";
    list(n.in, n.n_in);
    text += ",\"out\":";
    list(n.out, n.n_out);
    text += ",\"attrs\":{";
    for (uint32_t i = 0; i < n.n_attr; ++i) {
      if (i) text += ',';
      attribute(*n.attr[i]);
    }
    text += "},\"name\":";
    words(n.name);
    text += ",\"function\":";
    words(n.function);
    text += ",\"bodies\":[";
    for (uint32_t i = 0; i < n.n_body; ++i) {
      if (i) text += ',';
      graph(*n.body[i]);
      text += '}';
    }
    text += "]}";
  }
};

std::string write_program(const hg_graph& graph) {
  Writer w;
  w.graph(graph);
  w.text += '}';
  // Header: length of the text and where the constants begin.
  const uint64_t head[2] = {w.text.size(), aligned(sizeof head + w.text.size())};
  std::string all(reinterpret_cast<const char*>(head), sizeof head);
  all += w.text;
  all.resize(head[1]);
  return all + w.data;
}

std::atomic<uint32_t> next_id{1};

}  // namespace

WorkerGraph::WorkerGraph(const hg_graph& g)
    : id(next_id++), text(write_program(g)), stamps(g.n_in, 0) {
  const auto is_open = [&](uint32_t v) {
    const hg_type& t = *g.value[v];
    return std::any_of(t.dims, t.dims + t.rank, [](int64_t d) { return d < 0; });
  };
  for (uint32_t i = 0; i < g.n_in; ++i) in_open_.push_back(is_open(g.in[i]));
  for (uint32_t i = 0; i < g.n_out; ++i) out_open_.push_back(is_open(g.out[i]));
}

WorkerGraph::~WorkerGraph() { drop_memory(); }

bool WorkerGraph::place(const hg_buffer* const* in, const hg_buffer* const* out) {
  std::vector<int64_t> sizes;
  const auto add = [&](const hg_type& t) { sizes.insert(sizes.end(), t.dims, t.dims + t.rank); };
  for (size_t i = 0; i < in_open_.size(); ++i)
    if (in_open_[i]) add(*in[i]->type);
  for (size_t i = 0; i < out_open_.size(); ++i)
    if (out_open_[i]) add(*out[i]->type);
  if (is_placed && sizes == sizes_ && !results_->is_spent()) return false;
  is_placed = false;
  sizes_ = std::move(sizes);
  in_at.resize(in_open_.size());
  in_bytes.resize(in_open_.size());
  out_at.resize(out_open_.size());
  out_bytes.resize(out_open_.size());
  size_t end = 0, out_end = 0;
  for (const uint8_t open : {0, 1}) {
    for (size_t i = 0; i < in_open_.size(); ++i) {
      if (in_open_[i] != open) continue;
      if (open) stamps[i] = 0;
      in_at[i] = end;
      in_bytes[i] = in[i]->bytes;
      end += aligned(in[i]->bytes);
    }
    for (size_t i = 0; i < out_open_.size(); ++i) {
      if (out_open_[i] != open) continue;
      out_at[i] = Results::start(out_end, out[i]->bytes);
      out_bytes[i] = out[i]->bytes;
      out_end = out_at[i] + Results::room(out[i]->bytes);
    }
  }
  if (!map_ || end > capacity_ || fd_ >= 0) {
    capacity_ = std::max<size_t>(capacity_ ? end + end / 2 : end, 64);
    make_memory();
  }
  // Results still held were placed for other sizes.
  const bool had_room = results_ && out_end <= results_->bytes_of_a_set();
  if (!had_room || results_->fd() >= 0 || results_->is_held() || results_->is_spent())
    results_ = std::make_shared<Results>(results_ && !had_room ? out_end + out_end / 2 : out_end);
  return true;
}

/// For another worker, which gets its own memory.
void WorkerGraph::forget_places() {
  is_placed = false;
  drop_memory();
  results_.reset();
}

std::string WorkerGraph::places(const hg_buffer* const* in, const hg_buffer* const* out) const {
  Writer w;
  const auto list = [&](const char* key, const std::vector<size_t>& at,
                        const hg_buffer* const* buffers) {
    w.text += key;
    for (size_t i = 0; i < at.size(); ++i) {
      w.text += (i ? ",[" : "[") + std::to_string(at[i]) + ",";
      w.list(buffers[i]->type->dims, static_cast<size_t>(buffers[i]->type->rank));
      w.text += ']';
    }
    w.text += ']';
  };
  list("{\"in\":[", in_at, in);
  list(",\"out\":[", out_at, out);
  w.text += ",\"sets\":" + std::to_string(Results::kSets) +
            ",\"set_bytes\":" + std::to_string(results_->bytes_of_a_set()) + ",\"memory\":[";
  if (fd_ >= 0) w.text += "\"in\"";
  if (results_->fd() >= 0) w.text += fd_ >= 0 ? ",\"out\"" : "\"out\"";
  return w.text + "]}";
}

std::vector<int> WorkerGraph::new_memory() const {
  std::vector<int> fds;
  for (const int fd : {fd_, results_->fd()})
    if (fd >= 0) fds.push_back(fd);
  return fds;
}

void WorkerGraph::close_files() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  if (results_) results_->close_file();
}

void WorkerGraph::drop_memory() {
  if (map_) munmap(map_, mapped_);
  map_ = nullptr;
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void WorkerGraph::make_memory() {
  drop_memory();
  stamps.assign(stamps.size(), 0);
  fd_ = memfd_create("horngate-theano", MFD_CLOEXEC);
  void* map = MAP_FAILED;
  if (fd_ >= 0 && ftruncate(fd_, static_cast<off_t>(capacity_)) == 0)
    map = mmap(nullptr, capacity_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (map == MAP_FAILED) throw std::runtime_error("out of memory: cannot get shared memory");
  map_ = static_cast<char*>(map);
  mapped_ = capacity_;
}

int file_in_memory(const std::string& bytes) {
  const int fd = memfd_create("horngate-theano-program", MFD_CLOEXEC);
  size_t done = 0;
  while (fd >= 0 && done < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n <= 0) {
      close(fd);
      return -1;
    }
    done += static_cast<size_t>(n);
  }
  return fd;
}

}  // namespace horngate::theano
