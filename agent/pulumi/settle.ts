/** Lays the stack's settings file into the workspace, and makes sure that the stack is there. */
import { basename } from 'node:path';
import { sha256 } from '../../shared/canonical.ts';
import { readArtifactFile, readIfThere, replaceFile, type RunUser } from '../folders.ts';
import type { Run } from '../run.ts';
import type { Watched } from '../runner/watch.ts';
import type { Cli } from './cli.ts';
import { encryptValue, freshState, isKeyOf, passphraseKey } from './encrypt.ts';
import {
  encryptionOf,
  isCloud,
  mergeSettings,
  parseSettings,
  qualifiedKey,
  renderSettings,
  withSecrets,
  type Read,
  type StackSettings,
} from './settings.ts';
import { makeStack, readState, setSecret } from './stack.ts';

/** What to settle. */
export interface Wish {
  readonly run: Run;
  readonly cli: Cli;
  readonly user: RunUser | undefined;
  /** Name of the project. */
  readonly project: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly passphrase?: string;
  /** State of the stack's encryption, where an earlier run learnt it. */
  readonly encryption?: string;
  /** No run has succeeded yet: the stack may not be there. */
  readonly first: boolean;
  readonly step: (step: string) => Promise<void>;
}

export type Settled =
  | {
      readonly kind: 'settled';
      /** Made just now, so its state is empty. */
      readonly created: boolean;
      readonly encryption?: string;
    }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly call: Watched };

/** Writes the settings, makes the stack if it may have to be made, then writes the secrets, encrypted for this stack. */
export async function settle(wish: Wish): Promise<Settled> {
  const original = await readArtifactFile(wish.run.settings);
  const plain = await writePlain(wish, original, wish.encryption);
  if (plain.kind === 'bad') return { kind: 'refused', why: plain.why };
  await wish.step('settings');
  const stack = await findStack(wish, encryptionOf(plain.value) !== undefined);
  if (stack.kind !== 'found') return stack;
  await wish.step('stack');
  const settings =
    stack.encryption === undefined ? plain : await writePlain(wish, original, stack.encryption);
  if (settings.kind === 'bad') return { kind: 'refused', why: settings.why };
  const failed =
    Object.keys(wish.secrets).length === 0 ? undefined : await writeSecrets(wish, settings.value);
  if (failed !== undefined) return failed;
  const encryption = await learnEncryption(wish.run);
  return { kind: 'settled', created: stack.created, ...(encryption === undefined ? {} : { encryption }) };
}

/** The encryption state in the settings file as it is now. */
export async function learnEncryption(run: Run): Promise<string | undefined> {
  const text = await readIfThere(run.settings);
  const read = text === undefined ? undefined : parseSettings(text, basename(run.settings));
  return read?.kind === 'read' ? encryptionOf(read.value) : undefined;
}

async function writePlain(
  wish: Wish,
  original: string | undefined,
  encryption: string | undefined,
): Promise<Read<StackSettings>> {
  const { run, project } = wish;
  const merged = mergeSettings(original, basename(run.settings), {
    inputs: run.order.inputs,
    project,
    ...(encryption === undefined ? {} : { encryption }),
  });
  if (merged.kind === 'read') await write(wish, merged.value);
  return merged;
}

const write = ({ run, user }: Wish, settings: StackSettings): Promise<void> =>
  replaceFile(run.settings, renderSettings(settings, basename(run.settings)), user);

type Found =
  | { readonly kind: 'found'; readonly created: boolean; readonly encryption?: string }
  | Extract<Settled, { kind: 'failed' }>;

/** A stack that had a success is there. Otherwise it is made, or, where that is not wanted, looked for. */
async function findStack(wish: Wish, knowsEncryption: boolean): Promise<Found> {
  const { cli, run, first } = wish;
  const mayMake = run.order.policy.create === 'ifMissing';
  if (first && mayMake) {
    const made = await makeStack(cli, run.order);
    if (made.kind === 'failed') return made;
    if (made.kind === 'created') return found(true, await learnEncryption(run));
  }
  const needsKey = first || Object.keys(wish.secrets).length > 0;
  if (!(first && !mayMake) && (knowsEncryption || !needsKey)) return found(false);
  const looked = await readState(cli, run.order);
  return looked.kind === 'failed' ? looked : found(false, looked.state.encryption);
}

const found = (created: boolean, encryption?: string): Found => ({
  kind: 'found',
  created,
  ...(encryption === undefined ? {} : { encryption }),
});

/** Ciphertexts by stack, encryption state, key and value: a value is encrypted once, not once a run. */
const encrypted = new Map<string, string>();
/** Above it, all are made anew. */
const MAX_ENCRYPTED = 10_000;

async function writeSecrets(wish: Wish, settings: StackSettings): Promise<Settled | undefined> {
  const { run, passphrase } = wish;
  const provider = settings.secretsprovider;
  if (isCloud(provider)) return letPulumiEncrypt(wish, settings);
  if (passphrase === undefined)
    return run.backendUrl === '' || run.backendUrl.startsWith('http')
      ? letPulumiEncrypt(wish, settings)
      : {
          kind: 'refused',
          why: 'configSecrets need PULUMI_CONFIG_PASSPHRASE (or _FILE) or a secretsProvider',
        };
  const salt = settings.encryptionsalt ?? (await freshState(passphrase));
  const values = await encryptAll(wish, passphrase, salt);
  if (values === undefined)
    return { kind: 'refused', why: 'PULUMI_CONFIG_PASSPHRASE is not the one of this stack' };
  await write(wish, withSecrets({ ...settings, encryptionsalt: salt }, values));
  return undefined;
}

async function encryptAll(
  wish: Wish,
  passphrase: string,
  salt: string,
): Promise<Record<string, string> | undefined> {
  let key: Buffer | undefined;
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(wish.secrets)) {
    const id = sha256(JSON.stringify([salt, passphrase, name, value]));
    let cipher = encrypted.get(id);
    if (cipher === undefined) {
      key ??= await passphraseKey(passphrase, salt);
      if (!isKeyOf(key, salt)) return undefined;
      cipher = remember(id, encryptValue(key, value));
    }
    values[qualifiedKey(name, wish.project)] = cipher;
  }
  return values;
}

function remember(id: string, cipher: string): string {
  if (encrypted.size >= MAX_ENCRYPTED) encrypted.clear();
  encrypted.set(id, cipher);
  return cipher;
}

/** Cloud keys and the Pulumi Service are in reach of the CLI only: one process for each value that is new. */
async function letPulumiEncrypt(wish: Wish, settings: StackSettings): Promise<Settled | undefined> {
  const { run, cli } = wish;
  const scope = [
    run.backendUrl,
    run.order.inputs.pulumiStack,
    settings.secretsprovider,
    settings.encryptedkey,
  ];
  const known: Record<string, string> = {};
  const unknown: (readonly [string, string])[] = [];
  for (const [name, value] of Object.entries(wish.secrets)) {
    const key = qualifiedKey(name, wish.project);
    const cipher = encrypted.get(sha256(JSON.stringify([...scope, key, value])));
    if (cipher === undefined) unknown.push([key, value]);
    else known[key] = cipher;
  }
  await write(wish, withSecrets(settings, known));
  for (const entry of unknown) {
    const call = await setSecret(cli, run.order, entry);
    if (call.exit !== 0) return { kind: 'failed', call };
  }
  const read = parseSettings((await readIfThere(run.settings)) ?? '', basename(run.settings));
  if (read.kind === 'bad') return { kind: 'refused', why: read.why };
  // what was encrypted while the stack had no key yet belongs to the key that it has now
  scope[3] = read.value.encryptedkey;
  for (const [key, value] of unknown) {
    const secure = (read.value.config?.[key] as { secure?: string } | undefined)?.secure;
    if (secure !== undefined) remember(sha256(JSON.stringify([...scope, key, value])), secure);
  }
  return undefined;
}
