// Memory runs out at the n-th request, for n = 1, 2, ..: each time an exception, nothing is lost, and the same program
// then runs as if nothing had been. Requests are those of malloc and its kin (and so of operator new), of mmap and of
// pthread_create, but for those that oneDNN, OpenBLAS and libgomp make themselves: these libraries then end the process.
// Each is refused alone, and with all that follow it.
//   out_of_memory [--stride 1] [--only case]
// With a stride of s every s-th request is tried.
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "horngate/horngate.h"
#include "soak.h"

namespace K = horngate;

namespace {

struct Refusal {
  std::atomic<bool> armed{false};
  std::atomic<int64_t> left{0};  // requests that are granted
  std::atomic<bool> and_all_after{false};
  std::atomic<int64_t> refused{0};
};
constinit Refusal refusal;

bool is_refused() {
  if (!refusal.armed.load(std::memory_order_relaxed)) return false;
  const int64_t left = refusal.left.fetch_sub(1, std::memory_order_relaxed);
  if (left > 1 || (left < 1 && !refusal.and_all_after)) return false;
  refusal.refused.fetch_add(1, std::memory_order_relaxed);
  errno = ENOMEM;
  return true;
}

using CreateThread = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
CreateThread* create_thread = nullptr;

}  // namespace

namespace {

std::atomic<int64_t> blocks_in_use{0};

void* counted(void* p) {
  if (p) blocks_in_use.fetch_add(1, std::memory_order_relaxed);
  return p;
}
void uncounted(const void* p) {
  if (p) blocks_in_use.fetch_sub(1, std::memory_order_relaxed);
}

/// Where code of a library lies that ends the process when it gets no memory: its own requests are granted.
struct Spared {
  uintptr_t begin = 0, end = 0;
};
Spared spared[8];
size_t n_spared = 0;

bool is_spared(const void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  for (size_t i = 0; i < n_spared; ++i)
    if (at >= spared[i].begin && at < spared[i].end) return true;
  return false;
}

/// Looks for them among the libraries that are loaded.
void find_spared() {
  n_spared = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void*) {
        const std::string name = info->dlpi_name;
        for (const char* part : {"dnnl", "openblas", "gomp"}) {
          if (name.find(part) == std::string::npos || n_spared == std::size(spared)) continue;
          Spared range{UINTPTR_MAX, 0};
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const ElfW(Phdr) & p = info->dlpi_phdr[i];
            if (p.p_type != PT_LOAD) continue;
            range.begin = std::min<uintptr_t>(range.begin, info->dlpi_addr + p.p_vaddr);
            range.end = std::max<uintptr_t>(range.end, info->dlpi_addr + p.p_vaddr + p.p_memsz);
          }
          spared[n_spared++] = range;
        }
        return 0;
      },
      nullptr);
}

bool is_refused_to(const void* caller) {
  return refusal.armed && !is_spared(caller) && is_refused();
}

}  // namespace

#define HORNGATE_CALLER __builtin_return_address(0)

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t n) {
  return is_refused_to(HORNGATE_CALLER) ? nullptr : counted(__libc_malloc(n));
}
void* calloc(size_t n, size_t m) {
  return is_refused_to(HORNGATE_CALLER) ? nullptr : counted(__libc_calloc(n, m));
}
void* realloc(void* p, size_t n) {
  if (is_refused_to(HORNGATE_CALLER)) return nullptr;
  void* const now = __libc_realloc(p, n);
  if (now && !p) counted(now);
  return now;
}
void* aligned_alloc(size_t a, size_t n) {
  return is_refused_to(HORNGATE_CALLER) ? nullptr : counted(__libc_memalign(a, n));
}
void* memalign(size_t a, size_t n) {
  return is_refused_to(HORNGATE_CALLER) ? nullptr : counted(__libc_memalign(a, n));
}
int posix_memalign(void** p, size_t a, size_t n) {
  void* made = is_refused_to(HORNGATE_CALLER) ? nullptr : counted(__libc_memalign(a, n));
  if (made) *p = made;
  return made ? 0 : ENOMEM;
}
void free(void* p) {
  uncounted(p);
  __libc_free(p);
}
void* mmap(void* at, size_t n, int protection, int flags, int file, off_t offset) {
  if (is_refused_to(HORNGATE_CALLER)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, n, protection, flags, file, offset));
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*f)(void*),
                   void* x) {
  return is_refused_to(HORNGATE_CALLER) ? EAGAIN : create_thread(thread, attributes, f, x);
}
}

// The libraries' own are told from ours by who calls.
void* operator new(size_t n) {
  void* p = is_refused_to(HORNGATE_CALLER) ? nullptr : counted(__libc_malloc(n));
  if (!p) throw std::bad_alloc();
  return p;
}
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  return is_refused_to(HORNGATE_CALLER) ? nullptr : counted(__libc_malloc(n));
}
void* operator new(size_t n, std::align_val_t a) {
  void* p = is_refused_to(HORNGATE_CALLER) ? nullptr
                                           : counted(__libc_memalign(static_cast<size_t>(a), n));
  if (!p) throw std::bad_alloc();
  return p;
}
void operator delete(void* p) noexcept { free(p); }
void operator delete(void* p, size_t) noexcept { free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { free(p); }

namespace {

using Numbers = std::vector<float>;

void append(Numbers& to, const K::Array& a) {
  const Numbers values = a.to_vector<float>();
  to.insert(to.end(), values.begin(), values.end());
}

/// A program of which one part, act(), meets refusals. It may be repeated.
struct Case {
  virtual ~Case() = default;
  virtual void act() = 0;
  virtual Numbers result() { return {}; }  // of the last act
  virtual Numbers state() { return {}; }   // what a failed act must not change
};

K::Array ramp(const K::Ints& dims) {
  K::Array a(K::DType::float32, dims);
  for (int64_t i = 0; i < a.size(); ++i)
    a.data<float>()[i] = static_cast<float>(i % 17) * 0.05f - 0.4f;
  return a;
}

K::Variable weights(const K::Ints& dims) { return K::variable(ramp(dims)); }

/// A net with everything that a program has, and its training step.
struct Net {
  K::Tensor x, out, loss;
  std::vector<K::Variable> variables;
  K::Tensors gradients;
  K::Function train, predict;
  K::Ints input;

  void differentiate() {
    gradients = K::gradients(loss, std::vector<K::Tensor>(variables.begin(), variables.end()));
  }
  void compile() {
    std::vector<K::Update> updates;
    for (size_t i = 0; i < variables.size(); ++i)
      updates.push_back(K::update_sub(variables[i], gradients[i] * 0.1));
    train = K::function({x}, {loss}, updates);
    predict = K::function({x}, {out});
  }
  Numbers values() const {
    Numbers all;
    for (const K::Variable& v : variables) append(all, K::get_value(v));
    return all;
  }
};

void build_dense(Net& n) {
  n.input = {9, 20};
  n.x = K::placeholder({.shape = {K::None, 20}, .name = "x"});
  n.variables = {weights({20, 24}), weights({24}), weights({24, 3})};
  const K::Tensor h = K::tanh(K::bias_add(K::dot(n.x, n.variables[0]), n.variables[1]));
  n.out = K::softmax(K::dot(K::dropout(h, 0.2, {.seed = 3}), n.variables[2]));
  n.loss = K::mean(K::square(n.out - 0.1));
}

void build_conv(Net& n) {
  n.input = {3, 10, 10, 3};
  n.x = K::placeholder({.shape = {K::None, 10, 10, 3}});
  n.variables = {weights({3, 3, 3, 16}), weights({3, 3, 16, 16}), weights({5, 5, 16, 4})};
  K::Tensor h = K::relu(K::conv2d(n.x, n.variables[0], {.padding = K::Padding::same}));
  h = K::relu(K::conv2d(h, n.variables[1], {.padding = K::Padding::same}));
  h = K::pool2d(h, {2, 2}, {.strides = {2, 2}});
  n.out = K::batch_flatten(K::conv2d(h, n.variables[2]));
  n.loss = K::mean(K::square(n.out));
}

void build_recurrent(Net& n) {
  n.input = {4, 5, 6};
  n.x = K::placeholder({.shape = {K::None, 5, 6}});
  n.variables = {weights({6, 8}), weights({8, 8})};
  const K::Tensor zeros = K::sum(K::dot(n.x * 0.0, n.variables[0]), {.axis = {1}}) * 0.0;
  const auto step = [&](const K::Tensor& in, const K::Tensors& s) {
    const K::Tensor h = K::tanh(K::dot(in, n.variables[0]) + K::dot(s[0], n.variables[1]));
    return K::RnnStep{h, {h}};
  };
  n.out = K::rnn(step, n.x, {zeros}).outputs;
  n.loss = K::mean(K::square(n.out));
}

/// Large enough for the pool.
void build_wide(Net& n) {
  n.input = {300, 400};
  n.x = K::placeholder({.shape = {K::None, 400}});
  n.variables = {weights({400, 500})};
  n.out = K::exp(K::dot(n.x, n.variables[0]) * 0.01) + K::sum(n.x, {.axis = {1}, .keepdims = true});
  n.loss = K::mean(n.out);
}

/// Shapes that depend on data, sparse values, a branch.
void build_odd(Net& n) {
  n.input = {6, 4};
  n.x = K::placeholder({.shape = {K::None, 4}});
  n.variables = {weights({4, 4})};
  const K::Tensor y = K::dot(n.x, n.variables[0]);
  const K::Tensor times = K::cast(K::sum(K::ones_like(y)) / 8.0, K::DType::int32);
  const K::Tensor cut = K::tile(y, {times, 1});
  n.out =
      K::switch_(K::greater(K::sum(y), 1e9), [&] { return cut * 2.0; }, [&] { return cut + 1.0; });
  n.loss = K::mean(K::square(y)) + K::sum(cut) * 0.0;
}

using Build = void (*)(Net&);

template <Build build>
struct Building final : Case {
  void act() override {
    net = {};
    build(net);
  }
  Numbers result() override {
    Numbers all;
    net.differentiate();
    net.compile();
    append(all, net.predict({ramp(net.input)})[0]);
    return all;
  }
  Net net;
};

template <Build build>
struct Differentiating final : Case {
  Differentiating() { build(net); }
  void act() override { net.differentiate(); }
  Numbers result() override {
    Numbers all;
    append(all, K::function({net.x}, {net.gradients[0]})({ramp(net.input)})[0]);
    return all;
  }
  Net net;
};

template <Build build>
struct Compiling final : Case {
  Compiling() {
    build(net);
    net.differentiate();
  }
  void act() override { net.compile(); }
  Numbers result() override {
    Numbers all;
    append(all, net.train({ramp(net.input)})[0]);
    append(all, net.predict({ramp(net.input)})[0]);
    return all;
  }
  Net net;
};

/// The first calls plan; those after them only run and commit.
template <Build build, int calls_before>
struct Training final : Case {
  Training() {
    build(net);
    net.differentiate();
    net.compile();
    for (int i = 0; i < calls_before; ++i) (void)net.train({ramp(net.input)});
  }
  void act() override { out = net.train({ramp(net.input)}); }
  Numbers result() override {
    Numbers all;
    append(all, out[0]);
    append(all, net.predict({ramp(net.input)})[0]);
    return all;
  }
  Numbers state() override { return net.values(); }
  Net net;
  K::Arrays out;
};

template <Build build, int calls_before>
struct Predicting final : Case {
  Predicting() {
    build(net);
    net.differentiate();
    net.compile();
    for (int i = 0; i < calls_before; ++i) (void)net.predict({ramp(net.input)});
  }
  void act() override { out = net.predict({ramp(net.input)}); }
  Numbers result() override {
    Numbers all;
    append(all, out[0]);
    return all;
  }
  Numbers state() override { return net.values(); }
  Net net;
  K::Arrays out;
};

struct Setting final : Case {
  Setting() : a(weights({70, 300})), b(weights({3})) {}
  void act() override {
    K::batch_set_value({{a, K::Array::full(K::DType::float64, {70, 300}, 2.5)},
                        {b, K::Array::full(K::DType::float32, {3}, 1.5)}});
  }
  Numbers result() override { return state(); }
  Numbers state() override {
    Numbers all;
    for (const K::Array& x : K::batch_get_value({a, b})) append(all, x);
    return all;
  }
  K::Variable a, b;
};

struct Clearing final : Case {
  Clearing() { build_dense(net); }
  void act() override {
    K::clear_session();
    value = K::eval(K::sum(net.variables[0]) + K::sum(K::random_uniform({3}, {.seed = 1})));
  }
  Numbers result() override { return {value.item<float>()}; }
  Numbers state() override { return net.values(); }
  Net net;
  K::Array value;
};

template <class C>
std::unique_ptr<Case> make() {
  return std::make_unique<C>();
}

struct Named {
  const char* name;
  std::unique_ptr<Case> (*make)();
};

const Named kCases[] = {
    {"build", make<Building<build_dense>>},
    {"build_loop", make<Building<build_recurrent>>},
    {"build_odd", make<Building<build_odd>>},
    {"gradients", make<Differentiating<build_dense>>},
    {"gradients_loop", make<Differentiating<build_recurrent>>},
    {"function", make<Compiling<build_dense>>},
    {"function_loop", make<Compiling<build_recurrent>>},
    {"first_call", make<Training<build_dense, 0>>},
    {"second_call", make<Training<build_dense, 1>>},
    {"first_call_conv", make<Training<build_conv, 0>>},
    {"second_call_conv", make<Training<build_conv, 1>>},
    {"first_call_loop", make<Training<build_recurrent, 0>>},
    {"second_call_loop", make<Training<build_recurrent, 1>>},
    {"first_call_wide", make<Training<build_wide, 0>>},
    {"second_call_wide", make<Training<build_wide, 1>>},
    {"first_call_odd", make<Predicting<build_odd, 0>>},
    {"second_call_odd", make<Predicting<build_odd, 1>>},
    {"set_value", make<Setting>},
    {"clear_session", make<Clearing>},
};

/// What a child tells its parent, in memory that they share.
struct Shared {
  std::atomic<int64_t> at;  // the request that is being refused
  std::atomic<int64_t> refusals, wrong, leaks;
  std::atomic<bool> done;
};

struct Expected {
  Numbers before, after, result;
};

/// One refusal; whether all that must hold does. `was_refused`: there was such a request.
bool refuse(const Named& c, int64_t n, bool and_all_after, const Expected& e, bool* was_refused) {
  std::unique_ptr<Case> test = c.make();
  const int64_t before = refusal.refused;
  refusal.left = n;
  refusal.and_all_after = and_all_after;
  bool threw = false;
  refusal.armed = true;
  try {
    test->act();
    refusal.armed = false;
  } catch (const std::exception&) {
    refusal.armed = false;
    threw = true;
  }
  *was_refused = refusal.refused > before;
  bool well = true;
  if (threw) {
    if (test->state() != e.before) {
      std::fprintf(stderr, "%s: request %ld refused: the state changed\n", c.name, long(n));
      well = false;
    }
    test->act();
  }
  // Where nothing was thrown, the program went on without: fewer threads, no compiled loop.
  if (test->result() != e.result || test->state() != e.after) {
    std::fprintf(stderr, "%s: request %ld refused: another result\n", c.name, long(n));
    well = false;
  }
  test.reset();
  K::clear_session();
  return well;
}

/// Where it ended, for whoever has to mend it.
void show_stack(int number) {
  refusal.armed = false;
  void* frames[24];
  backtrace_symbols_fd(frames, backtrace(frames, 24), 2);
  signal(number, SIG_DFL);
  raise(number);
}

/// In a child: refuses one request after another, from `first` on.
int refuse_all(const Named& c, int64_t first, int64_t stride, bool and_all_after, Shared& shared) {
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) signal(number, show_stack);
  Expected e;
  for (int i = 0; i < 8; ++i) {
    std::unique_ptr<Case> test = c.make();
    e.before = test->state();
    test->act();
    e.result = test->result();
    e.after = test->state();
    test.reset();
    K::clear_session();
  }
  find_spared();
  for (int64_t n = first;; n += stride) {
    shared.at = n;
    bool was_refused = false;
    // What grows with one refusal may be a cache; what grows with each is lost.
    int64_t grown = 0;
    for (int again = 0; again < 4; ++again) {
      const int64_t before = blocks_in_use;
      if (!refuse(c, n, and_all_after, e, &was_refused)) {
        ++shared.wrong;
        break;
      }
      if (!was_refused) {
        shared.done = true;
        return 0;
      }
      grown = blocks_in_use - before;
      if (grown <= 0) break;
    }
    ++shared.refusals;
    if (grown > 0) {
      std::fprintf(stderr, "%s: request %ld refused: %ld blocks are lost\n", c.name, long(n),
                   long(grown));
      ++shared.leaks;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  create_thread = reinterpret_cast<CreateThread*>(dlsym(RTLD_NEXT, "pthread_create"));
  setenv("HORNGATE_NUM_THREADS", "3", 0);
  const int64_t stride = soak::argument(argc, argv, "stride", 1);
  const char* only = nullptr;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
  soak::Report report("out_of_memory");
  int64_t refusals = 0, wrong = 0, leaks = 0, crashed = 0, hung = 0;
  auto* shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (const Named& c : kCases)
    for (const bool and_all_after : {false, true}) {
      if (only && std::strcmp(only, c.name) != 0) continue;
      int64_t first = 1;
      for (int ended = 0; ended < 20; ++ended) {  // a child that crashes is followed by another
        new (shared) Shared{};
        const pid_t pid = fork();
        if (pid == 0) _exit(refuse_all(c, first, stride, and_all_after, *shared));
        const soak::Ended how = soak::wait_for(pid, 1200);
        refusals += shared->refusals;
        wrong += shared->wrong;
        leaks += shared->leaks;
        if (shared->done) break;
        std::fprintf(stderr, "%s: request %ld%s refused: the process %s\n", c.name,
                     long(shared->at), and_all_after ? " and all after it" : "",
                     how == soak::Ended::hung ? "hangs" : "ends");
        ++(how == soak::Ended::hung ? hung : crashed);
        first = shared->at + stride;
      }
    }
  report.add("refusals", double(refusals));
  report.limit("wrong", double(wrong), 0);
  report.limit("leaks", double(leaks), 0);
  report.limit("crashed", double(crashed), 0);
  report.limit("hung", double(hung), 0);
  return report.finish();
}
