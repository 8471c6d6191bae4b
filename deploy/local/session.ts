/** One call of `towline local`: prepares, starts the fleet, follows or plays, and stops everything again. */
import { join } from 'node:path';
import { limits } from '../../shared/limits.ts';
import { findTools } from '../tools/find.ts';
import { makeApi, type Api } from './api.ts';
import { play } from './demo/play.ts';
import { STEPS } from './demo/script.ts';
import { asScripted } from './demo/story.ts';
import { makeFleet } from './fleet.ts';
import { makeFollower, type Follower } from './follow.ts';
import { makeOpen } from './input.ts';
import { choosePlace } from './place.ts';
import { prepare, type Prepared } from './prepare.ts';
import { claimFleet } from './processes.ts';
import { makePulse } from './pulse.ts';
import type { Screen } from './screen.ts';
import type { LocalValues } from './settings.ts';
import { exitCodeOf } from './standing.ts';
import { sumUp, untilAtRest, untilStopped, type Sum } from './watch.ts';

export interface Call {
  readonly values: LocalValues;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly screen: Screen;
  readonly cwd: string;
}

/** Aborted by the first and the second request to stop. */
export interface Stops {
  readonly stop: AbortSignal;
  readonly hurry: AbortSignal;
}

export interface Outcome {
  readonly exitCode: 0 | 1 | 2;
  /** Absent: it was stopped before there was one. */
  readonly result?: Sum;
  /** What is wrong with manifests, with file and line. */
  readonly problems: readonly string[];
}

/** Two graces of a run, and time to report its end. */
const AGENT_GRACE_MS = limits.stopGraceMs + limits.stopSecondGraceMs + 10_000;

/** Rejects with BadInput, FolderTaken or ToolMissing before anything was started, with another error when it broke. */
export async function runSession(call: Call, stops: Stops): Promise<Outcome> {
  const { values, environment, screen, cwd } = call;
  const isRoot = process.getuid?.() === 0;
  const tools = await findTools(environment);
  const place = await choosePlace(values, { cwd, isRoot });
  if (place.note !== undefined) screen.say(place.note);
  await makeOpen(place.data);
  const processes = await claimFleet(place.data, (text) => screen.say(text));
  const [broken, over] = [new AbortController(), new AbortController()];
  try {
    const prepared = await prepare({ ...call, isRoot }, place.data, tools);
    const { setup } = prepared;
    const address = `http://${setup.listen}`;
    const [api, pulse] = [makeApi(address), makePulse(address, over.signal)];
    const fleet = makeFleet(setup, {
      api,
      pulse,
      processes,
      agentGraceMs: AGENT_GRACE_MS,
      say: (text) => screen.say(text),
      fail: (error) => broken.abort(error),
    });
    const stop = AbortSignal.any([stops.stop, broken.signal]);
    try {
      await fleet.start(stop);
      screen.say(`API: ${address}  logs: ${setup.folders.logs}`);
      const follower = makeFollower({ api, pulse }, screen);
      return await work({ call, prepared, api, follower, since: Date.now() }, stop);
    } finally {
      over.abort();
      screen.show([]);
      await fleet.stop(stops.hurry);
    }
  } finally {
    await processes.release();
  }
}

interface Work {
  readonly call: Call;
  readonly prepared: Prepared;
  readonly api: Api;
  readonly follower: Follower;
  /** When the fleet was ready, ms. */
  readonly since: number;
}

async function work(working: Work, stop: AbortSignal): Promise<Outcome> {
  const { call, prepared, api, follower, since } = working;
  const { demo } = prepared;
  if (demo === undefined) return followRepository(working, stop);
  const { screen, values } = call;
  const { folder } = demo.sample;
  screen.say(
    `the sample repository: ${folder}`,
    `what its stacks make: ${join(prepared.setup.folders.data, 'signs')}`,
    '',
  );
  const first = { sha: demo.sha, since };
  const result = await play({ sample: demo.sample, first, api, follower, screen }, stop);
  const exitCode = asScripted(STEPS, result) ? 0 : 1;
  if (!values.once) {
    screen.say('', `Commit to ${folder} and watch; Ctrl-C ends it.`);
    await untilStopped(working, stop);
  }
  return { exitCode, result, problems: [] };
}

async function followRepository(working: Work, stop: AbortSignal): Promise<Outcome> {
  const { call, follower, since } = working;
  const { url, ref } = working.prepared.setup.repository;
  call.screen.say(
    `${url} at ${ref}; agents make their own keys, publicKeys of Cluster manifests are not used`,
    '',
  );
  if (call.values.once) await untilAtRest(working, stop);
  else await untilStopped(working, stop);
  const problems = follower.problems();
  return {
    exitCode: exitCodeOf(follower.rows(), problems.length),
    result: await sumUp(working, since),
    problems,
  };
}
