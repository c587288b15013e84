#!/usr/bin/env python3
"""What Doxygen reads in place of a header: `Example:` becomes code, and comments beside fields belong to them."""

import re
import sys


def examples_as_code(text):
    """`/// Example: f(x);` and the lines that go on with it, as a block of code."""

    def block(found):
        indent = found["indent"]
        code = [found["code"].strip("`")]
        code += [line.strip()[3:].strip() for line in found["more"].splitlines()]
        lines = ["@code{.cpp}", *code, "@endcode"]
        return "".join(f"{indent}/// {line}\n" for line in lines)

    pattern = r"^(?P<indent> *)/// Example: (?P<code>.*)\n(?P<more>(?: *///   .*\n)*)"
    return re.sub(pattern, block, text, flags=re.M)


def code_by_indentation(text):
    """Lines that stand three spaces further in, after an empty line of a comment, are code."""

    def block(found):
        lines = [line.strip()[4:].removeprefix("  ") for line in found[1].splitlines()]
        return (
            "///\n/// @code{.cpp}\n" + "".join(f"/// {line}\n" for line in lines) + "/// @endcode\n"
        )

    return re.sub(r"^///\n((?:///   .*\n)+)", block, text, flags=re.M)


def comments_of_fields(text):
    """`int n = 1;  // what it is` of structs and enumerators."""
    return re.sub(r"^( +[^/\n]+[;,])( +)// (.*)$", r"\1\2///< \3", text, flags=re.M)


def without_second_comment(text):
    """A `//` line that explains code is not for the page, and `///` lists of `@param` need no spaces."""
    return re.sub(r"(@param \w+) +", r"\1 ", text)


def filtered(text):
    for step in (code_by_indentation, examples_as_code, comments_of_fields, without_second_comment):
        text = step(text)
    return text


if __name__ == "__main__":
    with open(sys.argv[1]) as header:
        sys.stdout.write(filtered(header.read()))
