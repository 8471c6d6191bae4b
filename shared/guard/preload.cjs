/*
 * Loaded into every Node.js process of a run, before the program (NODE_OPTIONS). Questions about files that the
 * repository has and this stack did not declare are refused: a program that got "there is none" for an answer would see
 * less than the repository holds, and could delete what it made of the rest.
 *
 * A refused question ends the process even where the program catches the error: `existsSync` written by hand catches it.
 * What lies outside the files of the run, or is declared, or is nowhere, is answered as ever.
 */
'use strict';

const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { fileURLToPath } = require('node:url');
const { promisify } = require('node:util');

const { appendFileSync, existsSync, readFileSync } = fs;

/** `{ roots, folders: { path: { undeclared, withheld, closed, present } }, tools, report }`; none before it is written. */
function readPlan(file) {
  if (!file || !existsSync(file)) return undefined;
  const plan = JSON.parse(readFileSync(file, 'utf8'));
  const folders = new Map();
  const above = new Set(['.']);
  for (const [folder, partial] of Object.entries(plan.folders)) {
    const { undeclared = [], withheld = [], closed = false, present = [] } = partial;
    folders.set(folder, {
      isPartial: closed || undeclared.length > 0,
      undeclared: new Set(undeclared),
      withheld: new Set(withheld),
      closed,
      present: new Set(present),
    });
    for (let at = folder; at !== '.'; at = path.posix.dirname(at)) above.add(at);
  }
  return { ...plan, tools: new Set(plan.tools), folders, above };
}

const plan = readPlan(process.env.TOWLINE_GUARD);

/** The path from the root of the run's files; undefined for everything else, such as a descriptor. */
function locate(value) {
  let text = value;
  if (value instanceof URL) text = value.protocol === 'file:' ? fileURLToPath(value) : undefined;
  else if (value instanceof Uint8Array) text = Buffer.from(value).toString();
  if (typeof text !== 'string' || text === '') return undefined;
  const full = path.resolve(text);
  for (const root of plan.roots) {
    if (full === root) return '.';
    if (full.startsWith(`${root}/`)) return full.slice(root.length + 1);
  }
  return undefined;
}

const inside = (folder, name) => (folder === '.' ? name : `${folder}/${name}`);

/** What a path is about that is not declared; undefined when there is nothing of that kind. */
function faultOf(relative) {
  if (relative === undefined || relative === '.') return undefined;
  let folder = '.';
  const parts = relative.split('/');
  for (let n = 0; n < parts.length && plan.above.has(folder); n++) {
    const name = parts[n];
    const partial = plan.folders.get(folder);
    const entry = inside(folder, name);
    if (partial !== undefined) {
      if (partial.undeclared.has(`${name}/`))
        return { kind: 'certain', entry: `${entry}/`, path: n === parts.length - 1 ? `${entry}/` : relative };
      if (partial.undeclared.has(name)) return { kind: 'certain', entry, path: entry };
      if (partial.withheld.has(name)) return { kind: 'rule', entry, path: entry };
      if (partial.closed && !partial.present.has(name) && !plan.tools.has(name))
        return { kind: 'maybe', entry, path: entry };
    }
    folder = entry;
  }
  return undefined;
}

/** The same for a list of the names in a folder, or of all below it. */
function listFaultOf(relative, recursive) {
  const fault = faultOf(relative);
  if (fault !== undefined || relative === undefined) return fault;
  const list = (folder) => ({ kind: 'list', entry: `${folder}/`, path: `${folder}/` });
  if (plan.folders.get(relative)?.isPartial) return list(relative);
  if (!recursive) return undefined;
  for (const [folder, { isPartial }] of plan.folders)
    if (isPartial && (relative === '.' || folder.startsWith(`${relative}/`))) return list(folder);
  return undefined;
}

const includeOf = (text) =>
  text === './' ? '/' : `/${text.replace(/[\\*?[\]]/g, '\\$&').replace(/ (?=$|\/$)/, '\\ ')}`;

function explain({ kind, entry, path: asked }) {
  const add = `add "${includeOf(asked)}" to source.include`;
  switch (kind) {
    case 'certain':
      return asked === entry
        ? `${entry} is in the repository and no input of this stack: ${add}`
        : `${entry} is in the repository and no input of this stack: ${add}, or "${includeOf(entry)}" for all of it`;
    case 'list':
      return `the repository has more in ${entry === './' ? 'its root' : entry} than this stack declares, so its names are no input: ${add}`;
    case 'rule':
      return path.posix.basename(entry).startsWith('Pulumi.')
        ? `${entry} holds settings of another stack and is no input of this one: ${add}`
        : `${entry} is a manifest, which is never an input: keep what the program needs in a file of its own`;
    default:
      return `${entry} is no input of this stack, and its folder holds too many names to tell whether the repository has it: ${add} if it does, or set source.hermetic: false`;
  }
}

/** The error; undefined where questions are only noted. */
function refuse(fault, call, shown) {
  if (plan.report !== undefined) {
    const { kind, entry, path: asked } = fault;
    const line = { kind, entry, include: includeOf(asked), call };
    appendFileSync(plan.report, `${JSON.stringify(line)}\n`);
    return undefined;
  }
  const text = shown instanceof URL ? fileURLToPath(shown) : String(shown);
  const error = new Error(`EACCES: permission denied, ${call} '${text}': ${explain(fault)}`);
  Object.assign(error, { errno: -13, code: 'EACCES', syscall: call, path: text });
  process.nextTick(() => {
    throw error;
  });
  return error;
}

const isAbsent = (error) => error?.code === 'ENOENT' || error?.code === 'ENOTDIR';

/** Puts a function in the place of another, with all that hangs on that one. */
function replace(object, name, make) {
  const original = object[name];
  if (typeof original !== 'function') return;
  const made = make(original);
  for (const key of Reflect.ownKeys(original).filter((one) => one !== 'prototype'))
    Object.defineProperty(made, key, {
      ...Object.getOwnPropertyDescriptor(original, key),
      configurable: true,
    });
  object[name] = made;
}

const onPath = (args) => faultOf(locate(args[0]));
const onList = (args) => listFaultOf(locate(args[0]), args[1]?.recursive === true);
const onTree = (args) => listFaultOf(locate(args[0]), true);
const WRITES = fs.constants.O_CREAT | fs.constants.O_WRONLY | fs.constants.O_RDWR;
/** What is written may be new: where it is not known to be in the repository, it is. */
function onOpen(args) {
  const fault = onPath(args);
  const flags = typeof args[1] === 'object' ? args[1]?.flag : args[1];
  const writes = typeof flags === 'number' ? (flags & WRITES) !== 0 : /[wa+]/.test(String(flags ?? 'r'));
  return fault?.kind === 'maybe' && writes ? undefined : fault;
}

const QUESTIONS = [
  ...['access', 'stat', 'lstat', 'readlink', 'realpath', 'copyFile'].map((name) => [name, onPath]),
  ...['open', 'readFile'].map((name) => [name, onOpen]),
  ...['readdir', 'opendir'].map((name) => [name, onList]),
  ['cp', onTree],
];

const guardSync = (name, ask, isNothing) => (original) =>
  function (...args) {
    const fault = ask(args);
    if (fault === undefined) return original.apply(this, args);
    const refusal = () => refuse(fault, name, args[0]);
    const error = fault.kind === 'maybe' ? undefined : refusal();
    if (error !== undefined) throw error;
    let result;
    try {
      result = original.apply(this, args);
    } catch (met) {
      throw (fault.kind === 'maybe' && isAbsent(met) ? refusal() : undefined) ?? met;
    }
    const late = fault.kind === 'maybe' && isNothing(result) ? refusal() : undefined;
    if (late !== undefined) throw late;
    return result;
  };

const guardCallback = (name, ask) => (original) =>
  function (...args) {
    const fault = ask(args);
    const answer = args.at(-1);
    if (fault === undefined || typeof answer !== 'function') return original.apply(this, args);
    const refusal = () => refuse(fault, name, args[0]);
    const error = fault.kind === 'maybe' ? undefined : refusal();
    if (error !== undefined) return process.nextTick(answer, error);
    const late = (met, ...rest) =>
      answer((fault.kind === 'maybe' && isAbsent(met) ? refusal() : undefined) ?? met, ...rest);
    return original.apply(this, [...args.slice(0, -1), late]);
  };

const guardPromise = (name, ask) => (original) =>
  function (...args) {
    const fault = ask(args);
    return fault === undefined
      ? original.apply(this, args)
      : settle(fault, { name, args, call: () => original.apply(this, args) });
  };

async function settle(fault, { name, args, call }) {
  const error = fault.kind === 'maybe' ? undefined : refuse(fault, name, args[0]);
  if (error !== undefined) throw error;
  try {
    return await call();
  } catch (met) {
    throw (fault.kind === 'maybe' && isAbsent(met) ? refuse(fault, name, args[0]) : undefined) ?? met;
  }
}

/** It has no way to tell an error: the program gets no answer, and the process ends. */
const guardExists = (original) =>
  function (file, answer) {
    const fault = onPath([file]);
    if (fault === undefined || typeof answer !== 'function') return original.call(this, file, answer);
    if (fault.kind !== 'maybe' && refuse(fault, 'exists', file) !== undefined) return undefined;
    return original.call(this, file, (there) => {
      const ends = !there && fault.kind === 'maybe' && refuse(fault, 'exists', file) !== undefined;
      if (!ends) answer(there);
    });
  };

const MAGIC = /[*?[\]{}()!+@]/;

/** Whether a glob whose parts are these comes to a path: it does where each part matches, a wildcard always. */
function reaches(pattern, parts) {
  if (parts.length === 0) return true;
  const [first, ...rest] = pattern;
  if (first === undefined) return false;
  if (first === '**') return true;
  return (MAGIC.test(first) || first === parts[0]) && reaches(rest, parts.slice(1));
}

/** Node's own glob asks behind the back of this file, and takes a refused folder for an empty one. */
function globFault(pattern, cwd) {
  const parts = path.resolve(cwd, pattern).split('/');
  const wild = parts.findIndex((part) => MAGIC.test(part));
  if (wild < 0) return faultOf(locate(path.resolve(cwd, pattern)));
  const base = parts.slice(0, wild).join('/') || '/';
  const start = locate(base);
  const fault = start === undefined ? undefined : faultOf(start);
  if (fault !== undefined || start === undefined) return fault;
  const rest = parts.slice(wild);
  for (const [folder, { isPartial, undeclared }] of plan.folders) {
    const below = start === '.' ? folder : path.posix.relative(start, folder);
    if (below.startsWith('..')) continue;
    const names = below === '' || below === '.' ? [] : below.split('/');
    if (!reaches(rest, names)) continue;
    const next = rest.includes('**') ? '**' : rest[names.length];
    if (next === undefined) continue;
    if (MAGIC.test(next) && isPartial) return { kind: 'list', entry: `${folder}/`, path: `${folder}/` };
    if (undeclared.has(next) || undeclared.has(`${next}/`)) return faultOf(inside(folder, next));
  }
  return undefined;
}

function checkGlob(pattern, options) {
  const cwd = options?.cwd instanceof URL ? fileURLToPath(options.cwd) : (options?.cwd ?? '.');
  for (const one of Array.isArray(pattern) ? pattern : [pattern]) {
    const fault = typeof one === 'string' ? globFault(one, cwd) : undefined;
    const error = fault === undefined ? undefined : refuse(fault, 'glob', one);
    if (error !== undefined) return error;
  }
  return undefined;
}

function guardGlobs() {
  replace(fs, 'globSync', (original) => (pattern, options) => {
    const error = checkGlob(pattern, options);
    if (error !== undefined) throw error;
    return original(pattern, options);
  });
  replace(fs, 'glob', (original) => (pattern, ...rest) => {
    const error = checkGlob(pattern, rest.length > 1 ? rest[0] : undefined);
    return error === undefined ? original(pattern, ...rest) : process.nextTick(rest.at(-1), error);
  });
  replace(
    fs.promises,
    'glob',
    (original) =>
      async function* (pattern, options) {
        const error = checkGlob(pattern, options);
        if (error !== undefined) throw error;
        yield* original(pattern, options);
      },
  );
}

/** A module may be named without its extension: then its folder is what adds it. */
function moduleFault(file) {
  const fault = faultOf(locate(file));
  const isWhole = fault === undefined || fault.path === fault.entry || path.extname(file) !== '';
  return isWhole ? fault : { ...fault, path: `${path.posix.dirname(fault.path)}/` };
}

/** A module that is not there, or lies there empty, is not declared; Node asks for modules in ways of its own. */
function guardModules() {
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (request, parent, ...rest) {
    const check = (file, error) => {
      const fault = moduleFault(file);
      const refusal =
        fault === undefined || fault.kind === 'maybe' ? undefined : refuse(fault, 'require', file);
      if (refusal ?? error) throw refusal ?? error;
    };
    let found;
    try {
      found = resolve.call(this, request, parent, ...rest);
    } catch (error) {
      const isPath = typeof request === 'string' && /^\.{0,2}\//.test(request);
      if (error?.code !== 'MODULE_NOT_FOUND' || !isPath) throw error;
      check(path.resolve(path.dirname(parent?.filename ?? path.resolve('x')), request), error);
    }
    if (typeof found === 'string' && path.isAbsolute(found)) check(found, undefined);
    return found;
  };
}

function guard() {
  const isMissing = {
    existsSync: (there) => !there,
    statSync: (stats) => !stats,
    lstatSync: (stats) => !stats,
  };
  const never = () => false;
  for (const [name, ask] of QUESTIONS) {
    const sync = `${name}Sync`;
    replace(fs, sync, guardSync(name, ask, isMissing[sync] ?? never));
    replace(fs, name, guardCallback(name, ask));
    replace(fs.promises, name, guardPromise(name, ask));
  }
  replace(fs, 'existsSync', guardSync('exists', onPath, isMissing.existsSync));
  replace(fs, 'exists', guardExists);
  const { exists } = fs;
  const promised = (file) => new Promise((answer) => exists(file, answer));
  Object.defineProperty(exists, promisify.custom, { value: promised, configurable: true });
  replace(fs.realpathSync, 'native', guardSync('realpath', onPath, never));
  replace(fs.realpath, 'native', guardCallback('realpath', onPath));
  guardGlobs();
  guardModules();
  Module.syncBuiltinESMExports();
}

if (plan !== undefined) guard();
