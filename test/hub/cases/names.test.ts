/** Paths with odd names, and names that begin alike. */
import { BYSTANDER, moved, program, together, type Files } from './files.ts';
import { runCases, type Case, type Step } from './run.ts';
import { changed } from './verdicts.ts';

/** What a parser of lines, of quoted text, of patterns or of a shell's words gets wrong. */
const NAMES: Readonly<Record<string, string>> = {
  'é in one character': 'caf\u00e9',
  'é in two characters': 'cafe\u0301',
  'an emoji': '🚀',
  'a tab': 'a\tb',
  'a line break': 'a\nb',
  'a carriage return': 'a\rb',
  'a quote': 'a"b',
  'quotes around it': '"ab"',
  'an apostrophe': "a'b",
  'a backslash': 'a\\b',
  'what reads like an escape': 'a\\303\\274b',
  'a space at its end': 'ab ',
  'a space at its start': ' ab',
  'only a space': ' ',
  'a dash at its start': '-ab',
  'an option': '--cached',
  wildcards: 'a*b?[c]',
  braces: '{a,b}',
  'a comment sign': '#ab',
  'an exclamation mark': '!ab',
  'a colon': ':(top)ab',
  'what a shell would run': '$(touch ab);ab',
  'percent signs': 'a%20b%00',
  'a control character': 'a\u0001b',
  'a delete character': 'a\u007fb',
  'a line separator': 'a\u2028b',
  'a direction mark': 'a\u202eb',
  'a byte order mark': '\ufeffab',
  'a name of the engine': '__proto__',
  'three dots': '...',
  'a tilde': '~',
  'as many bytes as there may be': 'x'.repeat(255),
};

const files = (name: string): Files => ({
  ...BYSTANDER,
  ...program('a', '', { files: { [name]: '1', [`${name}.d/${name}`]: '1' } }),
  ...program('b', '', { folder: `stacks/${name}` }),
});

const odd = Object.entries(NAMES).map(([what, name]): Case => {
  const file = `stacks/a/${name}`;
  const inner = `stacks/a/${name}.d/${name}`;
  const program = `stacks/${name}/index.ts`;
  const content = { [file]: '2', [inner]: '2', [program]: '2', [`elsewhere/${name}`]: '2' };
  const steps: Step[] = [
    { edit: content, then: { a: changed(file, inner), b: changed(program) } },
    { edit: { [file]: null }, then: { a: changed(file) } },
  ];
  return { name: `a name with ${what}`, files: files(name), steps };
});

const ALIKE = ['a', 'aa', 'a-b', 'a.b', 'a b', 'A', 'b'];

const alike: Case = {
  name: 'stacks whose names begin or end alike, or differ in case',
  files: {
    ...together(ALIKE.map((name, n) => program(`s${n}`, '', { folder: `stacks/${name}` }))),
    ...program('old', '', { folder: 'old/stacks/a' }),
  },
  steps: ALIKE.map((name, n) => ({
    edit: { [`stacks/${name}/index.ts`]: '2' },
    then: { [`s${n}`]: changed(`stacks/${name}/index.ts`) },
  })),
};

/** Not UTF-8: a byte of Latin-1, and the first byte of two. */
const [LATIN, CUT] = ['caf\udce9', 'caf\udcc3'];

const others: readonly Case[] = [
  {
    name: 'a name that is not UTF-8 refuses its stack only, until it goes',
    files: { ...BYSTANDER, ...program('a', ''), ...program('b', '') },
    steps: [
      {
        edit: { [`stacks/a/${LATIN}`]: '1', 'stacks/b/index.ts': '2' },
        then: { a: /^refused Invalid: .*not valid UTF-8; rename it/, b: changed('stacks/b/index.ts') },
      },
      { edit: { [`stacks/a/${LATIN}`]: null }, then: {} },
    ],
  },
  {
    name: 'names that are not UTF-8 outside of every stack keep back nothing',
    files: { ...BYSTANDER, ...program('a', ''), [`other/${LATIN}`]: '1' },
    steps: [
      {
        edit: { [`other/${LATIN}`]: null, [`other/${CUT}`]: '1', 'stacks/a/index.ts': '2' },
        then: { a: changed('stacks/a/index.ts') },
      },
    ],
  },
  {
    name: 'two spellings of one character are two files',
    files: { ...BYSTANDER, ...program('a', '', { files: { 'caf\u00e9': '1' } }) },
    steps: [
      {
        edit: moved('stacks/a/caf\u00e9', 'stacks/a/cafe\u0301'),
        then: { a: changed('stacks/a/caf\u00e9', 'stacks/a/cafe\u0301') },
      },
    ],
  },
  {
    name: 'only the case of a name',
    files: { ...BYSTANDER, ...program('a', '', { files: { Readme: '1' } }) },
    steps: [
      {
        edit: moved('stacks/a/Readme', 'stacks/a/readme'),
        then: { a: changed('stacks/a/Readme', 'stacks/a/readme') },
      },
    ],
  },
  {
    name: 'empty files that come, get content and go',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      { edit: { 'stacks/a/empty': '' }, then: { a: changed('stacks/a/empty') } },
      { edit: { 'stacks/a/empty': '1' }, then: { a: changed('stacks/a/empty') } },
      { edit: { 'stacks/a/empty': null }, then: { a: changed('stacks/a/empty') } },
    ],
  },
  {
    name: 'a file that lies too deep refuses its stack only',
    files: { ...BYSTANDER, ...program('a', ''), ...program('b', '') },
    steps: [
      {
        edit: { [`stacks/a/${'d/'.repeat(70)}f`]: '1', 'stacks/b/index.ts': '2' },
        then: { a: /^refused Invalid: .*more than 64 folders deep/, b: changed('stacks/b/index.ts') },
      },
    ],
  },
  {
    name: 'shared folders whose names begin alike',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../libs/x/index.ts';\n"),
      ...program('b', "import '../../libs/xy/index.ts';\n"),
      ...program('c', '', { spec: { source: { include: ['/libs/x/**'] } } }),
      ...program('d', '', { spec: { source: { include: ['../../libs/xy'] } } }),
      'libs/x/index.ts': '',
      'libs/xy/index.ts': '',
      'other/libs/x/index.ts': '',
    },
    steps: [
      {
        edit: { 'libs/x/index.ts': '2' },
        then: { a: changed('libs/x/index.ts'), c: changed('libs/x/index.ts') },
      },
      {
        edit: { 'libs/xy/index.ts': '2' },
        then: { b: changed('libs/xy/index.ts'), d: changed('libs/xy/index.ts') },
      },
      {
        edit: {
          ...{ 'other/libs/x/index.ts': '2', 'stacks/index.ts': '2', 'stacks/a.ts': '2' },
          ...{ 'stacks/a0/x.ts': '2', 'stacks/aa/x.ts': '2', 'stacks/a-b/x.ts': '2', 'libs/x0.ts': '2' },
        },
        then: {},
      },
    ],
  },
];

runCases('names', [...odd, alike, ...others]);
