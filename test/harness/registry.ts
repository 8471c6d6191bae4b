/** A registry of packages on the loopback, for npm, pnpm and yarn: packages that the test makes, and nothing else. */
import { createHash } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import semver from 'semver';
import { pack } from 'tar-stream';
import { atEnd, type Owner } from './owned.ts';

/** A package.json with the contents of the package's files beside it. */
export interface MadePackage {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly engines?: Readonly<Record<string, string>>;
  /** By path. Default: an `index.js` that exports `name@version`. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface Registry {
  /** `http://127.0.0.1:PORT/` */
  readonly url: string;
  /** Path of every request since the start, oldest first. */
  readonly requests: readonly string[];
  /** Adds packages, or replaces those of the same name and version. The highest version is `latest`. */
  publish(...packages: readonly MadePackage[]): Promise<void>;
}

/** Long ago, so that no manager holds a version back as too new. */
const PUBLISHED_AT = '2020-01-01T00:00:00.000Z';

interface Version {
  readonly manifest: Readonly<Record<string, unknown>> & { readonly version: string };
  readonly tarball: Buffer;
}

type Shelf = Map<string, Map<string, Version>>;

/** Serves packages on a free port until the owner ends. Equal packages have equal bytes and checksums. */
export async function startRegistry(owner: Owner, packages: readonly MadePackage[] = []): Promise<Registry> {
  const shelf: Shelf = new Map();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/');
    requests.push(path);
    answer(shelf, path.slice(1), { response, url: urlOf(server) });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(owner, () => close(server));
  const publish = async (...more: readonly MadePackage[]): Promise<void> => {
    for (const made of more) {
      const versions = shelf.get(made.name) ?? new Map<string, Version>();
      shelf.set(made.name, versions.set(made.version, await versionOf(made)));
    }
  };
  await publish(...packages);
  return { url: urlOf(server), requests, publish };
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

/** `NAME` and `NAME/-/FILE-VERSION.tgz`; anything else, such as an audit, is not there. */
function answer(
  shelf: Shelf,
  path: string,
  { response, url }: { readonly response: ServerResponse; readonly url: string },
): void {
  const [name = '', file] = path.split('/-/');
  const versions = shelf.get(name);
  const version = file?.slice(`${baseOf(name)}-`.length, -'.tgz'.length);
  const tarball = version === undefined ? undefined : versions?.get(version)?.tarball;
  if (tarball !== undefined)
    return void response.setHeader('content-type', 'application/octet-stream').end(tarball);
  if (versions === undefined || file !== undefined)
    return void response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
  response.setHeader('content-type', 'application/json').end(JSON.stringify(packument(name, versions, url)));
}

const baseOf = (name: string): string => name.slice(name.indexOf('/') + 1);

function packument(name: string, versions: ReadonlyMap<string, Version>, url: string): unknown {
  const numbers = semver.sort([...versions.keys()]);
  const dated = numbers.map((number) => [number, PUBLISHED_AT] as const);
  return {
    name,
    'dist-tags': { latest: numbers.at(-1) },
    modified: PUBLISHED_AT,
    time: { created: PUBLISHED_AT, modified: PUBLISHED_AT, ...Object.fromEntries(dated) },
    versions: Object.fromEntries(
      [...versions.values()].map(({ manifest, tarball }) => [
        manifest.version,
        { ...manifest, dist: distOf(`${url}${name}/-/${baseOf(name)}-${manifest.version}.tgz`, tarball) },
      ]),
    ),
  };
}

const distOf = (url: string, tarball: Buffer): Record<string, string> => ({
  tarball: url,
  integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
  shasum: createHash('sha1').update(tarball).digest('hex'),
});

async function versionOf(made: MadePackage): Promise<Version> {
  const { files = { 'index.js': `module.exports = '${made.name}@${made.version}';\n` }, ...manifest } = made;
  const { scripts = {} } = made;
  const installs = ['preinstall', 'install', 'postinstall'].some((script) => script in scripts);
  const content = { 'package.json': `${JSON.stringify(manifest, null, 2)}\n`, ...files };
  return {
    manifest: { ...manifest, ...(installs ? { hasInstallScript: true } : {}) },
    tarball: await tarballOf(content, new Set(Object.values(made.bin ?? {}))),
  };
}

/** A package's archive: everything below `package/`, programs executable, no clock in it. */
export async function tarballOf(
  files: Readonly<Record<string, string>>,
  programs: ReadonlySet<string> = new Set(),
): Promise<Buffer> {
  const archive = pack();
  for (const [path, content] of Object.entries(files))
    archive.entry(
      { name: `package/${path}`, mtime: new Date(0), mode: programs.has(path) ? 0o755 : 0o644 },
      content,
    );
  archive.finalize();
  return gzipSync(await buffer(archive));
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
}
