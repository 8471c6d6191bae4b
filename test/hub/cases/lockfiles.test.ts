/** Lockfiles and manifests of packages that stacks share: each change runs those whose packages it changes. */
import type { Edit, Files } from './files.ts';
import { asking, bumped, ESTATE, estate, MANAGERS, type Manager } from './locked.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

const LIBRARY = 3;

const textOf = (file: Files[string] | undefined): string => (typeof file === 'string' ? file : '');

type Named = readonly [string, Manager];

const sourceOf = ({ runtime }: Manager): string => (runtime === 'python' ? '__main__.py' : 'index.js');

const packagesCases = ([name, manager]: Named): Case[] => {
  const { lockfile } = manager;
  const files = estate(manager, ESTATE);
  const source = sourceOf(manager);
  const bump = (one: number): Edit => manager.files(bumped(ESTATE, one));
  const lock = changed(lockfile);
  return [
    {
      name: `${name}: a package that one stack uses, and one that another uses`,
      files,
      steps: [
        { edit: bump(0), then: { w1: lock } },
        { edit: manager.files(bumped(bumped(ESTATE, 0), 1)), then: { w2: lock } },
      ],
    },
    {
      name: `${name}: a package of a package, one of a library, and one that both stacks use`,
      files,
      steps: [
        { edit: bump(2), then: { w1: lock } },
        { edit: manager.files(bumped(bumped(ESTATE, 2), 4)), then: { w1: lock } },
        { edit: manager.files(bumped(bumped(bumped(ESTATE, 2), 4), 3)), then: { w1: lock, w2: lock } },
      ],
    },
    {
      name: `${name}: a library of the repository`,
      files,
      steps: [{ edit: { [`folder/w3/${source}`]: '1' }, then: { w1: changed(`folder/w3/${source}`) } }],
    },
  ];
};

const manifestsCases = ([name, manager]: Named): Case[] => {
  const { lockfile, runtime } = manager;
  const files = estate(manager, ESTATE);
  const packageFile = runtime === 'python' ? 'pyproject.toml' : 'package.json';
  return [
    {
      name: `${name}: a stack that asks for one package less, and one more`,
      files,
      steps: [
        {
          edit: manager.files(asking(ESTATE, 2, [3])),
          then: { w2: changed(lockfile, `folder/w2/${packageFile}`) },
        },
        {
          edit: manager.files(asking(ESTATE, 2, [3, 0])),
          then: { w2: changed(lockfile, `folder/w2/${packageFile}`) },
        },
      ],
    },
    {
      name: `${name}: a library that asks for one package less`,
      files,
      steps: [
        {
          edit: manager.files(asking(ESTATE, LIBRARY, [])),
          then: { w1: changed(lockfile, `folder/w3/${packageFile}`) },
        },
      ],
    },
  ];
};

const lockfileCases = ([name, manager]: Named): Case[] => {
  const { lockfile } = manager;
  const files = estate(manager, ESTATE);
  const lock = changed(lockfile);
  return [
    {
      name: `${name}: a lockfile of a form that is not known runs all that install by it`,
      files,
      steps: [
        {
          edit: { [lockfile]: 'what: [is, this' },
          then: { w1: /InputChanged: .*lock/, w2: /InputChanged: .*lock/ },
        },
        { edit: { [lockfile]: 'what: [is, that' }, then: { w1: lock, w2: lock } },
      ],
    },
    {
      name: `${name}: the lockfile goes, and comes back`,
      files,
      steps: [
        { edit: { [lockfile]: null }, then: { w1: /InputChanged: .*lock/, w2: /InputChanged: .*lock/ } },
        { edit: files, then: { w1: /InputChanged: .*lock/, w2: /InputChanged: .*lock/ } },
      ],
    },
  ];
};

const NPM = estate(MANAGERS['npm'] as Manager, ESTATE);

const bun: Files = { ...estate({ ...(MANAGERS['npm'] as Manager), files: () => ({}) }, ESTATE) };

const more: readonly Case[] = [
  {
    name: 'a lockfile of a manager that is not read runs all that install by it',
    files: {
      ...bun,
      ...Object.fromEntries(Object.entries(NPM).filter(([path]) => path.endsWith('package.json'))),
      'bun.lock': '{ "lockfileVersion": 1 }',
    },
    steps: [
      {
        edit: { 'bun.lock': '{ "lockfileVersion": 1, "x": 1 }' },
        then: { w1: changed('bun.lock'), w2: changed('bun.lock') },
      },
    ],
  },
  {
    name: 'settings of the manager in the root',
    files: NPM,
    steps: [
      {
        edit: { '.npmrc': 'legacy-peer-deps=true\n' },
        then: { w1: changed('.npmrc'), w2: changed('.npmrc') },
      },
      { edit: { 'CHANGELOG.md': '1', 'folder/notes.md': '1' }, then: {} },
    ],
  },
  {
    name: 'words in the root manifest that no install reads',
    files: NPM,
    steps: [
      {
        edit: {
          'package.json': JSON.stringify({
            ...(JSON.parse(textOf(NPM['package.json'])) as object),
            description: 'ours',
            keywords: ['x'],
          }),
        },
        then: {},
      },
    ],
  },
];

/** The library under another name: in its manifest, in those that ask for it, and in the lockfile. */
const renamed: Files = Object.fromEntries(
  Object.entries(NPM)
    .filter(([path]) => path.endsWith('.json'))
    .map(([path, text]) => [path, textOf(text).replaceAll(/(?<!folder\/)\bw3\b/g, 'library')]),
);

const renames: readonly Case[] = [
  {
    name: 'a workspace that is renamed',
    files: NPM,
    steps: [
      {
        edit: renamed,
        then: { w1: changed('folder/w1/package.json', 'folder/w3/package.json', 'package-lock.json') },
      },
    ],
  },
  {
    name: 'a workspace that is deleted, and one that comes, without any use of it',
    files: { ...NPM, 'folder/unused/package.json': '{"name": "unused", "version": "1.0.0"}' },
    steps: [
      { edit: { 'folder/unused/package.json': null }, then: {} },
      { edit: { 'folder/new/package.json': '{"name": "new", "version": "1.0.0"}' }, then: {} },
    ],
  },
];

const managed = [packagesCases, manifestsCases, lockfileCases].flatMap((cases) =>
  Object.entries(MANAGERS).flatMap(cases),
);

runCases('packages', [...managed, ...more, ...renames]);
