"""Loaded into every Python process of a run, before the program (PYTHONPATH).

Questions about files that the repository has and this stack did not declare are refused: a program that got "there is
none" for an answer would see less than the repository holds, and could delete what it made of the rest. The refusal is
no OSError, since `os.path.exists` and many a program take those for an answer.

What lies outside the files of the run, or is declared, or is nowhere, is answered as ever.
"""

import json
import os
import sys


class UndeclaredInput(BaseException):
    """EACCES, which ends the program like KeyboardInterrupt does."""

    errno = 13

    def __init__(self, message, filename):
        super().__init__(message)
        self.filename = filename


class _Partial:
    def __init__(self, row):
        self.undeclared = frozenset(row.get("undeclared", ()))
        self.withheld = frozenset(row.get("withheld", ()))
        self.closed = row.get("closed", False)
        self.present = frozenset(row.get("present", ()))
        self.is_partial = self.closed or bool(self.undeclared)


def _read_plan(file):
    if not file or not os.path.exists(file):
        return None
    with open(file, encoding="utf-8") as stream:
        return json.load(stream)


def _include_of(path):
    if path == "./":
        return "/"
    escaped = "".join("\\" + character if character in "\\*?[]" else character for character in path)
    if escaped.endswith(" "):
        escaped = escaped[:-1] + "\\ "
    elif escaped.endswith(" /"):
        escaped = escaped[:-2] + "\\ /"
    return "/" + escaped


def _explain(kind, entry, asked):
    add = 'add "%s" to source.include' % _include_of(asked)
    if kind == "certain":
        text = "%s is in the repository and no input of this stack: %s" % (entry, add)
        return text if asked == entry else '%s, or "%s" for all of it' % (text, _include_of(entry))
    if kind == "list":
        where = "its root" if entry == "./" else entry
        return "the repository has more in %s than this stack declares, so its names are no input: %s" % (where, add)
    if kind == "rule":
        if os.path.basename(entry).startswith("Pulumi."):
            return "%s holds settings of another stack and is no input of this one: %s" % (entry, add)
        return (
            "%s is a manifest, which is never an input: keep what the program needs in a file of its own" % entry
        )
    return (
        "%s is no input of this stack, and its folder holds too many names to tell whether the repository has it: "
        "%s if it does, or set source.hermetic: false" % (entry, add)
    )


# Python asks for the names in every folder that modules are looked for in. That changes what is found only where a module
# is not declared, and such a module is refused when it is opened.
_IMPORTERS = ("<frozen importlib", "<frozen zipimport")
_IMPORTER_FILES = ("importlib", "pkgutil.py", "pkg_resources", "importlib_metadata")


def _is_import(frame):
    name = frame.f_code.co_filename
    if name.startswith(_IMPORTERS):
        return True
    parts = name.split(os.sep)
    return any(part in _IMPORTER_FILES for part in parts[-3:])


def _guard(plan):
    folders = {folder: _Partial(row) for folder, row in plan["folders"].items()}
    above = {"."}
    for folder in folders:
        while folder not in above and folder != ".":
            above.add(folder)
            folder = os.path.dirname(folder) or "."
    roots = plan["roots"]
    tools = frozenset(plan["tools"])
    report = plan.get("report")
    real_stat = os.stat
    real_lstat = os.lstat

    def locate(value):
        """The path from the root of the run's files; None for everything else, such as a descriptor."""
        if isinstance(value, bool) or isinstance(value, int) or value is None:
            return None
        try:
            full = os.path.abspath(os.fsdecode(value))
        except (TypeError, OSError):
            return None
        for root in roots:
            if full == root:
                return "."
            if full.startswith(root + "/"):
                return full[len(root) + 1 :]
        return None

    def fault_of(relative):
        if relative is None or relative == ".":
            return None
        folder = "."
        parts = relative.split("/")
        for index, name in enumerate(parts):
            if folder not in above:
                return None
            entry = name if folder == "." else folder + "/" + name
            partial = folders.get(folder)
            if partial is not None:
                if name + "/" in partial.undeclared:
                    is_last = index == len(parts) - 1
                    return ("certain", entry + "/", entry + "/" if is_last else relative)
                if name in partial.undeclared:
                    return ("certain", entry, entry)
                if name in partial.withheld:
                    return ("rule", entry, entry)
                if partial.closed and name not in partial.present and name not in tools:
                    return ("maybe", entry, entry)
            folder = entry
        return None

    def refuse(fault, call, shown):
        kind, entry, asked = fault
        if report is not None:
            line = {"kind": kind, "entry": entry, "include": _include_of(asked), "call": call}
            with open(report, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")
            return
        message = "EACCES: permission denied, %s '%s': %s" % (call, os.fsdecode(shown), _explain(*fault))
        raise UndeclaredInput(message, shown)

    class Question:
        """No plain function: older versions of pathlib keep one in a class, where it would become a method."""

        def __init__(self, real, call):
            self.real = real
            self.call = call
            self.__name__ = real.__name__
            self.__doc__ = real.__doc__

        def __call__(self, path, *arguments, **options):
            real, call = self.real, self.call
            fault = None if options.get("dir_fd") is not None else fault_of(locate(path))
            if fault is None:
                return real(path, *arguments, **options)
            if fault[0] != "maybe":
                refuse(fault, call, path)
                return real(path, *arguments, **options)
            try:
                answer = real(path, *arguments, **options)
            except (FileNotFoundError, NotADirectoryError):
                refuse(fault, call, path)
                raise
            if answer is False:
                refuse(fault, call, path)
            return answer

    def is_there(path):
        try:
            real_lstat(path)
        except OSError:
            return False
        return True

    def on_open(path, mode, flags):
        fault = fault_of(locate(path))
        if fault is None:
            return
        writes = isinstance(flags, int) and flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR) != 0
        if fault[0] == "maybe" and (writes or is_there(path)):
            return
        refuse(fault, "open", path)

    def on_list(path, frame):
        shown = "." if path is None else path
        relative = locate(shown)
        fault = fault_of(relative)
        if fault is not None:
            if fault[0] != "maybe" or not is_there(shown):
                refuse(fault, "scandir", shown)
            return
        partial = folders.get(relative)
        if partial is not None and partial.is_partial and not _is_import(frame):
            refuse(("list", relative + "/", relative + "/"), "scandir", shown)

    lists = frozenset(("os.listdir", "os.scandir"))

    def audit(event, arguments):
        if event == "open":
            on_open(*arguments)
        elif event in lists:
            on_list(arguments[0], sys._getframe(1))

    os.stat = Question(real_stat, "stat")
    os.lstat = Question(real_lstat, "lstat")
    os.access = Question(os.access, "access")
    os.readlink = Question(os.readlink, "readlink")
    # programs ask by the function itself what can be done with it
    for supports in (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks):
        for question in (os.stat, os.lstat, os.access, os.readlink):
            if question.real in supports:
                supports.add(question)
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(audit)


def _run_next(here):
    """The sitecustomize that this one stands before, if there is one."""
    import importlib.machinery

    paths = [path for path in sys.path if os.path.realpath(path or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        import importlib.util

        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_here = os.path.dirname(os.path.realpath(__file__))
_run_next(_here)
_plan = _read_plan(os.environ.get("TOWLINE_GUARD"))
if _plan is not None:
    _guard(_plan)
