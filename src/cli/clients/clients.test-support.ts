// A home folder, a gateway that knows some keys, and the commands of clients on both.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { listen } from '../../../test/support/listen.ts';
import { makeTestFolder } from '../../../test/support/test-folder.ts';
import {
  createFakeTerminal,
  type FakeAnswers,
  type FakeTerminal,
} from '../fake-terminal.test-support.ts';
import type { Said } from '../terminal.ts';
import { withKey } from './client-gateway.ts';
import { type ClientContext, type ClientFlags, connectClient } from './connect-client.ts';

export interface TestHome {
  readonly folder: string;
  readonly home: string;
  readonly url: string;
  /** The keys that the gateway takes; without any it takes every word. */
  readonly keys: Set<string>;
  /** What was asked of the admin API. */
  readonly made: string[];
  readonly models: string[];
  /** Those of them that no account serves. */
  readonly unserved: Set<string>;
  readonly variables: Record<string, string>;
  put(name: string, text: string | Buffer): string;
  read(name: string): string;
  /** Every file below the home folder with its content and mode. */
  snapshot(): Readonly<Record<string, string>>;
  context(terminal: FakeTerminal, flags?: ClientFlags): ClientContext;
  connect(
    id: string,
    flags?: ClientFlags & Said<'keyFile', string>,
    answers?: FakeAnswers,
  ): Promise<FakeTerminal>;
}

export async function createTestHome(): Promise<TestHome> {
  const folder = makeTestFolder('home');
  const home = join(folder, 'home');
  mkdirSync(home);
  const keys = new Set<string>();
  const made: string[] = [];
  const unserved = new Set<string>();
  const models = ['alpha-3-flash', 'alpha-3-pro-high', 'beta-sonnet-4-6', 'gemini-3-flash'];
  const server = createServer((request, response) => {
    const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const isKnown = keys.size === 0 || keys.has(key);
    const name = decodeURIComponent(request.url?.split('/')[3] ?? '');
    const isOffered = name === '' || models.includes(name) || name === 'an-alias';
    response.statusCode = !isKnown ? 401 : isOffered ? 200 : 404;
    const data = models.map((id) => ({ id, owned_by: 'isthmus' }));
    const native = models.map((id) => ({
      name: `models/${id}`,
      supportedGenerationMethods: ['generateContent'],
    }));
    response.end(JSON.stringify({ data, models: native }));
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const variables: Record<string, string> = { PATH: join(folder, 'bin'), SHELL: '/bin/bash' };
  const context: TestHome['context'] = (terminal, flags = {}) => ({
    terminal,
    dataDir: join(folder, 'data'),
    machine: { home, platform: 'linux', folder: join(folder, 'project'), variables },
    async findGateway() {
      const admin = {
        async call(_method: string, path: string, body?: object) {
          if (path === '/api/models') {
            const tasks = ['generate'];
            return {
              models: models.map((id) => ({ id, servedAs: unserved.has(id) ? null : id, tasks })),
            };
          }
          if (path.startsWith('/api/route?model=')) {
            const name = decodeURIComponent(path.split('=')[1] ?? '');
            return { target: models.includes(name) || name === 'an-alias' ? name : null };
          }
          const secret = `sk-made-${made.length}-0123456789`;
          made.push(`${path} ${JSON.stringify(body)}`);
          keys.add(secret);
          return { key: { id: `key_${made.length}` }, secret };
        },
      };
      return { url: flags.url ?? url, fetch, admin };
    },
    answer: (body, sayInWords) =>
      flags.json ? terminal.print(JSON.stringify(body)) : sayInWords(),
  });
  return {
    ...{ folder, home, url, keys, made, models, unserved, variables, context },
    put(name, text) {
      const path = join(home, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    read: (name) => readFileSync(join(home, name), 'utf8'),
    snapshot: () => Object.fromEntries(listFiles(home)),
    async connect(id, flags = { yes: true }, answers) {
      const terminal = createFakeTerminal(answers);
      await connectClient(context(terminal, flags), id, await withKey(flags, terminal));
      return terminal;
    },
  };
}

function listFiles(folder: string): readonly (readonly [string, string])[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const { mode } = statSync(path);
    const itself = [path, (mode & 0o7777).toString(8)] as const;
    if (statSync(path).isDirectory()) return [itself, ...listFiles(path)];
    return [[path, `${itself[1]} ${readFileSync(path).toString('latin1')}`] as const];
  });
}
