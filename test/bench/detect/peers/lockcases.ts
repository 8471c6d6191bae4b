/** Cases in which the lockfile that all share changes. Pure. */
import type { Edit } from '../estate.ts';
import type { Case } from './case.ts';
import {
  EVERYWHERE,
  lockfileOf,
  manifestOf,
  memberFiles,
  namesOfStacks,
  stacksUsing,
  type Member,
  type Workspace,
} from './workspace.ts';

/** Each begins with the workspace as it is; what changes in a package.json changes in the lockfile as npm would have it. */
export const lockfileCases = (workspace: Workspace): readonly Case[] => [
  {
    name: 'a newer version of what one stack installs',
    commits: [[lockfileOf(bumped(workspace, 'only-s050'))]],
    affects: ['s050'],
  },
  {
    name: 'a newer version of what a package of one stack needs',
    commits: [[lockfileOf(bumped(workspace, 'only-s051-deep'))]],
    affects: ['s051'],
  },
  {
    name: 'a newer version of what a library needs',
    commits: [[lockfileOf(bumped(workspace, 'p294'))]],
    affects: stacksUsing(workspace, ...installing(workspace, 'p294')),
  },
  {
    name: 'a newer version of what all install',
    commits: [[lockfileOf(bumped(workspace, EVERYWHERE))]],
    affects: namesOfStacks(workspace.members),
  },
  newStack(workspace),
  unusedLibrary(workspace),
  removedStack(workspace),
  movedStack(workspace),
  removedLibrary(workspace),
];

const bumped = (workspace: Workspace, name: string): Workspace => ({
  ...workspace,
  foreign: workspace.foreign.map((one) => (one.name === name ? { ...one, version: '1.1.0' } : one)),
});

/** Members that need a package from elsewhere, directly or through others. */
function installing({ members, foreign }: Workspace, name: string): readonly string[] {
  const reached = new Set([name]);
  for (let before = -1; before < reached.size;) {
    before = reached.size;
    for (const one of foreign) if (one.needs.some((needed) => reached.has(needed))) reached.add(one.name);
  }
  return members.filter(({ installs }) => installs.some((one) => reached.has(one))).map((one) => one.name);
}

const withMembers = (workspace: Workspace, members: readonly Member[]): Workspace => ({
  ...workspace,
  members,
});
const without = ({ members }: Workspace, name: string): readonly Member[] =>
  members.filter((member) => member.name !== name);
const gone = ({ folder }: Member): Edit => ({ path: folder, content: undefined });

function memberOf({ members }: Workspace, name: string): Member {
  const member = members.find((one) => one.name === name);
  if (member === undefined) throw new Error(`the workspace has no ${name}`);
  return member;
}

function newStack(workspace: Workspace): Case {
  const member = { ...memberOf(workspace, 's080'), name: 's080-new', folder: 'stacks/s080-new' };
  const after = withMembers(workspace, [...workspace.members, member]);
  return {
    name: 'a new stack',
    commits: [[...memberFiles(member), lockfileOf(after)]],
    affects: ['s080-new'],
  };
}

function unusedLibrary(workspace: Workspace): Case {
  const member = { ...memberOf(workspace, '@fleet/l090'), name: '@fleet/new', folder: 'libs/new' };
  const after = withMembers(workspace, [...workspace.members, member]);
  return {
    name: 'a new library that none uses',
    commits: [[...memberFiles(member), lockfileOf(after)]],
    affects: [],
  };
}

function removedStack(workspace: Workspace): Case {
  const after = withMembers(workspace, without(workspace, 's081'));
  return {
    name: 'a deleted stack',
    commits: [[gone(memberOf(workspace, 's081')), lockfileOf(after)]],
    affects: ['s081'],
  };
}

function movedStack(workspace: Workspace): Case {
  const member = { ...memberOf(workspace, 's082'), folder: 'stacks/elsewhere' };
  const after = withMembers(workspace, [...without(workspace, 's082'), member]);
  const edits = [gone(memberOf(workspace, 's082')), ...memberFiles(member), lockfileOf(after)];
  return { name: 'a stack in another folder', commits: [edits], affects: ['s082'] };
}

function removedLibrary(workspace: Workspace): Case {
  const name = '@fleet/l097';
  const users = workspace.members.filter(({ uses }) => uses.includes(name));
  const changed = users.map((user) => ({ ...user, uses: user.uses.filter((used) => used !== name) }));
  const names = new Set(users.map((user) => user.name));
  const after = withMembers(workspace, [
    ...without(workspace, name).filter((member) => !names.has(member.name)),
    ...changed,
  ]);
  const edits = [
    gone(memberOf(workspace, name)),
    ...changed.flatMap((user) => [manifestOf(user), ...indexOf(user)]),
    lockfileOf(after),
  ];
  return { name: 'a deleted library', commits: [edits], affects: stacksUsing(workspace, name) };
}

const indexOf = (member: Member): readonly Edit[] =>
  [...memberFiles(member)].filter(({ path }) => path === `${member.folder}/index.ts`);
