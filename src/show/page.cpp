// The page: the pictures as JSON, and the program that draws them.
#include "ir/check.h"
#include "show/picture.h"
#include "show/viewer.h"

namespace horngate {
namespace {

/// A JSON text that may stand inside of a page: "<" would end the script.
std::string json(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char code[8];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<') {
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

/// [kind, label, function, name, attributes, scope, type, bytes, group, [from..]]
void add_node(std::string& out, const PictureNode& n) {
  out += text_of("[", static_cast<int>(n.kind));
  for (const std::string* text : {&n.label, &n.function, &n.name, &n.attributes, &n.scope, &n.type})
    out += "," + json(*text);
  out += text_of(",", n.bytes, ",", n.group, ",[");
  for (size_t i = 0; i < n.from.size(); ++i) out += text_of(i ? "," : "", n.from[i]);
  out += "]]";
}

}  // namespace

std::string pictures_page(const std::string& title, const std::vector<Picture>& pictures) {
  std::string data = "[";
  for (const Picture& p : pictures) {
    data += text_of(data.size() > 1 ? ",\n" : "", "{\"title\":", json(p.title),
                    ",\"note\":", json(p.note), ",\"groups\":[");
    for (size_t i = 0; i < p.groups.size(); ++i) data += (i ? "," : "") + json(p.groups[i]);
    data += "],\"nodes\":[\n";
    for (size_t i = 0; i < p.nodes.size(); ++i) {
      if (i) data += ",\n";
      add_node(data, p.nodes[i]);
    }
    data += "]}";
  }
  return text_of("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>",
                 html(title), "</title>\n", kViewerHead,
                 "<script type=\"application/json\" id=\"data\">", data, "]</script>\n<script>",
                 kViewerProgram, "</script>\n</body>\n</html>\n");
}

}  // namespace horngate
