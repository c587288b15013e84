"""`python -m horngate`: version, engine, settings. `.. export`: see export.py, `.. engines`: _engines.py,
`.. run`: _run.py, `.. keras`: _keras_command.py."""

import sys

from horngate import _horngate as _hg


def main():
    engine = f"{_hg.backend()} (chosen by {_hg.engine_source()})"
    rows = [
        ("horngate", _hg.version),
        ("engine", engine),
        ("floatx", _hg.floatx()),
        ("epsilon", _hg.epsilon()),
        ("image_data_format", _hg.image_data_format()),
        ("settings folder", _hg.keras_home()),
        ("python", sys.version.split()[0]),
    ]
    for name, value in rows:
        print(f"{name:18} {value}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["export"]:
        from horngate.export import main as export_main

        sys.exit(export_main(sys.argv[2:]))
    if sys.argv[1:2] == ["engines"]:
        from horngate._engines import main as engines_main

        sys.exit(engines_main(sys.argv[2:]))
    if sys.argv[1:2] == ["run"]:
        from horngate._run import main as run_main

        sys.exit(run_main(sys.argv[2:]))
    if sys.argv[1:2] == ["keras"]:
        from horngate._keras_command import main as keras_main

        sys.exit(keras_main(sys.argv[2:]))
    main()
