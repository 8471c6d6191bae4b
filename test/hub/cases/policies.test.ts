/** Stacks that must not run, and what is known of them all the same: suspended, claimed twice, moved, refused. */
import { both, BYSTANDER, manifest, moved, other, program, project, stack, together } from './files.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

const SUSPENDED = { suspend: { reason: 'change freeze' } };

const suspended: readonly Case[] = [
  {
    name: 'a suspended stack does not run with the template that it shares, and what it misses is known',
    files: {
      ...program('a', "import '../../libs/template';\n"),
      ...program('b', "import '../../libs/template';\n"),
      'libs/template.ts': '',
    },
    steps: [
      { edit: { 'stacks/a/towline.yaml': manifest('a', SUSPENDED) }, then: { a: 'hold Suspended' } },
      {
        edit: { 'libs/template.ts': '1' },
        then: { a: 'hold Suspended + InputChanged: libs/template.ts', b: changed('libs/template.ts') },
      },
      { edit: { 'stacks/b/index.ts': '1' }, then: { a: /^hold Suspended/, b: /^InputChanged/ } },
      { edit: { 'stacks/a/towline.yaml': manifest('a') }, then: { a: changed('libs/template.ts') } },
    ],
  },
  {
    name: 'a stack that was suspended while nothing changed goes on without a run',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      { edit: { 'stacks/a/towline.yaml': manifest('a', SUSPENDED) }, then: { a: 'hold Suspended' } },
      { edit: { 'stacks/a/towline.yaml': manifest('a') }, then: { a: 'policy OnlyPolicyChanged' } },
    ],
  },
  {
    name: 'a new stack that is suspended waits',
    files: { ...BYSTANDER, ...program('a', '', { spec: SUSPENDED }) },
    first: { a: 'hold Suspended + NewPlacement', bystander: 'NewPlacement' },
    steps: [{ edit: { 'stacks/a/towline.yaml': manifest('a') }, then: { a: 'NewPlacement' } }],
  },
];

const contested: readonly Case[] = [
  {
    name: 'two manifests of one identity in one commit: neither runs',
    files: { ...BYSTANDER, ...stack('x', { spec: { suspend: { reason: 'later' } } }) },
    first: { bystander: 'NewPlacement', x: 'hold Suspended + NewPlacement' },
    steps: [
      {
        edit: {
          'one/towline.yaml': manifest('a'),
          'one/Pulumi.yaml': project('a'),
          'two/towline.yaml': manifest('a'),
          'two/Pulumi.yaml': project('a'),
        },
        then: { a: /^refused DuplicateIdentity/, x: /^hold Suspended/ },
      },
    ],
  },
  {
    name: 'a second manifest of an identity that runs already: the order in force stays',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      {
        edit: {
          'two/towline.yaml': manifest('a'),
          'two/Pulumi.yaml': project('a'),
          'stacks/a/index.ts': '1',
        },
        then: { a: /^refused DuplicateIdentity/ },
      },
      { edit: { 'two/towline.yaml': null }, then: { a: changed('stacks/a/index.ts') } },
    ],
  },
  {
    name: 'a manifest that is copied and its old place deleted in one commit is a move',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      {
        edit: moved('stacks/a', 'b/a'),
        then: { a: /^InputChanged: file .* \+ ConfigChanged: field project changed$/ },
      },
    ],
  },
  {
    name: 'a newcomer to a Pulumi stack that is taken is refused, the incumbent runs',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      {
        edit: both(
          { 'stacks/a/index.ts': '1' },
          stack('b', { spec: { pulumiStack: 'organization/a/{cluster}' } }),
          {
            'stacks/b/Pulumi.yaml': project('a'),
          },
        ),
        then: { a: changed('stacks/a/index.ts'), b: /^refused ClaimConflict/ },
      },
    ],
  },
  {
    name: 'another Pulumi stack is held until it is said what is left for it',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      {
        edit: { 'stacks/a/towline.yaml': manifest('a', { pulumiStack: 'organization/a/other' }) },
        then: { a: /^hold StackIdentityChanged/ },
      },
      {
        edit: {
          'stacks/a/towline.yaml': manifest('a', {
            pulumiStack: 'organization/a/other',
            movedFrom: { pulumiStack: 'organization/a/c' },
          }),
        },
        then: { a: /^ConfigChanged: field pulumiStack changed/ },
      },
    ],
  },
  {
    name: 'a stack under another name: the old one is orphaned and keeps what it claims',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      {
        edit: { 'stacks/a/towline.yaml': manifest('b', { pulumiStack: 'organization/a/{cluster}' }) },
        then: { a: /^hold Orphaned/, b: /^refused ClaimConflict/ },
      },
    ],
  },
];

const refused: readonly Case[] = [
  {
    name: 'a manifest that no longer parses keeps its order, and everything else goes on',
    files: { ...program('a', ''), ...program('b', '') },
    steps: [
      {
        edit: {
          'stacks/a/towline.yaml': 'apiVersion: towline.dev/v1\nkind: Stack\n  metadata: {\n',
          'stacks/b/index.ts': '1',
        },
        then: { a: /^refused Invalid/, b: changed('stacks/b/index.ts') },
      },
      { edit: { 'stacks/a/towline.yaml': manifest('a') }, then: {} },
    ],
  },
  {
    name: 'an order of runs that is asked for and not built refuses its stack only',
    files: { ...program('a', ''), ...program('b', '') },
    steps: [
      {
        edit: {
          'stacks/a/towline.yaml': manifest('a', { dependsOn: [{ stack: 'apps/b' }] }),
          'stacks/b/index.ts': '1',
        },
        then: { a: /^refused NotYetSupported: .*dependsOn/, b: changed('stacks/b/index.ts') },
      },
    ],
  },
  {
    name: 'how a stack runs is no reason to run it',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      {
        edit: { 'stacks/a/towline.yaml': manifest('a', { run: { timeout: '5m', priority: 3 } }) },
        then: { a: 'policy OnlyPolicyChanged' },
      },
      {
        edit: {
          'stacks/a/towline.yaml': `# a comment\n${manifest('a', { run: { priority: 3, timeout: '5m' } })}`,
        },
        then: {},
      },
      {
        edit: {
          'stacks/a/towline.yaml': manifest('a', {
            run: { timeout: '5m', priority: 3 },
            runRequest: 'again',
          }),
        },
        then: { a: 'RunRequested' },
      },
    ],
  },
  {
    name: 'the Defaults of a folder run those whose fields they change',
    files: {
      ...together(['a', 'b'].map((name) => program(name, '', { folder: `team/${name}` }))),
      ...program('c', ''),
      'team/b/towline.yaml': manifest('b', { stackConfig: 'ignore' }),
      'team/defaults.yaml': other('Defaults', 'team', { stackConfig: 'merge' }),
    },
    steps: [
      {
        edit: { 'team/defaults.yaml': other('Defaults', 'team', { stackConfig: 'ignore' }) },
        then: { a: 'ConfigChanged: stackConfig' },
      },
    ],
  },
];

runCases('policies', [...suspended, ...contested, ...refused]);
