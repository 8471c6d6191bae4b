/** An index of Python packages on the loopback: wheels that the test makes, and nothing else. */
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import { atEnd, type Owner } from './owned.ts';

export interface MadeWheel {
  readonly name: string;
  readonly version: string;
  /** As in `Requires-Dist`: `other>=1; extra == 'more'`. */
  readonly requires?: readonly string[];
  readonly extras?: readonly string[];
  /** By path. Default: a module of the package's name with `VALUE = 'NAME VERSION'`. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Serves wheels by the simple interface until the owner ends. Equal packages have equal bytes and hashes. */
export async function startIndex(
  owner: Owner,
  wheels: readonly MadeWheel[],
): Promise<{ readonly url: string }> {
  const files = new Map(wheels.map((made) => [wheelName(made), { made, content: wheelOf(made) }]));
  const server = createServer((request, response) => {
    const [, folder, name = ''] = (request.url ?? '').split('/');
    if (folder === 'wheels') return void response.end(files.get(name)?.content);
    const links = Array.from(files, ([file, { made, content }]) =>
      made.name === name ? `<a href="/wheels/${file}#sha256=${sha256(content)}">${file}</a>` : '',
    );
    response.setHeader('content-type', 'text/html').end(`<html><body>${links.join('\n')}</body></html>`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(owner, () => close(server));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple/` };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Such as `leaf-1.0-py3-none-any.whl`. */
export const wheelName = ({ name, version }: MadeWheel): string =>
  `${name.replaceAll('-', '_')}-${version}-py3-none-any.whl`;

/** The wheel itself: files of the package, and the four that say what it is. */
export function wheelOf({ name, version, requires = [], extras = [], files }: MadeWheel): Buffer {
  const module = name.replaceAll('-', '_');
  const info = `${module}-${version}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${name}`,
    `Version: ${version}`,
    ...extras.map((extra) => `Provides-Extra: ${extra}`),
    ...requires.map((one) => `Requires-Dist: ${one}`),
    '',
  ].join('\n');
  const all = {
    ...(files ?? { [`${module}.py`]: `VALUE = '${name} ${version}'\n` }),
    [`${info}/METADATA`]: metadata,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  };
  const record = [...Object.keys(all), `${info}/RECORD`].map((path) => `${path},,\n`).join('');
  return zip({ ...all, [`${info}/RECORD`]: record });
}

/** A zip archive without compression. */
function zip(files: Readonly<Record<string, string>>): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const [name, content] = [Buffer.from(path), Buffer.from(text)];
    const common = commonHeader(name, content);
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, content]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, tail, name]));
    bodies.push(body);
    offset += body.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, listing, end]);
}

/** What the two headers of a file have in common: version 2.0, stored, 1 January 1980, checksum, sizes. */
function commonHeader(name: Buffer, content: Buffer): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(0x21, 8);
  header.writeUInt32LE(crc32(content), 10);
  header.writeUInt32LE(content.length, 14);
  header.writeUInt32LE(content.length, 18);
  header.writeUInt16LE(name.length, 22);
  return header;
}
