// Arrays as JSON, for programs that tests in Python drive: {"shape": .., "dtype": .., "data": [..]}.
#pragma once

#include <horngate/keras.h>

#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

#include "keras/fields.h"

namespace horngate::keras::tools {

inline Array array_from(const Json& j) {
  Ints dims;
  from_json(j.at("shape", "array"), dims, "shape");
  DType dtype{};
  from_json(j.at("dtype", "array"), dtype, "dtype");
  const Array a(DType::float64, dims);
  const Json::List& data = j.at("data", "array").as_list("data");
  for (size_t i = 0; i < data.size(); ++i) a.data<double>()[i] = data[i].as_number("data");
  return a.cast(dtype);
}

inline Json array_to(const Array& a) {
  Json::List data;
  for (const double v : a.to_vector<double>()) data.push_back(v);
  Json j;
  j.set("shape", to_json(a.dims()));
  j.set("dtype", std::string(name_of(a.dtype())));
  j.set("data", data);
  return j;
}

inline Json arrays_to(const Arrays& arrays) {
  Json::List list;
  for (const Array& a : arrays) list.push_back(array_to(a));
  return list;
}

inline Arrays arrays_from(const Json& j) {
  Arrays arrays;
  for (const Json& item : j.as_list("arrays")) arrays.push_back(array_from(item));
  return arrays;
}

/// Reads a list of cases, runs each, writes the list of results; an exception becomes {"error": ..}.
inline int run_cases(int argc, char** argv, const std::function<Json(const Json&)>& run) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " CASES.json RESULTS.json\n";
    return 2;
  }
  set_quiet(true);
  std::ostringstream text;
  text << std::ifstream(argv[1]).rdbuf();
  Json::List results;
  try {
    const Json cases = Json::parse(text.str(), argv[1]);
    for (const Json& test : cases.as_list("cases")) {
      try {
        results.push_back(run(test));
      } catch (const Error& e) {
        Json failed;
        failed.set("error", std::string(e.what()));
        results.push_back(failed);
      }
    }
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  std::ofstream(argv[2]) << Json(results).dump();
  return 0;
}

}  // namespace horngate::keras::tools
