/** One workspace of 500 packages, and the same questions about its commits to Towline, Nx and Turborepo. */
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import { summaryOf } from '../statistics.ts';
import type { Comparison, Tool } from './figures.ts';
import { ask, type Told } from './peers/ask.ts';
import type { Case } from './peers/case.ts';
import { casesOf } from './peers/cases.ts';
import { makeFleet, pose, settle, type Fleet } from './peers/fleet.ts';
import { installPeers, versionOf } from './peers/install.ts';
import { makeResident } from './peers/resident.ts';
import { peersIn, SETTINGS, towline, type Asking, type Question } from './peers/tools.ts';
import { filesOf, makeWorkspace, namesOfStacks } from './peers/workspace.ts';

type Say = (text: string) => void;

/** More names than these tell nobody more. */
const NAMES_SHOWN = 5;

/**
 * Puts the question of each case to a hub, to `towline affected` and to the other tools, one after the other, and says
 * each wrong answer. A tool that cannot even tell that nothing differs between a commit and itself is left out, and that
 * is said. Rejects when no other tool is left.
 */
export async function comparePeers(owner: Owner, say: Say): Promise<Comparison> {
  const folder = await tempFolder(owner, 'peers');
  const modules = await installPeers(say);
  const workspace = makeWorkspace();
  const cases = casesOf(workspace);
  const before = cases.flatMap((one) => one.before ?? []);
  const fleet = await makeFleet(join(folder, 'fleet'), [...filesOf(workspace), ...SETTINGS, ...before]);
  await symlink(modules, join(fleet.repository, 'node_modules'));
  const home = join(folder, 'home');
  await mkdir(home);
  const hub = await makeResident(fleet.repository, join(folder, 'mirrors'));
  atEnd(owner, () => hub.close());
  const commandOf = (tool: Asking): Asked => ({
    name: tool.name,
    ask: (question) => ask(tool, question, home),
  });
  const peers = await usable(fleet, peersIn(modules).map(commandOf), say);
  for (const { name } of peers) say(`${name} ${await versionOf(modules, name)}`);
  const known = new Set([...namesOfStacks(workspace.members), ...cases.flatMap(({ affects }) => affects)]);
  const put: Put = { fleet, known, say };
  const asked = [{ name: 'the hub', ask: hub.ask }, commandOf(towline), ...peers];
  const [ours, command, ...others] = await askAll(put, cases, asked);
  if (ours === undefined || command === undefined) throw new Error('nothing was asked');
  return { ours, command, peers: others.map((tool, n) => ({ name: peers[n]?.name ?? '', ...tool })) };
}

interface Asked {
  readonly name: string;
  readonly ask: (question: Question) => Promise<Told>;
}

async function usable(fleet: Fleet, peers: readonly Asked[], say: Say): Promise<readonly Asked[]> {
  const question = await pose(fleet, { name: '', commits: [], affects: [] });
  const able: Asked[] = [];
  for (const peer of peers) {
    const { answer } = await peer.ask(question);
    if (answer.kind === 'names') able.push(peer);
    else say(`${peer.name} IS LEFT OUT: it ${answer.why}`);
  }
  if (able.length === 0) throw new Error('none of the other tools can run here');
  return able;
}

interface Put {
  readonly fleet: Fleet;
  /** Of the names in answers, those that are stacks. */
  readonly known: ReadonlySet<string>;
  readonly say: Say;
}

/** In the order of those who are asked. All are asked about a case before the next one: the machine is as busy for each. */
async function askAll(
  { fleet, known, say }: Put,
  cases: readonly Case[],
  asked: readonly Asked[],
): Promise<readonly Tool[]> {
  const given = asked.map(() => ({ seconds: [] as number[], wrong: 0 }));
  for (const one of cases) {
    const question = await pose(fleet, one);
    for (const [n, { name, ask: putTo }] of asked.entries()) {
      const told = await putTo(question);
      const fault = faultOf(told, one, known);
      given[n]?.seconds.push(told.seconds);
      if (fault === undefined) continue;
      say(`${name}, ${one.name}: ${fault}`);
      if (given[n] !== undefined) given[n].wrong += 1;
    }
    await settle(fleet, one);
  }
  return given.map(({ seconds, wrong }) => ({ seconds: summaryOf(seconds).median, wrong }));
}

/** What is wrong with an answer. Undefined: nothing. */
function faultOf({ answer }: Told, { affects }: Case, known: ReadonlySet<string>): string | undefined {
  if (answer.kind === 'none') return answer.why;
  const named = new Set(answer.names.filter((name) => known.has(name)));
  const missing = affects.filter((name) => !named.has(name));
  const extra = [...named].filter((name) => !affects.includes(name));
  const faults = [listed('misses', missing), listed('names for nothing', extra)].filter(Boolean);
  return faults.length === 0 ? undefined : faults.join(', ');
}

const listed = (what: string, names: readonly string[]): string =>
  names.length === 0
    ? ''
    : `${what} ${names.length}: ${names.slice(0, NAMES_SHOWN).join(' ')}${names.length > NAMES_SHOWN ? ' …' : ''}`;
