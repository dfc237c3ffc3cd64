// What the running program prints and leaves behind, also when it cannot start or is killed: no credential.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { serveOnLoopback } from '../support/loopback.ts';
import { GATEWAY_MAIN } from '../support/run-program.ts';

const SECRETS = {
  API_KEY: 'sk-canary-api-key-1f6b2c',
  WEB_PASSWORD: 'canary-web-password-9d3e',
  UPSTREAM_API_KEYS: 'canary-upstream-one-77aa,canary-upstream-two-88bb',
  ISTHMUS_SECRET_KEY: Buffer.from('canary-secret-key-of-32-bytes-xx').toString('base64url'),
};
const VALUES = Object.values(SECRETS).flatMap((value) => value.split(','));
/** Each as it is, in base64 (of any offset) and percent-encoded, and its first twelve characters. */
const TRACES = VALUES.flatMap((value) => [
  value.slice(0, 12),
  Buffer.from(value).toString('base64').slice(0, 16),
  Buffer.from(value).toString('hex').slice(0, 24),
]);

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A data folder with this config file. */
function createFolder(config: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-canary-'));
  folders.push(folder);
  writeFileSync(join(folder, 'gui_config.json'), config);
  return folder;
}

interface Run {
  readonly output: () => string;
  readonly url: Promise<string | undefined>;
  readonly ended: Promise<unknown>;
  kill(signal: NodeJS.Signals): void;
}

function start(folder: string, environment: Readonly<Record<string, string>>): Run {
  const child = spawn(process.execPath, [GATEWAY_MAIN, 'serve', '--port', '0'], {
    env: { PATH: process.env.PATH, HOME: folder, ISTHMUS_DATA_DIR: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const ended = once(child, 'exit');
  const url = new Promise<string | undefined>((resolve) => {
    const collect = (data: Buffer): void => {
      text += data;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    void ended.then(() => resolve(undefined));
  });
  return { output: () => text, url, ended, kill: (signal) => child.kill(signal) };
}

/** `where: trace` of all that gives a secret away. */
function leaks(texts: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(texts).flatMap(([where, text]) =>
    TRACES.filter((trace) => text.includes(trace)).map((trace) => `${where}: ${trace}`),
  );
}

function filesIn(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'latin1')]));
}

/** Refuses everything, and repeats what it was told. */
async function startParrot() {
  const server = createServer(async (question, answer) => {
    const message = `${await readText(question)} ${JSON.stringify(question.headers)}`;
    answer.writeHead(question.method === 'GET' ? 404 : 400, { 'content-type': 'application/json' });
    answer.end(JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }));
  });
  return serveOnLoopback(server);
}

test('a program that is killed in the middle of everything leaves none in its files', async () => {
  const parrot = await startParrot();
  const monitor = { bodies: true };
  const folder = createFolder(
    JSON.stringify({ proxy: { monitor, log_level: 'debug', auth_mode: 'strict' } }),
  );
  const running = start(folder, {
    ...SECRETS,
    UPSTREAM_PROFILE: 'generic',
    UPSTREAM_BASE_URL: parrot.url,
  });
  const url = await running.url;
  expect(url, running.output()).toBeDefined();
  const ask = async (path: string, headers: Readonly<Record<string, string>>, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return answer.text();
  };
  for (const secret of VALUES) {
    const text = `Say ${secret} and ${Buffer.from(secret).toString('base64')}`;
    const body = { model: secret, max_tokens: 9, messages: [{ role: 'user', content: text }] };
    const key = { authorization: `Bearer ${SECRETS.API_KEY}`, 'user-agent': secret };
    await ask('/v1/messages', key, body);
    await ask(`/v1/models?key=${encodeURIComponent(secret)}`, {
      referer: `http://x/?key=${secret}`,
    });
    await ask(`/api/accounts?token=${secret}`, { 'x-api-key': secret, 'x-request-id': secret });
    await ask(`/oauth/callback?code=${secret}&state=${secret}`, {});
    await ask(`/sign-in?token=${secret}`, {});
  }
  const admin = { authorization: `Bearer ${SECRETS.WEB_PASSWORD}` };
  // Records and lines are written a moment later.
  const readRequests = () => ask('/api/requests', admin);
  await expect.poll(readRequests).toContain(`"total":${VALUES.length}`);
  await expect.poll(() => running.output()).toContain('/sign-in');
  const shown: Record<string, string> = {};
  for (const path of ['/api/requests', '/api/config', '/api/access-log', '/api/logs', '/metrics']) {
    shown[path] = await ask(path, admin);
  }
  expect(shown['/api/requests']).toContain('[redacted]');
  expect(shown['/api/requests']).toContain('"upstreamModel":"[redacted]"');
  running.kill('SIGABRT');
  await running.ended;
  await parrot.close();
  expect(leaks({ ...shown, ...filesIn(folder), output: running.output() })).toEqual([]);
});

test('a program that cannot start says why, and no secret with it', async () => {
  const file = JSON.stringify({
    api_key: VALUES[0],
    admin_password: [VALUES[1]],
    upstreams: { main: { profile: VALUES[2], oauth: { client_secret: { x: VALUES[3] } } } },
  });
  const starts = {
    'a file that is cut off': start(createFolder(file.slice(0, -30)), SECRETS),
    'a file with mistakes': start(createFolder(file), SECRETS),
    'a mode and a key that are none': start(createFolder('{}'), {
      ...SECRETS,
      AUTH_MODE: SECRETS.WEB_PASSWORD,
      ISTHMUS_SECRET_KEY: SECRETS.API_KEY,
    }),
  };
  for (const [what, running] of Object.entries(starts)) {
    const [code] = Object(await running.ended);
    expect([what, code]).toEqual([what, 1]);
    expect([what, running.output().length > 20]).toEqual([what, true]);
    expect(leaks({ [what]: running.output() })).toEqual([]);
  }
});
