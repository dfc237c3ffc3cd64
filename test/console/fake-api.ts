// A gateway's admin API made of fixtures, beside the built console: for looking at pages without a gateway.

import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { Role } from '../../src/access/people.ts';
import { createFakeAccounts } from './fake-accounts.ts';
import { createConfigRoutes, createSignInRoutes } from './fake-config.ts';
import { makeOverview } from './fake-overview.ts';
import { createPageRoutes } from './fake-pages.ts';
import { createRequestRoutes } from './fake-requests.ts';
import { type FakeAnswer, type FakeRoute, json, refuse, type Scene } from './fake-route.ts';

export interface FakeApiOptions {
  readonly scene: Scene;
  /** The folder of the built console; without it only `/api` answers. */
  readonly distPath?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Milliseconds since the epoch that all fixtures are told from. */
  readonly now: number;
  /** Whether the console has to sign in first, with the password `fixture`. */
  readonly needsPassword?: boolean;
  /** Of whoever is signed in; an owner when absent. */
  readonly role?: Role;
  /** Further routes; they come first. */
  readonly routes?: readonly FakeRoute[];
}

export interface FakeApi {
  readonly url: string;
  /** Sends an event of the live feed to every page that is open. */
  emit(event: string, content: object): void;
  close(): Promise<void>;
}

/** As strict as the policy of the gateway. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; form-action 'self'; " +
  "frame-ancestors 'none'; require-trusted-types-for 'script'";

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export async function startFakeApi(options: FakeApiOptions): Promise<FakeApi> {
  const routes = createRoutes(options);
  const files = options.distPath === undefined ? new Map() : readFiles(options.distPath);
  const readers = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fixture');
    if (url.pathname === '/api/events') openEvents(response, readers);
    else if (url.pathname.startsWith('/api')) void answerApi(routes, request, response);
    else answerFile(files, url.pathname, response);
  });
  await new Promise<void>((resolve) => server.listen(options.port, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    emit(event, content) {
      for (const reader of readers) {
        reader.write(`event: ${event}\ndata: ${JSON.stringify(content)}\n\n`);
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function createRoutes(options: FakeApiOptions): readonly FakeRoute[] {
  const { scene, now, routes = [] } = options;
  const accounts = createFakeAccounts(scene, now);
  const overview = () => json(makeOverview({ scene, now, accounts: accounts.list() }));
  return [
    ...routes,
    ...createSession(options),
    { method: 'GET', path: '/api/overview', run: overview },
    ...accounts.routes,
    ...createConfigRoutes(scene),
    ...createSignInRoutes(accounts, now),
    ...createRequestRoutes(scene, now),
    ...createPageRoutes(scene, now),
  ];
}

function createSession({
  needsPassword = false,
  role = 'owner',
}: FakeApiOptions): readonly FakeRoute[] {
  let signedIn = !needsPassword;
  return [
    {
      method: 'GET',
      path: '/api/session',
      run: () =>
        json({ signedIn, needsPassword, asksName: false, role: signedIn ? role : undefined }),
    },
    {
      method: 'POST',
      path: '/api/session',
      run({ body }) {
        if (body.password !== 'fixture') return refuse(401, 'That is not the password.');
        signedIn = true;
        return json({ expiresAt: Date.now() + 3_600_000 });
      },
    },
    {
      method: 'DELETE',
      path: '/api/session',
      run() {
        signedIn = false;
        return { status: 204 };
      },
    },
  ];
}

async function answerApi(
  routes: readonly FakeRoute[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://fixture');
  const text = await readText(request);
  let answer: FakeAnswer = refuse(404, `The fixtures have no ${request.method} ${url.pathname}.`);
  for (const route of routes) {
    const parameter = route.method === request.method ? match(route.path, url.pathname) : undefined;
    if (parameter === undefined) continue;
    const ifMatch = request.headers['if-match'];
    const body = text === '' ? {} : JSON.parse(text);
    answer = await route.run({ parameter, query: url.searchParams, body, ifMatch });
    break;
  }
  response.writeHead(answer.status, {
    'cache-control': 'no-store',
    'content-type': 'application/json',
    ...answer.headers,
  });
  response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
}

/** What stands for `{…}`; the empty text for paths without it. */
function match(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split(/\{[^}]*\}/);
  if (after === undefined) return pattern === path ? '' : undefined;
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const middle = path.slice(before.length, path.length - after.length);
  return middle === '' ? undefined : decodeURIComponent(middle);
}

function openEvents(response: ServerResponse, readers: Set<ServerResponse>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(': open\n\n');
  readers.add(response);
  response.on('close', () => readers.delete(response));
}

function readFiles(distPath: string): Map<string, Buffer> {
  const names = readdirSync(distPath, { recursive: true, encoding: 'utf8' });
  return new Map(
    names
      .filter((name) => extname(name) !== '')
      .map((name) => [`/${name}`, readFileSync(join(distPath, name))]),
  );
}

/** Every path that is no file is a page of the console. */
function answerFile(files: Map<string, Buffer>, path: string, response: ServerResponse): void {
  const name = files.has(path) ? path : '/index.html';
  const content = files.get(name);
  response.writeHead(content === undefined ? 404 : 200, {
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
  });
  response.end(content);
}
