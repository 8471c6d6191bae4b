/** Repositories over smart HTTP by git's own server, with faults on demand. */
import { spawn } from 'node:child_process';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname } from 'node:path';
import { gitEnvironment, type Repository } from './git.ts';
import { atEnd, type Owner } from './owned.ts';

export type Fault =
  /** Cuts the connection without an answer. */
  | { readonly kind: 'refuse' }
  | { readonly kind: 'status'; readonly status: number }
  /** Sends this many bytes of the body and cuts the connection. */
  | { readonly kind: 'truncate'; readonly afterBytes: number }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Answers, and then sends a byte now and then for ever. */
  | { readonly kind: 'trickle' };

/** The fault for a request, or undefined to serve it. */
export type Faults = (request: GitRequest) => Fault | undefined;

export interface GitRequest {
  readonly method: string;
  /** Such as `/repository/info/refs`. */
  readonly path: string;
  /** `version=2` when the client asked for it. */
  readonly protocol: string | undefined;
  readonly authorization: string | undefined;
}

export interface GitServer {
  /** `http://127.0.0.1:PORT/NAME` */
  readonly url: string;
  /** Every request since the start, oldest first. */
  readonly requests: readonly GitRequest[];
  /** Bytes of bodies that were sent. */
  sent(): number;
  /** Replaces the faults; undefined ends them. Connections that hang are cut. */
  fail(faults: Faults | undefined): void;
  /** From now on answers 401 without this name and password. */
  protect(credentials: { readonly username: string; readonly password: string }): void;
  /** From now on redirects what begins with one path to another. */
  move(from: string, to: string): void;
  /** From now on what begins with a path is answered by somebody else; credentials are asked for all the same. */
  delegate(path: string, handler: RequestListener): void;
  /** From now on sends these headers with every answer. */
  say(headers: Readonly<Record<string, string>>): void;
}

/** Serves a repository on a free port of the loopback until the owner ends. */
export async function serveGit(owner: Owner, repository: Pick<Repository, 'folder'>): Promise<GitServer> {
  const requests: GitRequest[] = [];
  let sent = 0;
  let faults: Faults | undefined;
  let wanted: string | undefined;
  let said: Readonly<Record<string, string>> = {};
  let moved: { readonly from: string; readonly to: string } | undefined;
  const delegates = new Map<string, RequestListener>();
  const server = createServer((incoming, response) => {
    const request = describe(incoming);
    requests.push(request);
    for (const [name, value] of Object.entries(said)) response.setHeader(name, value);
    if (moved !== undefined && request.path.startsWith(`${moved.from}/`)) {
      const location = `${moved.to}${(incoming.url ?? '').slice(moved.from.length)}`;
      incoming.resume().on('end', () => response.writeHead(301, { location }).end());
      return;
    }
    const denied: Fault | undefined =
      wanted !== undefined && request.authorization !== wanted ? { kind: 'status', status: 401 } : undefined;
    const delegate = [...delegates].find(([path]) => request.path.startsWith(path))?.[1];
    if (delegate !== undefined && denied === undefined) return void delegate(incoming, response);
    const onSent = (bytes: number): void => void (sent += bytes);
    answer(repository, incoming, { response, fault: faults?.(request) ?? denied, onSent });
  });
  const port = await listen(server);
  atEnd(owner, () => close(server));
  return {
    url: `http://127.0.0.1:${port}/${basename(repository.folder)}`,
    requests,
    sent: () => sent,
    fail: (next) => {
      faults = next;
      if (next === undefined) server.closeAllConnections();
    },
    delegate: (path, handler) => void delegates.set(path, handler),
    say: (headers) => void (said = headers),
    move: (from, to) => void (moved = { from, to }),
    protect: ({ username, password }) =>
      (wanted = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`),
  };
}

function describe(incoming: IncomingMessage): GitRequest {
  const protocol = incoming.headers['git-protocol'];
  return {
    method: incoming.method ?? '',
    path: (incoming.url ?? '').split('?')[0] ?? '',
    protocol: Array.isArray(protocol) ? protocol[0] : protocol,
    authorization: incoming.headers.authorization,
  };
}

interface Reply {
  readonly response: ServerResponse;
  readonly fault: Fault | undefined;
  readonly onSent: (bytes: number) => void;
}

function answer(
  repository: Pick<Repository, 'folder'>,
  incoming: IncomingMessage,
  { response, fault, onSent }: Reply,
): void {
  switch (fault?.kind) {
    case 'hang':
      return;
    case 'trickle': {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
      response.write('0fff');
      const timer = setInterval(() => response.write('x'), 200);
      response.on('close', () => clearInterval(timer));
      return;
    }
    case 'refuse':
      incoming.socket.destroy();
      return;
    case 'status':
      response
        .writeHead(fault.status, { 'www-authenticate': 'Basic realm="git"', connection: 'close' })
        .end();
      return;
    case 'truncate':
    case undefined:
      runBackend(repository, incoming, { response, limit: fault?.afterBytes ?? Infinity, onSent });
  }
}

/** git http-backend speaks CGI: headers, an empty line, the body. */
function runBackend(
  repository: Pick<Repository, 'folder'>,
  incoming: IncomingMessage,
  { response, limit, onSent }: Pick<Reply, 'response' | 'onSent'> & { readonly limit: number },
): void {
  const child = spawn('git', ['http-backend'], { env: cgiEnvironment(repository, incoming) });
  incoming.pipe(child.stdin).on('error', () => undefined);
  response.on('close', () => child.kill());
  let head = Buffer.alloc(0);
  let left = limit;
  child.stdout.on('data', (chunk: Buffer) => {
    let body = chunk;
    if (!response.headersSent) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      writeHead(response, head.subarray(0, end).toString('latin1'));
      body = head.subarray(end + 4);
    }
    left -= body.length;
    onSent(body.length);
    if (left >= 0) response.write(body);
    else response.write(body.subarray(0, left), () => response.destroy());
  });
  child.on('close', () => response.end());
}

function writeHead(response: ServerResponse, text: string): void {
  const fields = text.split('\r\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const status = fields.find(([name]) => name === 'status')?.[1];
  response.writeHead(
    status === undefined ? 200 : Number.parseInt(status, 10),
    Object.fromEntries(fields.filter(([name]) => name !== 'status')),
  );
}

function cgiEnvironment(
  repository: Pick<Repository, 'folder'>,
  incoming: IncomingMessage,
): NodeJS.ProcessEnv {
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  return {
    ...gitEnvironment(),
    GIT_PROJECT_ROOT: dirname(repository.folder),
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROTOCOL: describe(incoming).protocol ?? '',
    PATH_INFO: decodeURIComponent(url.pathname),
    QUERY_STRING: url.search.slice(1),
    REQUEST_METHOD: incoming.method,
    CONTENT_TYPE: incoming.headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: incoming.headers['content-encoding'] ?? '',
    REMOTE_ADDR: '127.0.0.1',
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
}
