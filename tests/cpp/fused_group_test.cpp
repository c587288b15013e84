// Fused groups: iteration spaces, sharing of memory, threads, programs, multi-groups.
#include <sys/mman.h>

#include "fused_random.h"
#include "horngate/error.h"

namespace horngate::native::fused {
namespace {

constexpr DType f32 = DType::float32;

TEST(FusedGroup, RandomSpaces) {
  for (int seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<uint64_t>(seed));
    const Case c(random);
    ProgramBuilder builder;
    const std::vector<Reg> regs = c.build(builder);
    std::vector<Array> out;
    std::vector<size_t> value;
    std::vector<Access> accesses;
    for (int64_t i = random(1, 3); i > 0; --i) {
      value.push_back(static_cast<size_t>(random(0, static_cast<int64_t>(c.values()) - 1)));
      out.emplace_back(random, c.dtype, c.extent, std::vector<bool>(c.extent.size(), false));
      accesses.push_back(out.back().access);
      builder.output(regs[value.back()]);
    }
    const Program program = builder.build();
    std::vector<Array> expected = out;
    for_each_index(c.extent, [&](const Ints& index) {
      const std::vector<double> v = c.evaluate(index);
      for (size_t o = 0; o < out.size(); ++o)
        expected[o].set(expected[o].offset(index), v[value[o]]);
    });
    for_each_simd([&] {
      std::vector<Array> got = out;
      std::vector<void*> pointers;
      for (Array& a : got) pointers.push_back(a.bytes.data());
      run(*Group::make(program, c.extent, c.in_accesses(), accesses), c.in_pointers(), pointers);
      // All bytes: what lies between the elements must not change either.
      for (size_t o = 0; o < got.size(); ++o) ASSERT_EQ(got[o].bytes, expected[o].bytes) << o;
    });
    if (HasFatalFailure()) return;
  }
}

// Updates in place: every output has the memory of an input.
TEST(FusedGroup, OutputsMayShareMemoryWithInputs) {
  for_each_simd([] {
    for (int64_t n : {1, 5, 100, 3000}) {
      std::vector<float> a(static_cast<size_t>(n)), b(a.size());
      for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i), b[i] = 2.0f * a[i] + 1;
      const std::vector<float> a0 = a, b0 = b;
      ProgramBuilder builder;
      const Reg x = builder.input(f32), y = builder.input(f32);
      const Reg sum = builder.op(Prim::add, f32, x, y);
      builder.output(sum);                                 // over y, before x and y are done with
      builder.output(builder.op(Prim::sub, f32, y, sum));  // over x
      run(*flat_group(builder.build(), n), {a.data(), b.data()}, {b.data(), a.data()});
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(b[i], a0[i] + b0[i]);
        ASSERT_EQ(a[i], -a0[i]);
      }
      ProgramBuilder swap;
      const Reg p = swap.input(f32), q = swap.input(f32);
      swap.output(q);
      swap.output(p);
      a = a0, b = b0;
      run(*flat_group(swap.build(), n), {a.data(), b.data()}, {a.data(), b.data()});
      ASSERT_EQ(a, b0);
      ASSERT_EQ(b, a0);
    }
  });
}

TEST(FusedGroup, ManyValuesAtOnce) {
  for_each_simd([] {
    const int64_t n = 2000;
    ProgramBuilder builder;
    std::vector<std::vector<double>> x(16, std::vector<double>(static_cast<size_t>(n)));
    std::vector<const void*> in;
    std::vector<Reg> regs;
    for (size_t k = 0; k < x.size(); ++k) {
      for (size_t i = 0; i < x[k].size(); ++i) x[k][i] = static_cast<double>(i % 7 + k);
      regs.push_back(builder.input(DType::float64));
      in.push_back(x[k].data());
    }
    // 56 products that all live until they are added up from the last.
    std::vector<Reg> products;
    for (size_t k = 0; k < 56; ++k)
      products.push_back(
          builder.op(Prim::mul, DType::float64, regs[k % 16], regs[(k * 3 + k / 16) % 16]));
    Reg sum = products.back();
    for (size_t k = products.size() - 1; k-- > 0;)
      sum = builder.op(Prim::maximum, DType::float64,
                       builder.op(Prim::add, DType::float64, products[k], sum), products[k]);
    builder.output(sum);
    std::vector<double> out(static_cast<size_t>(n));
    run(*flat_group(builder.build(), n), in, {out.data()});
    for (size_t i = 0; i < out.size(); ++i) {
      double want = 0;
      for (size_t k = 0; k < 56; ++k) want += x[k % 16][i] * x[(k * 3 + k / 16) % 16][i];
      ASSERT_EQ(out[i], want);
    }
  });
}

// A constant, and inputs that are the same in a whole row or in all rows.
TEST(FusedGroup, WhatDoesNotChangeInARow) {
  for_each_simd([] {
    for (int64_t columns : {3, 100, 700, 5000}) {
      const int64_t rows = 9;
      std::vector<float> x(static_cast<size_t>(rows * columns)), per_row(9), per_column(x.size()),
          out(x.size());
      float scale = 3;
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i % 11), per_column[i] = static_cast<float>(i % 5);
      for (size_t i = 0; i < 9; ++i) per_row[i] = static_cast<float>(i);
      ProgramBuilder b;
      const Reg vx = b.input(f32), vr = b.input(f32), vc = b.input(f32), vs = b.input(f32);
      const Reg row_part =
          b.op(Prim::maximum, f32, b.op(Prim::mul, f32, vr, vs), b.constant(2, f32));
      const Reg column_part =
          b.op(Prim::maximum, f32, b.op(Prim::mul, f32, vc, vs), b.constant(1, f32));
      b.output(b.op(Prim::add, f32, b.op(Prim::mul, f32, vx, row_part), column_part));
      b.output(row_part);
      std::vector<float> rows_out(x.size());
      const auto group =
          Group::make(b.build(), {rows, columns}, {{{columns, 1}}, {{1, 0}}, {{0, 1}}, {{0, 0}}},
                      {{{columns, 1}}, {{columns, 1}}});
      run(*group, {x.data(), per_row.data(), per_column.data(), &scale},
          {out.data(), rows_out.data()});
      for (size_t i = 0; i < x.size(); ++i) {
        const size_t r = i / static_cast<size_t>(columns), c = i % static_cast<size_t>(columns);
        const float row = std::max(per_row[r] * scale, 2.0f);
        ASSERT_EQ(out[i], x[i] * row + std::max(per_column[c] * scale, 1.0f));
        ASSERT_EQ(rows_out[i], row);
      }
    }
  });
}

// Arrays that end where the accessible memory ends.
TEST(FusedGroup, NothingIsTouchedPastTheEnd) {
  const size_t page = 4096;
  const auto at_end = [&](size_t bytes) {
    char* p = static_cast<char*>(
        mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(p + 2 * page, page, PROT_NONE);
    return std::pair<char*, char*>(p, p + 2 * page - bytes);
  };
  for_each_simd([&] {
    for (int t = 0; t < kDTypeCount; ++t)
      for (size_t n : {1, 2, 5, 15, 17, 31, 33, 63, 65, 127, 200}) {
        const DType dtype = static_cast<DType>(t);
        const auto x = at_end(n * size_of(dtype)), y = at_end(n * size_of(dtype));
        const auto truth = at_end(n), picked = at_end(n * size_of(dtype)), sum = at_end(8);
        ProgramBuilder b;
        const Reg u = b.input(dtype), v = b.input(dtype);
        const Reg less = b.op(Prim::lt, dtype, u, v);
        b.output(less);
        b.output(b.op(Prim::select, dtype, less, u, b.op(Prim::add, dtype, u, v)));
        b.reduce_output(u, Prim::reduce_sum);
        const auto group = Group::make(b.build(), {static_cast<int64_t>(n)}, {{{1}}, {{1}}},
                                       {{{1}}, {{1}}, {{0}}}, {true});
        run(*group, {x.second, y.second}, {truth.second, picked.second, sum.second});
        for (char* p : {x.first, y.first, truth.first, picked.first, sum.first})
          munmap(p, 3 * page);
      }
  });
}

TEST(FusedGroup, ThreadsDoNotMatter) {
  std::vector<float> x(400000), out1(x.size()), out2(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 1e-5f;
  ProgramBuilder b;
  const Reg r = b.input(f32);
  b.output(b.op(Prim::mul, f32, b.op(Prim::exp, f32, r), b.op(Prim::tanh, f32, r)));
  const auto group = flat_group(b.build(), 400000);
  set_thread_count(1);
  run(*group, {x.data()}, {out1.data()});
  set_thread_count(5);
  run(*group, {x.data()}, {out2.data()});
  set_thread_count(0);
  EXPECT_EQ(out1, out2);
}

TEST(FusedProgram, SharesFoldsAndCombines) {
  ProgramBuilder b;
  const Reg x = b.input(f32), y = b.input(f32);
  const Reg product = b.op(Prim::mul, f32, x, y);
  EXPECT_EQ(product, b.op(Prim::mul, f32, y, x));
  b.op(Prim::exp, f32, x);  // not used
  const Reg six = b.op(Prim::mul, f32, b.constant(2.0, f32), b.constant(3.0, f32));
  b.output(b.op(Prim::add, f32, product, six));
  EXPECT_EQ(b.instruction_count(), 3);
  const Program p = b.build();
  ASSERT_EQ(p.code.size(), 2u);
  EXPECT_EQ(p.code[0].op, Op::mul);
  EXPECT_EQ(p.code[1].op, Op::add);
  ASSERT_EQ(p.constants.size(), 1u);
  EXPECT_EQ(p.constants[0].bits, 0x40c00000u);

  ProgramBuilder other;
  const Reg u = other.input(f32), v = other.input(f32);
  const Reg uv =
      other.op(Prim::mul, f32, u, v);  // the compiler may evaluate arguments in any order
  other.output(other.op(Prim::add, f32, uv, other.constant(6, f32)));
  const Program same_program = other.build();
  EXPECT_EQ(p, same_program);
  EXPECT_EQ(p.hash(), same_program.hash());
}

TEST(FusedProgram, ConstantsAndScalarsAsOutputs) {
  for (int64_t n : {1, 100, 5000}) {
    const float scalar = 4;
    ProgramBuilder b;
    const Reg c = b.op(Prim::add, f32, b.constant(1, f32), b.constant(2.5, f32));
    const Reg s = b.op(Prim::mul, f32, b.input(f32), c);
    b.output(c);
    b.output(s);
    b.reduce_output(c, Prim::reduce_sum);
    b.reduce_output(s, Prim::reduce_max);
    std::vector<float> constants(static_cast<size_t>(n)), scaled(constants.size());
    float sum, largest;
    const auto group =
        Group::make(b.build(), {n}, {{{0}}}, {{{1}}, {{-1}, n - 1}, {{0}}, {{0}}}, {true});
    run(*group, {&scalar}, {constants.data(), scaled.data(), &sum, &largest});
    EXPECT_EQ(constants, std::vector<float>(static_cast<size_t>(n), 3.5f));
    EXPECT_EQ(scaled, std::vector<float>(static_cast<size_t>(n), 14));
    EXPECT_EQ(sum, 3.5f * static_cast<float>(n));
    EXPECT_EQ(largest, 14);
  }
}

TEST(FusedProgram, CombinedSigns) {
  const float a[] = {3}, c[] = {5}, d[] = {100};
  const auto check = [&](auto make, std::vector<Op> ops, float want) {
    ProgramBuilder b;
    const Reg x = b.input(f32), y = b.input(f32), z = b.input(f32);
    b.output(make(b, b.op(Prim::mul, f32, x, y), z));
    const Program p = b.build();
    ASSERT_EQ(p.code.size(), ops.size());
    for (size_t i = 0; i < ops.size(); ++i) EXPECT_EQ(p.code[i].op, ops[i]);
    float out;
    run(*flat_group(p, 1), {a, c, d}, {&out});
    EXPECT_EQ(out, want);
  };
  using B = ProgramBuilder;
  check([](B& b, Reg m, Reg) { return b.op(Prim::neg, f32, m); }, {Op::nmul}, -15);
  check([](B& b, Reg m, Reg z) { return b.op(Prim::add, f32, b.op(Prim::neg, f32, m), z); },
        {Op::mul, Op::sub}, 85);
  check([](B& b, Reg m, Reg z) { return b.op(Prim::add, f32, z, b.op(Prim::neg, f32, m)); },
        {Op::mul, Op::sub}, 85);
  check([](B& b, Reg m, Reg z) { return b.op(Prim::sub, f32, z, b.op(Prim::neg, f32, m)); },
        {Op::mul, Op::add}, 115);
}

TEST(FusedProgram, CombinedRadials) {
  // exp(-(x * y)): one instruction, the same numbers as step by step.
  constexpr int64_t n = 37;
  std::vector<float> x(n), y(n), radial(n);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = 0.3f * static_cast<float>(i) - 5.0f;
    y[i] = 2.0f - 0.11f * static_cast<float>(i);
  }
  ProgramBuilder b;
  const Reg rx = b.input(f32), ry = b.input(f32);
  b.output(b.op(Prim::exp, f32, b.op(Prim::neg, f32, b.op(Prim::mul, f32, rx, ry))));
  const Program p = b.build();
  ASSERT_EQ(p.code.size(), 1u);
  EXPECT_EQ(p.code[0].op, Op::exp_nmul);
  run(*flat_group(p, n), {x.data(), y.data()}, {radial.data()});
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(radial[i], std::exp(-double{x[i] * y[i]}), 2e-6 * std::exp(-double{x[i] * y[i]}));
}

// A value has the same bits wherever a plan computes it: alone, and beside others that use its parts.
TEST(FusedProgram, SumsHaveTheBitsOfTheirParts) {
  constexpr int64_t n = 1000;
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    std::vector<double> x(n), y(n), z(n), alone(n), beside(n), part(n);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(static_cast<double>(i)) * 3;
      y[i] = std::cos(static_cast<double>(7 * i));
      z[i] = std::sin(static_cast<double>(3 * i)) * 2;
    }
    for (int kind = 0; kind < 6; ++kind) {
      const auto make = [&](ProgramBuilder& b, bool with_part) {
        Reg in[3];
        for (Reg& r : in) r = b.input(DType::float64);
        for (Reg& r : in) r = b.cast(r, dtype);
        const auto op = [&](Prim p, Reg u, Reg v = fused::kNone) { return b.op(p, dtype, u, v); };
        Reg p = kind < 4 ? op(Prim::mul, in[0], in[1])
                         : op(Prim::mul, op(Prim::sigmoid, in[0]), op(Prim::tanh, in[1]));
        if (kind == 3) p = op(Prim::neg, p);
        const Reg sum = kind == 1   ? op(Prim::sub, p, in[2])
                        : kind == 2 ? op(Prim::sub, in[2], p)
                                    : op(Prim::add, p, in[2]);
        b.output(b.cast(sum, DType::float64));
        if (with_part) b.output(b.cast(kind == 5 ? op(Prim::sigmoid, in[0]) : p, DType::float64));
      };
      ProgramBuilder one, two;
      make(one, false);
      make(two, true);
      run(*flat_group(one.build(), n), {x.data(), y.data(), z.data()}, {alone.data()});
      run(*flat_group(two.build(), n), {x.data(), y.data(), z.data()},
          {beside.data(), part.data()});
      EXPECT_EQ(alone, beside) << name_of(dtype) << " " << kind;
    }
  }
}

TEST(FusedMultiGroup, IsOneLoopOverAllSets) {
  for (int threads : {1, 3}) {
    set_thread_count(threads);
    ProgramBuilder b;
    const Reg p = b.input(f32), g = b.input(f32), rate = b.input(f32);
    b.output(b.op(Prim::sub, f32, p, b.op(Prim::mul, f32, rate, g)));
    const Program program = b.build();
    std::vector<MultiGroup::Set> sets;
    std::vector<std::vector<float>> params, grads, want;
    const float lr = 0.5f;
    for (int64_t k = 0; k < 40; ++k) {
      const int64_t n = k == 7 ? 0 : k % 3 ? k * 7 + 1 : 30000 + k;
      sets.push_back({{n}, {{{1}}, {{1}}, {{0}}}, {{{1}}}});
      params.emplace_back(static_cast<size_t>(n), static_cast<float>(k));
      grads.emplace_back(static_cast<size_t>(n));
      for (size_t i = 0; i < grads.back().size(); ++i) grads.back()[i] = static_cast<float>(i % 16);
      want.push_back(params.back());
      for (size_t i = 0; i < want.back().size(); ++i) want.back()[i] -= lr * grads.back()[i];
    }
    std::vector<const void*> in;
    std::vector<void*> out;
    for (size_t k = 0; k < sets.size(); ++k) {
      in.insert(in.end(), {params[k].data(), grads[k].data(), &lr});
      out.push_back(params[k].data());
    }
    MultiGroup::make(program, sets)->run(in.data(), out.data());
    EXPECT_EQ(params, want);
  }
  set_thread_count(0);
}

TEST(FusedSimd, NamesAreChecked) {
  set_simd_target("scalar");
  EXPECT_STREQ(simd_target(), "scalar");
  set_simd_target("");
  EXPECT_STREQ(simd_target(), simd_targets().back());
  try {
    set_simd_target("mmx");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_EQ(std::string(e.what()).substr(0, 41), "set_simd_target: name must be \"\", \"scalar");
  }
}

}  // namespace
}  // namespace horngate::native::fused
