import assert from 'node:assert/strict';
import test from 'node:test';
import { programParser, type PyProgram } from '../../../../hub/inputs/python/program.ts';

function read(text: string): PyProgram {
  const result = programParser.parse(Buffer.from(text));
  assert.equal(result.kind, 'read');
  return (result as { value: PyProgram }).value;
}

/** `file:x`, `cwd:x`, `text:x`; `…` where more follows, `/*` where the folder is listed. */
const shown = (program: PyProgram): string[] =>
  program.paths
    .map(({ from, path, open, lists }) => `${from}:${path}${open ? '…' : ''}${lists ? '/*' : ''}`)
    .sort();

const expressions: Readonly<Record<string, readonly string[]>> = {
  'open("../x.json")': ['text:../x.json'],
  'open("x.json")': [],
  'pulumi.FileAsset("../x.json")': ['text:../x.json'],
  'pulumi.FileArchive("../site")': ['text:../site/*'],
  'Path("../x").read_text()': ['cwd:../x'],
  'Path.cwd() / ".." / "x"': ['cwd:../x'],
  '(Path(__file__).parent / ".." / "x.json").read_text()': ['file:../x.json'],
  'Path(__file__).resolve().parent.parent.joinpath("libs", "x.json")': ['file:../libs/x.json'],
  'Path(__file__).parents[2] / "x"': ['file:../../x'],
  'Path(__file__).with_name("x.json")': ['file:x.json'],
  'os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "x")': ['file:../x'],
  'os.path.join(os.path.dirname(__file__), os.pardir, "x")': ['file:../x'],
  'open(os.path.dirname(__file__) + "/../x")': ['file:/../x'],
  'open(f"{os.path.dirname(__file__)}/../x/{name}.json")': ['file:/../x/…'],
  'open("../x/%s.json" % name)': ['text:../x/…'],
  'open("../x/{}.json".format(name))': ['text:../x/…'],
  'open("../x/" + name + ".json")': ['text:../x/…'],
  'open(Path(__file__).parent / ".." / name)': ['file:../…'],
  'os.listdir("../x")': ['text:../x/*'],
  'os.walk(os.path.join(os.path.dirname(__file__), "..", "x"))': ['file:../x/*'],
  'glob.glob("../x/*/a.json")': ['text:../x/*'],
  'Path(__file__).parent.glob("../x/*.json")': ['file:../x/*'],
  '[p for p in (Path(__file__).parent / "../x").iterdir()]': ['file:../x/*'],
  '", ".join(["../x"])': ['text:../x'],
  'os.environ.get("X", "../x")': ['text:../x'],
  'subprocess.run(["../x.sh", "a"])': ['text:../x.sh'],
  'open("../x" if a else "../y")': ['text:../x', 'text:../y'],
  'open("../a" "/b")': ['text:../a/b'],
  'open(r"../x")': ['text:../x'],
  'a(open("../x").read() + b("../y"))': ['text:../x', 'text:../y'],
  'print("… or ../x")': [],
  __file__: [],
};

for (const [text, paths] of Object.entries(expressions))
  test(`a program that says ${text} names ${paths.join(' and ') || 'nothing'}`, () =>
    assert.deepEqual(shown(read(text)), [...paths].sort()));

test('names stand for what they are assigned, in any order and each value of several', () => {
  const program = read(`
HERE: str = os.path.dirname(__file__)
ROOT = os.path.join(HERE, "..")
if a:
    FILE = os.path.join(ROOT, "x")
else:
    FILE = os.path.join(ROOT, "y")
open(os.path.join(FILE, "z.json"))
`);
  for (const path of ['file:../x/z.json', 'file:../y/z.json']) assert.ok(shown(program).includes(path), path);
});

test('names that stand for each other end', () => {
  const names = Array.from(
    { length: 30 },
    (_, n) => `a${n} = a${n + 1} + a${(n * 7) % 30} + a${n}\na${n} = "../x"`,
  );
  assert.ok(read(names.join('\n')).paths.length < 10_000);
});

test('imports are read with their dots and names', () => {
  const { imports } = read(`
import os, a.b as c
from ..x import y as q, z
from . import (a,
    b)  # two
from .b.c import *
importlib.import_module("plug.in")
`);
  assert.deepEqual(
    imports
      .map(({ module, level, names }) => `${'.'.repeat(level)}${module.join('.')}:${names.join()}`)
      .sort(),
    ['..x:y,z', '.:a,b', '.b.c:*', 'a.b:', 'os:', 'plug.in:'],
  );
});

test('folders for modules are read from every way to add one', () => {
  const { roots } = read(`
sys.path.append("../a")
sys.path.insert(0, str(Path(__file__).parent.parent / "b"))
sys.path.extend(["../c", "../d"])
sys.path += ["../e"]
sys.path[0:0] = ["../f"]
site.addsitedir("../g")
`);
  assert.deepEqual(roots.map(({ path }) => path).sort(), [
    '../a',
    '../b',
    '../c',
    '../d',
    '../e',
    '../f',
    '../g',
  ]);
});

test('the line of what is not understood is told', () => {
  assert.equal(read('a = 1\nb = = 2\n').brokenAt, 2);
  assert.equal(
    read('match x:\n    case [1, *_] if (y := 2):\n        type A[T] = int\n').brokenAt,
    undefined,
  );
});

test('an expression nested without end is read in bounded time', () => {
  read(`${'('.repeat(20_000)}${')'.repeat(20_000)}`);
  read(`x = ${'a + '.repeat(20_000)}b`);
});
