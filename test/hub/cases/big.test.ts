/** Commits of more files than hosts of repositories list. */
import { BYSTANDER, program, type Files } from './files.ts';
import { runCases } from './run.ts';
import { changed } from './verdicts.ts';

/** More than the 3,000 files at which lists of changes end elsewhere. */
const MANY = 6_000;

const many = (content: string): Files =>
  Object.fromEntries(Array.from({ length: MANY }, (_, n) => [`data/${n % 60}/${n}.txt`, content]));

runCases('big commits', [
  {
    name: `${MANY} files, and the last one matters`,
    files: { ...BYSTANDER, ...program('a', "import '../../zz/last';\n"), ...many('1'), 'zz/last.ts': '1' },
    steps: [
      { edit: { ...many('2'), 'zz/last.ts': '2' }, then: { a: changed('zz/last.ts') } },
      {
        edit: { ...many('3'), 'stacks/bystander/index.ts': '2' },
        then: { bystander: changed('stacks/bystander/index.ts') },
      },
    ],
  },
]);
