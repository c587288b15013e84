// Compiled loops against the block kernels: one source, so the same bits.
#include <sys/mman.h>

#include "engines/native/fused/machine.h"
#include "engines/native/jit/code.h"
#include "engines/native/jit/lower.h"
#include "fused_random.h"
#include "ir/switches.h"

namespace horngate::native::fused {
namespace {

/// With and without compiled code.
template <class F>
void for_each_way(F f) {
  for (const bool compiled : {false, true}) {
    set_without(compiled ? "" : "jit");
    f(compiled);
  }
}

/// Numbers of all sizes, and special ones.
template <class T>
std::vector<T> mixed(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  constexpr double kSpecial[] = {0.0,  -0.0, INFINITY, -INFINITY, NAN,   1e-40, -1e-40, 88.7,
                                 -104, 89,   3e38,     -3e38,     1e-30, 22,    -1,     0.5};
  std::vector<T> x(n);
  for (size_t i = 0; i < n; ++i) {
    x[i] = static_cast<T>(normal(random) * (i % 3 == 0 ? 40 : 2));
    if (i % 7 == 3) x[i] = static_cast<T>(kSpecial[random() % std::size(kSpecial)]);
  }
  return x;
}

constexpr Prim kUnary[] = {
#define UNARY(name, cost) Prim::name,
#define BINARY(name, cost)
#define PRIM(name, how, attributes)
#include "ir/prims.def"
};
/// Of those on floats, whether compiled loops have it.
bool is_compiled(Prim prim) {
  switch (prim) {
#define BLOCKS_ONLY(name, loop, functor) case Prim::name:
#include "engines/native/fused/float_ops.def"
    case Prim::mod:
    case Prim::floordiv: return false;
    default: return true;
  }
}
constexpr Prim kBinary[] = {Prim::add, Prim::sub,     Prim::mul,     Prim::div,
                            Prim::mod, Prim::maximum, Prim::minimum, Prim::pow};
constexpr Prim kCompare[] = {Prim::eq, Prim::ne, Prim::lt, Prim::le, Prim::gt, Prim::ge};

/// `length` instructions on four inputs (see outputs()); some results are outputs.
Program random_program(Random& random, DType dtype, int length, bool with_rest) {
  ProgramBuilder b;
  std::vector<Reg> values = {b.input(dtype), b.input(dtype),          b.input(dtype),
                             b.input(dtype), b.constant(1.25, dtype), b.constant(-0.5, dtype)};
  std::vector<Reg> bools;
  const auto any = [&] {
    return values[static_cast<size_t>(random(0, static_cast<int64_t>(values.size()) - 1))];
  };
  const auto any_bool = [&] {
    if (bools.empty()) return b.op(Prim::lt, dtype, values[0], values[1]);
    return bools[static_cast<size_t>(random(0, static_cast<int64_t>(bools.size()) - 1))];
  };
  for (int i = 0; i < length; ++i) {
    const int64_t kind = random(0, 99);
    if (kind < 35) {
      const Prim prim = kUnary[random(0, std::size(kUnary) - 1)];
      if (prim == Prim::logical_not || (!is_compiled(prim) && !with_rest)) continue;
      values.push_back(b.op(prim, dtype, any()));
    } else if (kind < 75) {
      const Prim prim = kBinary[random(0, std::size(kBinary) - 1)];
      if (!is_compiled(prim) && !with_rest) continue;
      values.push_back(b.op(prim, dtype, any(), any()));
    } else if (kind < 82) {
      bools.push_back(b.op(kCompare[random(0, std::size(kCompare) - 1)], dtype, any(), any()));
    } else if (kind < 88) {
      constexpr Prim kLogical[] = {Prim::logical_and, Prim::logical_or, Prim::logical_not};
      const Prim prim = kLogical[random(0, 2)];
      bools.push_back(
          b.op(prim, DType::bool_, any_bool(), prim == Prim::logical_not ? kNone : any_bool()));
    } else if (kind < 95) {
      values.push_back(b.op(Prim::select, dtype, any_bool(), any(), any()));
    } else {
      values.push_back(b.cast(any_bool(), dtype));
    }
  }
  b.output(values.back());
  b.output(any());
  if (random.chance(30) && !bools.empty()) b.output(bools.back());
  return b.build();
}

/// Outputs of a program on an extent of (rows, cols); the second and third input are one value per row, the fourth is
/// one in all.
std::vector<std::vector<unsigned char>> outputs(const Program& p, int64_t rows, int64_t cols,
                                                const void* x, const void* y, bool in_place) {
  std::vector<Access> out(p.outputs.size(), Access{{cols, 1}, 0});
  const auto group = Group::make(p, Ints{rows, cols},
                                 {{{cols, 1}, 0}, {{1, 0}, 0}, {{1, 0}, rows}, {{0, 0}, 5}}, out);
  std::vector<std::vector<unsigned char>> results;
  std::vector<void*> pointers;
  for (const Output& o : p.outputs)
    results.emplace_back(static_cast<size_t>(rows * cols) * size_of(o.dtype) + 8, 0xee);
  for (auto& r : results) pointers.push_back(r.data());
  if (in_place) {
    std::memcpy(results[0].data(), x, results[0].size() - 8);
    x = results[0].data();
  }
  run(*group, {x, y, y, y}, pointers);
  return results;
}

template <class T>
void check_random(DType dtype, int programs) {
  Random random(11);
  const std::vector<T> x = mixed<T>(4000, 1), y = mixed<T>(8000, 2);
  for (int k = 0; k < programs; ++k) {
    const int length = static_cast<int>(random(2, k % 10 == 0 ? 100 : 20));
    const Program p = random_program(random, dtype, length, k % 5 == 0);
    const int64_t cols = random(1, 700), rows = random(1, 4000 / cols);
    const bool in_place = random.chance(30);
    for_each_simd([&] {
      std::vector<std::vector<unsigned char>> want;
      for_each_way([&](bool compiled) {
        const auto got = outputs(p, rows, cols, x.data(), y.data(), in_place);
        if (!compiled) {
          want = got;
          return;
        }
        for (size_t o = 0; o < got.size(); ++o) {
          const size_t size = size_of(p.outputs[o].dtype);
          for (size_t i = 0; i < got[o].size() / size; ++i) {
            if (std::memcmp(&got[o][i * size], &want[o][i * size], size) == 0) continue;
            T a = 0, b = 0;
            if (size == sizeof(T)) {
              std::memcpy(&a, &got[o][i * size], size);
              std::memcpy(&b, &want[o][i * size], size);
            }
            // NaN has many forms.
            ASSERT_TRUE(size == sizeof(T) && a != a && b != b)
                << "program " << k << ", output " << o << ", element " << i << " of " << rows
                << " x " << cols << ": " << a << " and " << b;
          }
        }
      });
    });
  }
}

TEST(Jit, GivesTheSameBitsInFloat32) { check_random<float>(DType::float32, 400); }
TEST(Jit, GivesTheSameBitsInFloat64) { check_random<double>(DType::float64, 300); }

TEST(Jit, IsUsed) {
  ProgramBuilder b;
  const Reg x = b.input(DType::float32);
  b.output(b.op(Prim::tanh, DType::float32, b.op(Prim::mul, DType::float32, x, x)));
  const Program p = b.build();
  Space space;
  space.extent = {1000};
  space.reduced = {false};
  space.stride = {{1}, {1}};
  space.offset = {0, 0};
  for_each_simd([&] {
    const std::string target = simd_target();
    const bool expected = target == "avx2" || target == "avx512";
    for_each_way([&](bool compiled) {
      EXPECT_EQ(Machine(p, space, 0).is_compiled(), compiled && expected);
    });
  });
}

// An optimizer's factor: what is the same for all elements may be anything, also what has no
// compiled form.
TEST(Jit, UniformValuesAreComputedOnce) {
  ProgramBuilder b;
  const DType f32 = DType::float32;
  const Reg x = b.input(f32), step = b.input(DType::int64);
  const Reg power = b.op(Prim::pow, f32, b.constant(0.9, f32), b.cast(step, f32));
  b.output(b.op(Prim::sub, f32, b.op(Prim::exp, f32, x), b.op(Prim::mul, f32, power, x)));
  const Program p = b.build();
  Space space;
  space.extent = {1000};
  space.reduced = {false};
  space.stride = {{1}, {0}, {1}};
  space.offset = {0, 0, 0};
  const std::vector<float> in = mixed<float>(1000, 8);
  const int64_t t = 5;
  for_each_simd([&] {
    std::vector<float> want(1000), got(1000);
    for_each_way([&](bool compiled) {
      const std::string target = simd_target();
      const bool expected = compiled && (target == "avx2" || target == "avx512");
      EXPECT_EQ(Machine(p, space, 0).is_compiled(), expected);
      run(*Group::make(p, Ints{1000}, {{{1}, 0}, {{0}, 0}}, {{{1}, 0}}), {in.data(), &t},
          {compiled ? got.data() : want.data()});
    });
    for (size_t i = 0; i < 1000; ++i) ASSERT_TRUE(same(got[i], want[i])) << i;
  });
}

TEST(Jit, ElementsDoNotDependOnTheirPlace) {
  ProgramBuilder b;
  const Reg x = b.input(DType::float32);
  const Reg e = b.op(Prim::exp, DType::float32, x), l = b.op(Prim::log1p, DType::float32, x);
  b.output(b.op(Prim::div, DType::float32, e, l));
  const Program p = b.build();
  const std::vector<float> in = mixed<float>(6000, 3);
  std::vector<float> whole(in.size()), part(in.size());
  run(*flat_group(p, 6000), {in.data()}, {whole.data()});
  for (int64_t n : {128, 129, 143, 144, 200, 4097}) {
    for (size_t start : {0, 1, 7}) {
      std::fill(part.begin(), part.end(), 7.0f);
      run(*flat_group(p, n), {in.data() + start}, {part.data()});
      for (int64_t i = 0; i < n; ++i)
        ASSERT_TRUE(same(part[static_cast<size_t>(i)], whole[start + static_cast<size_t>(i)]));
      ASSERT_EQ(part[static_cast<size_t>(n)], 7.0f) << "written past the end";
    }
  }
}

// Half types and small integers are converted where they are loaded and stored.
TEST(Jit, ConvertsStoredTypes) {
  for (DType in : {DType::float16, DType::bfloat16, DType::int8, DType::uint8, DType::int16,
                   DType::uint16, DType::int32, DType::bool_}) {
    for (DType out : {DType::float16, DType::bfloat16, DType::float32, DType::bool_}) {
      ProgramBuilder b;
      const Reg x = b.cast(b.input(in), DType::float32);
      const Reg y = b.op(Prim::mul, DType::float32, x, b.constant(1.7, DType::float32));
      b.output(b.cast(b.op(Prim::add, DType::float32, y, x), out));
      const Program p = b.build();
      std::vector<unsigned char> data(1100 * 4);
      std::mt19937 random(5);
      for (auto& byte : data)
        byte = static_cast<unsigned char>(in == DType::bool_ ? random() & 1 : random());
      for_each_simd([&] {
        std::vector<unsigned char> want(1100 * 4 + 8, 1), got = want;
        for_each_way([&](bool compiled) {
          run(*flat_group(p, 1077), {data.data()}, {compiled ? got.data() : want.data()});
        });
        EXPECT_EQ(got, want) << name_of(in) << " to " << name_of(out);
      });
    }
  }
}

/// Machine code beside its interpreter, which shares nothing with the assembler, the registers and the schedule.
template <class T>
void check_interpreted(DType dtype) {
  set_verified(true);
  Random random(23);
  const std::vector<T> x = mixed<T>(2000, 5), y = mixed<T>(4000, 6);
  for (int k = 0; k < 200; ++k) {
    const Program p = random_program(random, dtype, static_cast<int>(random(2, 30)), k % 5 == 0);
    const int64_t cols = random(1, 300), rows = random(1, 2000 / cols);
    for_each_simd([&] {
      (void)outputs(p, rows, cols, x.data(), y.data(), random.chance(30));
      ASSERT_EQ(jit::take_difference(), "") << "program " << k;
    });
  }
  set_verified(false);
}
TEST(Jit, MachineCodeDoesWhatTheMicroCodeSays) {
  check_interpreted<float>(DType::float32);
  check_interpreted<double>(DType::float64);
}

/// Micro code with sums of products in all places, which programs have only in a few forms.
jit::Recording random_micro(Random& random, jit::Isa isa, DType dtype) {
  using jit::MicroOp;
  jit::Recording r(isa, static_cast<int>(size_of(dtype)));
  std::vector<jit::Id> values;
  for (uint16_t i = 0; i < 3; ++i) values.push_back(jit::lower_load(r, dtype, i));
  for (uint16_t i = 3; i < 5; ++i)
    values.push_back(r.add({.op = MicroOp::uniform, .operand = i, .dtype = dtype}));
  const auto any = [&] {
    return values[static_cast<size_t>(random(0, static_cast<int64_t>(values.size()) - 1))];
  };
  constexpr MicroOp kOps[] = {MicroOp::fmadd, MicroOp::fmsub, MicroOp::fnmadd, MicroOp::add,
                              MicroOp::mul};
  const int64_t length = random(2, 12);
  for (int64_t i = 0; i < length; ++i) {
    const MicroOp op = kOps[random(0, std::size(kOps) - 1)];
    const jit::Id a = any(), b = any();
    const bool adds = op != MicroOp::add && op != MicroOp::mul;
    values.push_back(r.add({.op = op, .a = a, .b = b, .c = adds ? any() : jit::kNoId}));
  }
  jit::lower_store(r, dtype, 5, values.back());
  jit::lower_store(r, dtype, 6, any());
  return r;
}

TEST(Jit, SumsOfProductsInAllPlaces) {
  Random random(41);
  std::vector<jit::Isa> sets;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    sets.push_back(jit::Isa::avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    sets.push_back(jit::Isa::avx512);
  constexpr size_t kCount = 37;
  for (const jit::Isa isa : sets)
    for (const DType dtype : {DType::float32, DType::float64})
      for (int k = 0; k < 500; ++k) {
        const jit::Recording r = random_micro(random, isa, dtype);
        const jit::Binary binary = jit::emit(r);
        if (binary.bytes.empty()) continue;
        const std::unique_ptr<jit::Code> code = jit::Code::make(binary);
        ASSERT_TRUE(code);
        code->check(r);
        std::vector<std::vector<double>> memory(7, std::vector<double>(kCount + 16));
        std::vector<void*> pointers;
        for (auto& m : memory) {
          for (size_t i = 0; i < m.size(); ++i) {
            const double x = static_cast<double>(random(-999, 999)) / 256;
            if (dtype == DType::float64)
              m[i] = x;
            else
              reinterpret_cast<float*>(m.data())[i] = static_cast<float>(x);
          }
          pointers.push_back(m.data());
        }
        code->run(pointers.data(), kCount, 0);
        ASSERT_EQ(jit::take_difference(), "") << "micro code " << k;
      }
}

TEST(Jit, ADifferenceIsNoticed) {
  jit::Recording r(jit::Isa::avx2, 4);
  jit::lower_store(r, DType::float32, 1, jit::lower_load(r, DType::float32, 0));
  const jit::Interpreter interpreter(r);
  std::vector<float> in(5, 2.0f), out(5, 2.0f);
  void* pointers[] = {in.data(), out.data()};
  const auto expected = interpreter.expect(pointers, 5);
  interpreter.compare(expected, pointers, 5);
  EXPECT_EQ(jit::take_difference(), "");
  out[3] = 2.5f;
  interpreter.compare(expected, pointers, 5);
  EXPECT_NE(jit::take_difference().find("operand 1, element 3 of 5"), std::string::npos);
  EXPECT_EQ(jit::take_difference(), "");
}

/// The addresses of values that are one per row share a general register: the second address must not be looked up
/// before the first was used.
TEST(Jit, AProductAndASumOfValuesOfTheRow) {
  constexpr int64_t kCount = 128;
  ProgramBuilder b;
  const Reg x = b.input(DType::float32), s = b.input(DType::float32), t = b.input(DType::float32);
  const Reg l = b.op(Prim::log, DType::float32, x);
  b.output(l);
  b.output(b.op(Prim::add, DType::float32, b.op(Prim::mul, DType::float32, l, s), t));
  const Program p = b.build();
  const std::vector<float> in = mixed<float>(kCount, 3);
  const float factor = 0.75f, summand = -0.25f;
  for_each_simd([&] {
    for_each_way([&](bool compiled) {
      std::vector<float> first(kCount), second(kCount);
      run(*Group::make(p, {kCount}, {{{1}, 0}, {{0}, 0}, {{0}, 0}}, {{{1}, 0}, {{1}, 0}}),
          {in.data(), &factor, &summand}, {first.data(), second.data()});
      for (size_t i = 0; i < kCount; ++i) {
        const double want = double{first[i]} * factor + summand;
        if (!std::isfinite(want)) continue;
        ASSERT_NEAR(second[i], want, 1e-5) << "compiled " << compiled << ", element " << i;
      }
    });
  });
}

// More live values than registers.
TEST(Jit, SpillsRegisters) {
  ProgramBuilder b;
  const Reg x = b.input(DType::float32);
  std::vector<Reg> values;
  for (int i = 0; i < 50; ++i)
    values.push_back(b.op(Prim::mul, DType::float32, x, b.constant(i + 0.5, DType::float32)));
  for (int i = 0; i < 50; ++i)
    values[static_cast<size_t>(i)] =
        b.op(Prim::maximum, DType::float32, values[static_cast<size_t>(i)],
             b.op(Prim::sub, DType::float32, values[static_cast<size_t>((i + 7) % 50)], x));
  Reg sum = values[0];
  for (size_t i = values.size(); i-- > 1;) sum = b.op(Prim::add, DType::float32, sum, values[i]);
  b.output(sum);
  const Program p = b.build();
  const std::vector<float> in = mixed<float>(500, 4);
  for_each_simd([&] {
    std::vector<float> want(500), got(500);
    for_each_way([&](bool compiled) {
      run(*flat_group(p, 500), {in.data()}, {compiled ? got.data() : want.data()});
    });
    for (size_t i = 0; i < 500; ++i) ASSERT_TRUE(same(got[i], want[i])) << i;
  });
}

/// Memory that ends where nothing may be touched.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes) {
    page_ = static_cast<char*>(
        mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(page_ + kPage, kPage, PROT_NONE);
  }
  ~Guarded() { munmap(page_, 2 * kPage); }
  Guarded(const Guarded&) = delete;
  void* data() const { return page_ + kPage - bytes_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t bytes_;
  char* page_;
};

TEST(Jit, TouchesNothingBehindTheEnd) {
  for (DType in : {DType::float32, DType::float16, DType::uint8, DType::bool_}) {
    for (DType out : {DType::float32, DType::float16, DType::bfloat16, DType::bool_}) {
      ProgramBuilder b;
      const Reg x = b.cast(b.input(in), DType::float32);
      b.output(b.cast(b.op(Prim::exp, DType::float32, b.op(Prim::neg, DType::float32, x)), out));
      const Program p = b.build();
      for (size_t n : {129u, 135u, 143u, 159u}) {
        const Guarded from(n * size_of(in)), to(n * size_of(out));
        for_each_simd(
            [&] { run(*flat_group(p, static_cast<int64_t>(n)), {from.data()}, {to.data()}); });
        float last = 1;
        if (out == DType::float32)
          std::memcpy(&last, static_cast<char*>(to.data()) + 4 * (n - 1), 4);
        EXPECT_EQ(last, 1.0f);  // exp(0)
      }
    }
  }
}

// More arrays than address registers.
TEST(Jit, ManyArrays) {
  const DType f32 = DType::float32;
  ProgramBuilder b;
  std::vector<Reg> inputs;
  for (int i = 0; i < kMaxInputs; ++i) inputs.push_back(b.input(f32));
  Reg sum = inputs[0];
  for (int i = 1; i < kMaxInputs; ++i) {
    sum = b.op(Prim::add, f32, b.op(Prim::mul, f32, sum, b.constant(0.7, f32)),
               inputs[static_cast<size_t>(i)]);
    if (i % 3 == 0) b.output(sum);
  }
  const Program p = b.build();
  std::vector<std::vector<float>> in;
  std::vector<const void*> from;
  for (int i = 0; i < kMaxInputs; ++i) in.push_back(mixed<float>(333, static_cast<uint64_t>(i)));
  for (const auto& x : in) from.push_back(x.data());
  for_each_simd([&] {
    std::vector<std::vector<float>> out(2 * p.outputs.size(), std::vector<float>(334, -7.0f));
    for_each_way([&](bool compiled) {
      std::vector<void*> to;
      for (size_t o = 0; o < p.outputs.size(); ++o)
        to.push_back(out[compiled ? p.outputs.size() + o : o].data());
      run(*flat_group(p, 333), from, to);
    });
    for (size_t o = 0; o < p.outputs.size(); ++o)
      for (size_t i = 0; i < 334; ++i)
        ASSERT_TRUE(same(out[o][i], out[p.outputs.size() + o][i])) << o << ", " << i;
  });
}

TEST(Jit, EqualProgramsShareCode) {
  jit::Recording a(jit::Isa::avx512, 4), b(jit::Isa::avx512, 4);
  for (jit::Recording* r : {&a, &b}) {
    const jit::Id x = jit::lower_load(*r, DType::float32, 0);
    const Instr exp = {Op::exp, Lane::f32, Lane::f32};
    jit::lower_store(*r, DType::float32, 1, jit::lower(*r, exp, x, jit::kNoId, jit::kNoId));
  }
  const auto first = jit::compile(a), second = jit::compile(b);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first, second);
}

// Programs come and go: those that are gone make room.
TEST(Jit, CodesThatNobodyHoldsMakeRoom) {
  uint32_t number = 0;
  const auto next = [&] {
    jit::Recording r(jit::Isa::avx512, 4);
    const float value = static_cast<float>(++number);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    const jit::Id x = jit::lower_load(r, DType::float32, 0);
    const Instr add = {Op::add, Lane::f32, Lane::f32};
    jit::lower_store(r, DType::float32, 1,
                     jit::lower(r, add, x, jit::lower_constant(r, Lane::f32, bits), jit::kNoId));
    return jit::compile(r);
  };
  const size_t before = jit::code_count();
  std::vector<std::shared_ptr<const jit::Code>> held;
  for (int i = 0; i < 9000; ++i) held.push_back(next());
  EXPECT_NE(held.back(), nullptr);
  EXPECT_EQ(jit::code_count(), before + 9000);
  for (int i = 0; i < 16000; ++i) ASSERT_NE(next(), nullptr) << i;
  EXPECT_EQ(jit::code_count(), before + 9000);
  // More than may be alive at once: the rest runs without.
  while (held.size() < 20000 && held.back()) held.push_back(next());
  EXPECT_EQ(held.back(), nullptr);
  held.clear();
  EXPECT_EQ(jit::code_count(), before);
  EXPECT_NE(next(), nullptr);
}

}  // namespace
}  // namespace horngate::native::fused
