// What makes K pleasant in C++: weak numbers, printing, indexing, operators, spellings that people try first.
#include <gtest/gtest.h>

#include <cstdlib>

#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <sstream>

#include "error_of.h"
#include "horngate/horngate.h"

namespace K = horngate;
using horngate::testing::error_of;
using K::Array;
using K::DType;

namespace {

template <class T>
std::string shown(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// Gone with all that is in it when the test ends.
struct TemporaryFolder {
  TemporaryFolder() {
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  }
  ~TemporaryFolder() { std::filesystem::remove_all(name); }
  std::string file(const std::string& of) const { return name + "/" + of; }
  std::string name = (std::filesystem::temp_directory_path() / "horngate_save_XXXXXX").string();
};

TEST(Friendly, NumbersAreWeak) {
  EXPECT_EQ(K::variable(0.1).dtype(), K::floatx());
  EXPECT_EQ(K::variable(3).dtype(), K::floatx());
  EXPECT_EQ(K::constant(2.0).dtype(), K::floatx());
  EXPECT_EQ(K::variable(3, {.dtype = "int64"}).dtype(), DType::int64);
  EXPECT_EQ(K::get_value(K::variable(INT64_MAX, {.dtype = DType::int64})).item<int64_t>(),
            INT64_MAX);
  const K::Tensor x = K::placeholder({.shape = {K::None}});
  EXPECT_EQ((x * K::constant(2.0)).dtype(), DType::float32);
  EXPECT_EQ(K::variable(Array(0.1)).dtype(), DType::float64);  // an array has a type
}

TEST(Friendly, IntegerVariablesTakeIntegersAlone) {
  const K::Variable n = K::variable(1, {.dtype = "int32", .name = "steps"});
  K::function({}, {}, {K::update_add(n, 2)})();
  EXPECT_EQ(K::get_value(n).item<int>(), 3);
  const std::string text = error_of([&] { (void)K::update_add(n, 1.5); });
  EXPECT_TRUE(
      text.starts_with("update_add: variable \"steps") &&
      text.ends_with("\" is int32; got a value of float32 (1.5). Use cast() if that is meant."))
      << text;
  EXPECT_THROW((void)K::update(n, K::constant(1.5)), K::TypeError);
  EXPECT_THROW((void)K::update_sub(n, K::constant(1.0)), K::TypeError);
  EXPECT_THROW((void)K::update_add(K::variable(1, {.dtype = "int8"}), 1000), K::ValueError);
  EXPECT_THROW((void)K::update(n, K::Tensor()), K::TypeError);
  const int64_t beyond = (int64_t{1} << 53) + 1;  // what a double does not hold
  EXPECT_THROW((void)K::update_add(n, beyond), K::ValueError);
  const K::Variable wide = K::variable(0, {.dtype = "int64"});
  K::function({}, {}, {K::update_add(wide, beyond)})();
  EXPECT_EQ(K::get_value(wide).item<int64_t>(), beyond);
  EXPECT_THROW((void)K::update(wide, UINT64_MAX), K::ValueError);
  EXPECT_THROW((void)K::update(K::variable(0, {.dtype = "uint64"}), -beyond), K::ValueError);
  (void)K::update(K::variable(0, {.dtype = "uint64"}), UINT64_MAX);
}

TEST(Friendly, VariablesTakeArraysThatNobodyElseHolds) {
  const auto raised = [](const K::Variable& v) {
    K::function({}, {}, {K::update_add(v, 1)})();
    return K::get_value(v)(0);
  };
  Array mine = Array::of({1.f, 2.f}), kept = mine;
  EXPECT_EQ(raised(K::variable(std::move(mine))), 2);
  EXPECT_EQ(kept(0), 1);  // somebody else held it
  K::Variable v = K::variable(std::move(kept));
  EXPECT_EQ(raised(v), 2);
  // Memory of others is never written into, whoever gives it away.
  float theirs[] = {1, 2};
  int released = 0;
  v = K::variable(Array::view(theirs, DType::float32, {2}, {}, [&] { ++released; }));
  EXPECT_EQ(released, 1);
  EXPECT_EQ(raised(v), 2);
  EXPECT_EQ(theirs[0], 1);
  K::set_value(v, Array::view(theirs, DType::float32, {2}));
  EXPECT_EQ(raised(v), 2);
  EXPECT_EQ(theirs[0], 1);
  Array rows = Array::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
  const Array whole = rows;
  K::set_value(v, whole[1]);
  EXPECT_EQ(raised(v), 4);
  EXPECT_EQ(whole(1, 0), 3);
  K::set_value(v, rows.rows(0, 1).reshape({2}));
  EXPECT_EQ(raised(v), 2);
  EXPECT_EQ(rows(0, 0), 1);
}

TEST(Friendly, EqualOutputsHaveMemoryOfTheirOwn) {
  const K::Tensor x = K::placeholder({.shape = {K::None}});
  const K::Variable v = K::ones(2);
  const Array fed = Array::of({1.f, 2.f});
  const K::Arrays out = K::function({x}, {x * 2, x * 2, x, x, v, v})(fed);
  for (size_t i = 0; i < out.size(); ++i)
    for (size_t j = i + 1; j < out.size(); ++j) EXPECT_NE(out[i].raw(), out[j].raw()) << i << j;
  out[0].data<float>()[0] = 7;
  EXPECT_EQ(out[1].to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(fed.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Friendly, EverythingCanBePrinted) {
  EXPECT_EQ(shown(Array::of({1.f, 2.5f})), "[1., 2.5]");
  EXPECT_EQ(shown(K::Shape{K::None, 3}), "(None, 3)");
  EXPECT_EQ(shown(DType::int32), "int32");
  const K::Tensor x = K::placeholder({.shape = {K::None, 3}, .name = "pixels"});
  EXPECT_EQ(shown(x), "<K.Tensor \"" + x.name() + "\" shape=(None, 3) dtype=float32>");
  EXPECT_TRUE(shown(K::zeros(2)).starts_with("<K.Variable \""));
  EXPECT_EQ(shown(K::Tensor()), "<K.Tensor None>");
}

TEST(Friendly, Indexing) {
  const Array a = Array::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  EXPECT_EQ(a(1, 2), 6);
  EXPECT_EQ(a(-1, -3), 4);
  EXPECT_EQ(shown(a[1]), "[4., 5., 6.]");
  EXPECT_EQ(a[1](0), 4);
  EXPECT_EQ(a[-2][2].item<float>(), 3);
  a.at<float>(0, 1) = 9;
  EXPECT_EQ(a(0, 1), 9);
  const Array turned = Array::view(a.raw(), DType::float32, {3, 2}, {1, 3});
  EXPECT_EQ(turned(2, 1), 6);
  EXPECT_EQ(turned[2](1), 6);
  EXPECT_EQ(Array(5)(), 5);
  EXPECT_EQ(Array::of({INT64_MAX, INT64_MIN}).at<int64_t>(0), INT64_MAX);
  EXPECT_THROW((void)a(0), K::IndexError);
  EXPECT_THROW((void)a(0, 3), K::IndexError);
  EXPECT_THROW((void)a[2], K::IndexError);
  EXPECT_THROW((void)a.at<double>(0, 0), K::TypeError);
  EXPECT_THROW((void)Array(1.f)[0], K::IndexError);
  EXPECT_THROW((void)Array()(), K::IndexError);
  const K::Variable v = K::variable(a);
  EXPECT_EQ(shown(K::eval(v[1])), "[4., 5., 6.]");
  const K::Tensor x = K::placeholder({.shape = {K::None, 3}});
  const K::Tensor y = K::placeholder({.shape = {K::None, 6}});
  const K::Tensor r = K::reshape(x, {K::shape(y)[0], 6});  // the example of args.h
  EXPECT_EQ(K::function({x, y}, {r})(Array::zeros(DType::float32, {4, 3}),
                                     Array::zeros(DType::float32, {2, 6}))[0]
                .shape(),
            (K::Shape{2, 6}));
}

TEST(Friendly, Operators) {
  const K::Tensor x = K::placeholder({.shape = {K::None}});
  K::Tensor y = x;
  y += 1;
  y *= x;
  y -= K::constant(2.0);
  y /= 2;
  const auto f =
      K::function({x}, {y, K::cast(x < 2, "float32"), K::cast(1 <= x, "float32"),
                        K::cast(x > K::square(x), "float32"), K::cast(x >= 3.5, "float32")});
  const K::Arrays out = f(Array::of({0.5f, 1.f, 4.f}));
  EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{-0.625f, 0, 9}));
  EXPECT_EQ(out[1].to_vector<float>(), (std::vector<float>{1, 1, 0}));
  EXPECT_EQ(out[2].to_vector<float>(), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(out[3].to_vector<float>(), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(out[4].to_vector<float>(), (std::vector<float>{0, 0, 1}));
}

TEST(Friendly, OperatorsTakeIntegersThatNoDoubleHolds) {
  const K::Tensor x = K::placeholder({.shape = {2}, .dtype = "int64"});
  const int64_t n = (int64_t{1} << 53) + 1;
  const auto of = [&](const K::Tensor& y) {
    return K::function({x}, {y})(Array::of({int64_t{1}, n - 1}))[0].to_vector<int64_t>();
  };
  using Whole = std::vector<int64_t>;
  EXPECT_EQ(of(x + n), (Whole{n + 1, 2 * n - 1}));
  EXPECT_EQ(of(n - x), (Whole{n - 1, 1}));
  EXPECT_EQ(of(x - n), (Whole{1 - n, -1}));
  EXPECT_EQ(of(n * x)[0], n);
  EXPECT_EQ(of(x < n), (Whole{1, 1}));
  EXPECT_EQ(of(n <= x), (Whole{0, 0}));
  EXPECT_EQ(of(x > n - 2), (Whole{0, 1}));
}

TEST(Friendly, ArraysFromAnythingWithNumbers) {
  const std::array<float, 4> fixed{1, 2, 3, 4};
  const int plain[] = {1, 2, 3};
  std::vector<double> doubles{0.5, 1.5};
  const std::vector<bool> bits{true, false};
  const size_t rows = 2, columns = 2;
  EXPECT_EQ(Array::of(fixed, {rows, columns})(1, 0), 3);
  EXPECT_EQ(Array::of(fixed, {rows, 2})(1, 1), 4);
  EXPECT_EQ(Array::of(plain).dtype(), DType::int32);
  EXPECT_EQ(Array::of(plain).shape(), K::Shape{3});
  EXPECT_EQ(Array::of(std::span<double>(doubles)).dtype(), DType::float64);
  EXPECT_EQ(shown(Array::of(bits)), "[true, false]");
  EXPECT_EQ(Array::of({1, 2.5, 3}).dtype(), DType::float64);
  EXPECT_EQ(shown(Array::of({-1, 2.5, 3})), "[-1., 2.5, 3.]");
  EXPECT_EQ(Array::of({-1, 2.5f}).dtype(), DType::float32);
  EXPECT_EQ(Array::of({1, INT64_C(-5), 3}, {3, 1}).dtype(), DType::int64);
  EXPECT_EQ(Array::of({1, INT64_C(-5), 3}, {3, 1})(1, 0), -5);
  EXPECT_EQ(Array::of({1u, 2}).dtype(), DType::uint32);
  EXPECT_EQ(Array::of({1LL, 2LL}).dtype(), DType::int64);
  EXPECT_THROW((void)Array::of(fixed, {3}), K::ValueError);
  const float constant_data[] = {1, 2};
  EXPECT_EQ(Array::view(constant_data, DType::float32, {2}).raw(), constant_data);
  const auto view_error = [&](K::Ints dims, K::Ints strides, const void* data) {
    return error_of([&] { (void)Array::view(data, DType::float32, dims, strides, [] {}); });
  };
  EXPECT_EQ(view_error({2, 1}, {1}, constant_data),
            "array: a view of shape (2, 1) needs 2 strides or none; got 1.");
  EXPECT_EQ(view_error({0, -1}, {}, constant_data),
            "array: dimensions must be at least 0; got shape (0, None).");
  EXPECT_EQ(view_error({2}, {}, nullptr),
            "array: a view of shape (2,) needs memory; got a null pointer.");
  EXPECT_TRUE(Array::view(nullptr, DType::float32, {0, 3}).defined());
  EXPECT_EQ(error_of([] { (void)Array::from_dlpack(nullptr); }),
            "dlpack: the tensor must not be null.");
}

TEST(Friendly, WhatWasMovedFromIsEmpty) {
  Array values = Array::of({7.f, 8.f});
  K::Variable v = K::variable(Array::of({1.f, 2.f}));
  K::set_value(v, std::move(values));
  EXPECT_FALSE(values.defined());
  EXPECT_EQ(shown(values), "<empty>");
  const Array taken = std::move(values);
  EXPECT_FALSE(taken.defined());
  const K::Function f = K::function({K::placeholder({.ndim = 0})}, {v});
  EXPECT_THROW((void)f(taken), K::Error);
  EXPECT_EQ(shown(K::get_value(v)), "[7., 8.]");
}

TEST(Friendly, ItemConvertsAsCastDoes) {
  for (const double number : {std::nan(""), 3e9, 1e10, -1.5, 300.0, 1e20}) {
    const Array a(number);
    const auto same = [&]<class T>(T item) {
      EXPECT_EQ(item, *a.cast(K::dtype_v<T>).template data<T>()) << number;
    };
    same(a.item<int8_t>());
    same(a.item<uint8_t>());
    same(a.item<int16_t>());
    same(a.item<uint16_t>());
    same(a.item<int>());
    same(a.item<unsigned>());
    same(a.item<long>());
    same(a.item<unsigned long long>());
  }
  EXPECT_EQ(Array(65).item<char>(), 'A');
}

TEST(Friendly, SpellingsThatPeopleTryFirst) {
  const K::Variable w = K::zeros({2, 3});
  const K::Variable b = K::ones(3);
  EXPECT_EQ(K::zeros(K::Shape{4}).shape(), K::Shape{4});
  EXPECT_EQ(K::zeros({}).shape(), K::Shape{});
  EXPECT_EQ(K::ones(size_t{5}, {.dtype = "int32"}).dtype(), DType::int32);
  const K::Tensor x = K::placeholder({.shape = {K::None, 2}});
  const K::Tensor open = K::zeros({K::shape(x)[0], 3});
  EXPECT_FALSE(K::is_variable(open));
  auto h = w;
  h = K::relu(h);
  EXPECT_FALSE(K::is_variable(h));
  EXPECT_THROW((void)K::get_value(h), K::TypeError);
  EXPECT_THROW((void)K::update(h, w), K::TypeError);
  EXPECT_THROW(K::set_value(h, Array(1)), K::TypeError);
  EXPECT_EQ(K::sum(w, 1).shape(), K::Shape{2});
  EXPECT_EQ(K::mean(w, {.axis = {0, 1}}).shape(), K::Shape{});
  EXPECT_EQ(K::max(w, {.axis = 1, .keepdims = true}).shape(), (K::Shape{2, 1}));
  EXPECT_EQ(K::sum(w).shape(), K::Shape{});
  const std::vector<K::Variable> weights{w, b};
  const K::Tensor loss = K::sum(K::square(K::dot(x, w) + b));
  EXPECT_EQ(K::gradients(loss, weights).size(), 2u);
  EXPECT_EQ(K::gradients(loss, {w, b}).size(), 2u);
  const K::Tensor image = K::placeholder({.shape = {K::None, 8, 8, 1}, .dtype = "float32"});
  const K::Tensor y =
      K::conv2d(image, K::ones({3, 3, 1, 2}), {.padding = "same", .data_format = "channels_last"});
  EXPECT_EQ(y.shape(), (K::Shape{K::None, 8, 8, 2}));
  EXPECT_EQ(K::pool2d(y, {2, 2}, {.strides = {2, 2}, .pool_mode = "avg"}).shape(),
            (K::Shape{K::None, 4, 4, 2}));
  EXPECT_EQ(K::resize_images(y, 2, 2, "channels_last", std::string("bilinear")).shape(),
            (K::Shape{K::None, 16, 16, 2}));
  EXPECT_EQ(error_of([&] { (void)K::conv2d(image, K::ones({3, 3, 1, 2}), {.padding = "smae"}); }),
            "options: padding must be \"valid\", \"same\", \"causal\" or \"full\"; got \"smae\".");
  EXPECT_EQ(error_of([&] { (void)K::conv2d(image, K::ones({3, 3, 1, 2}), {.padding = "full"}); }),
            "conv2d: padding must be \"valid\" or \"same\"; got \"full\".");
  EXPECT_THROW((void)K::cast(image, "float23"), K::ValueError);
}

TEST(Friendly, AMissingInputIsNamed) {
  const K::Tensor x = K::placeholder({.shape = {K::None}, .name = "left"});
  const K::Tensor y = K::placeholder({.shape = {K::None}, .name = "right"});
  const auto f = K::function({x, y}, {x + y}, {}, {.name = "add_up"});
  EXPECT_EQ(error_of([&] { f(Array::of({1.f})); }),
            "add_up: takes 2 inputs; got 1: input 1 \"" + y.name() + "\" is missing.");
  EXPECT_EQ(error_of([&] { K::function({x}, {x}, {}, {.name = "same"})({}); }),
            "same: takes 1 input; got 0: input 0 \"" + x.name() + "\" is missing.");
  EXPECT_EQ(error_of([&] { f(1, 2, 3); }), "add_up: takes 2 inputs; got 3.");
}

class SavedArrays : public testing::TestWithParam<const char*> {};

TEST_P(SavedArrays, ComeBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file(std::string("arrays") + GetParam());
  const K::NamedArrays arrays = {{"half", Array::of({1.f, -2.f}).cast(DType::float16)},
                                 {"empty", Array(DType::int64, {0, 3})},
                                 {"scalar", Array(std::numbers::pi)},
                                 {"bits", Array::of({true, false, true})}};
  K::save(path, arrays);
  const K::NamedArrays loaded = K::load(path);
  ASSERT_EQ(loaded.size(), arrays.size());
  for (const auto& [name, a] : arrays) {
    EXPECT_EQ(loaded.at(name).dtype(), a.dtype()) << name;
    EXPECT_EQ(loaded.at(name).dims(), a.dims()) << name;
    EXPECT_EQ(loaded.at(name).str(), a.str()) << name;
  }
  const K::Variable w = K::random_normal_variable({3, 2}, 0, 1, {.name = "w"}),
                    b = K::ones(2, {.name = "b"});
  const Array before = K::get_value(w);
  K::save(path, {w, b});
  K::set_value(w, K::zeros_array({3, 2}));
  K::load(path, {b, w});
  EXPECT_EQ(K::get_value(w).to_vector<float>(), before.to_vector<float>());
  // All or nothing.
  K::set_value(w, K::zeros_array({3, 2}));
  const K::Variable other = K::zeros({2}, {.name = "other"});
  EXPECT_THROW(K::load(path, {w, other}), K::ValueError);
  EXPECT_EQ(K::get_value(w)(0, 0), 0);
  EXPECT_THROW(K::save(path, {w, w}), K::ValueError);
  EXPECT_THROW(K::save(path, Array(1)), K::ValueError);
  EXPECT_THROW(K::save(path, {{"none", Array()}}), K::ValueError);
  EXPECT_EQ(K::load(path).size(), 2u);  // failures left it alone
}
INSTANTIATE_TEST_SUITE_P(Formats, SavedArrays, testing::Values(".npz", ".safetensors"));

TEST(SavedArray, ComesBackFromNpy) {
  const TemporaryFolder folder;
  const std::string path = folder.file("one.npy");
  const Array values = Array::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  K::save(path, Array::view(values.raw(), DType::float32, {3, 2}, {1, 3}));
  EXPECT_EQ(shown(K::load_array(path)), "[[1., 4.], [2., 5.], [3., 6.]]");
  EXPECT_EQ(shown(K::load(path).at("")), "[[1., 4.], [2., 5.], [3., 6.]]");
  EXPECT_THROW(K::save(path, {{"a", values}}), K::ValueError);
  EXPECT_THROW((void)K::load_array("one.npz"), K::ValueError);
  EXPECT_THROW((void)K::load("one.txt"), K::ValueError);
  EXPECT_THROW((void)K::load(folder.file("none.npz")), std::exception);
}

}  // namespace
