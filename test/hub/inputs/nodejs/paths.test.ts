/** Paths in the text of a Node.js program. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check, found, stack, type Row } from './found.ts';

const data = { 'data/x.json': '{}', 'data/y.json': '{}' };

const rows: Readonly<Record<string, Row>> = {
  'an asset, from the working directory': {
    program: `new pulumi.asset.FileAsset("../../data/x.json");`,
    tree: data,
    files: ['data/x.json'],
  },
  'an archive of a folder': {
    program: `new pulumi.asset.FileArchive("../../data");`,
    tree: data,
    folders: ['data'],
  },
  'a file that is read': {
    program: `readFileSync("../../data/x.json", "utf8");`,
    tree: data,
    files: ['data/x.json'],
  },
  'a file that is read through a promise': {
    program: `await fs.promises.readFile("../../data/x.json");`,
    tree: data,
    files: ['data/x.json'],
  },
  'a stream': { program: `fs.createReadStream("../../data/x.json");`, tree: data, files: ['data/x.json'] },
  'a folder that is listed': {
    program: `for (const name of fs.readdirSync("../../data")) console.log(name);`,
    tree: data,
    folders: ['data'],
  },
  'a question whether it exists': {
    program: `if (existsSync("../../data")) run();`,
    tree: data,
    folders: ['data'],
  },
  'settings of dotenv': {
    program: `require("dotenv").config({ path: "../../.env" });`,
    tree: { '.env': '' },
    files: ['.env'],
  },
  'a path that something else takes': {
    program: `new k8s.yaml.ConfigFile("x", { file: "../../data/x.json" });`,
    tree: data,
    files: ['data/x.json'],
  },
  'a path from the file': {
    tree: { 'stacks/a/src/y.ts': `readFileSync(path.join(__dirname, "..", "../../data/x.json"))`, ...data },
    files: ['data/x.json'],
  },
  'a path from the module': {
    program: `readFileSync(new URL("../../data/x.json", import.meta.url));`,
    tree: data,
    files: ['data/x.json'],
  },
  'a path from the folder of the module': {
    program: `path.resolve(import.meta.dirname, "../../data/x.json");`,
    tree: data,
    files: ['data/x.json'],
  },
  'a path from the name of the module': {
    program: `const here = dirname(fileURLToPath(import.meta.url)); readFileSync(join(here, "../../data/x.json"));`,
    tree: data,
    files: ['data/x.json'],
  },
  'a path that is added up': {
    program: `readFileSync(__dirname + "/../../data/" + "x.json");`,
    tree: data,
    files: ['data/x.json'],
  },
  'a template with a constant': {
    program: 'const root = path.resolve(__dirname, "../.."); readFileSync(`${root}/data/x.json`);',
    tree: data,
    files: ['data/x.json'],
  },
  'the folder of a name that is not known': {
    program: 'readFileSync(`../../data/${name}.json`);',
    tree: data,
    folders: ['data'],
  },
  'the folder of a module that is not known': {
    program: 'await import(`../../data/${name}`);',
    tree: data,
    folders: ['data'],
  },
  'a file beside a library, from the library': {
    program: `import "../../libs/x";`,
    tree: { 'libs/x.ts': `readFileSync(join(__dirname, "x.json"));`, 'libs/x.json': '' },
    files: ['libs/x.json', 'libs/x.ts'],
  },
  'a path in a library, from the working directory': {
    program: `import "../../libs/x";`,
    tree: { 'libs/x.ts': `readFileSync("../../data/x.json");`, ...data },
    files: ['data/x.json', 'libs/x.ts'],
  },
  'a folder with projects in it, whole': {
    program: `readdirSync("../../services");`,
    tree: { 'services/b/Pulumi.yaml': '', 'services/b/x.ts': '' },
    files: ['services/b/Pulumi.yaml', 'services/b/x.ts'],
    folders: ['services'],
  },
  'a submodule on the way': {
    program: `new FileArchive("../../vendor/app");`,
    tree: { vendor: '@' },
    files: ['vendor'],
  },
  'a symlink on the way': {
    program: `new FileArchive("../../vendor/app");`,
    tree: { vendor: '-> elsewhere' },
    files: ['vendor'],
  },
  'nothing from an address': {
    program: `new pulumi.asset.RemoteAsset("https://a.example/../../data/x.json");`,
    tree: data,
  },
  'nothing from the folder itself, or from those above by themselves': {
    program: `const root = path.join(__dirname, "../.."); const up = ".."; new FileArchive("."); new FileArchive("./own"); readFileSync("./x.json");`,
    tree: { ...data, 'stacks/a/x.json': '', 'stacks/a/own/y': '' },
  },
};

describe('paths that a program spells out are inputs', () => {
  check(rows);
  it('says that a program reads a folder around it, and takes it', () => {
    const seen = found(stack(`readdirSync("..");`));
    assert.deepEqual(seen.folders, ['stacks']);
    assert.match(seen.warnings.join('\n'), /stacks\/a\/index\.ts reads all of stacks/);
  });
});
