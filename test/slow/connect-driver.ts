// Runs in a network of its own: an upstream, the gateway, and one real client that is connected, launched and disconnected.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startGateway } from '../support/gateway-process.ts';
import { GATEWAY_MAIN } from '../support/run-program.ts';
import { startStrictUpstream } from '../support/strict-upstream.ts';
import { CLIENT_ROWS, type ClientRow } from './client-rows.ts';

const [id = '', wire = 'generate', kit = '', programs = '', settings = 'some'] =
  process.argv.slice(2);
const KEY = 'sk-client-test-0123456789';

const PROFILES = {
  generate: { script: 'fake-upstream.mjs', profile: 'gemini-api', path: '' },
  messages: { script: 'fake-upstream-messages.mjs', profile: 'anthropic', path: '' },
  chat: { script: 'fake-upstream-chat.mjs', profile: 'openai', path: '/v1' },
} as const;

const row = CLIENT_ROWS.find((one) => one.id === id);
if (row === undefined) throw new Error(`There is no row ${id}.`);
if (wire !== 'generate' && wire !== 'messages' && wire !== 'chat') throw new Error(wire);

const upstream = await startStrictUpstream(join(kit, PROFILES[wire].script), {
  ...(process.env.UPLOG === undefined ? {} : { LOG: process.env.UPLOG }),
});
const gateway = await startGateway({
  API_KEY: KEY,
  UPSTREAM_PROFILE: PROFILES[wire].profile,
  UPSTREAM_BASE_URL: upstream.url + PROFILES[wire].path,
  UPSTREAM_API_KEYS: upstream.key,
});
const work = mkdtempSync(join(tmpdir(), `isthmus-connect-${id}-`));
try {
  const client = settings === 'none' ? { ...row, before: {} } : row;
  console.log(JSON.stringify(await tryClient(client)));
} finally {
  rmSync(work, { recursive: true, force: true });
  await gateway.stop();
  await upstream.stop();
}

async function tryClient(client: ClientRow) {
  const home = join(work, 'home');
  const project = join(work, 'project');
  const nonce = `NONCE-${randomBytes(8).toString('hex')}`;
  put(join(project, 'secret.txt'), `${nonce}\n`);
  put(join(work, 'password'), KEY);
  for (const [name, text] of Object.entries(client.before)) put(join(home, name), text);
  const prompt = client.tool?.(project) ?? 'Say hello.';
  const environment = {
    HOME: home,
    ISTHMUS_DATA_DIR: join(work, 'data'),
    SHELL: '/bin/bash',
    TMPDIR: work,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    CI: '1',
    NO_COLOR: '1',
    NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
    NO_PROXY: '127.0.0.1,localhost,::1',
    PATH: `${programs}:${dirname(process.execPath)}:${process.env.PATH}`,
    ...client.environment,
  };
  const isthmus = (words: readonly string[]) =>
    run(process.execPath, [GATEWAY_MAIN, ...words], project, environment);
  const gatewayFlags = ['--url', gateway.url, '--password-file', join(work, 'password')];
  const isAnswered = ({ code, output }: Ran): boolean => {
    const expected =
      client.tool === undefined ? ['HELLO-FROM-UPSTREAM'] : ['TOOL-RESULT-SEEN', nonce];
    return code === 0 && expected.every((text) => output.includes(text));
  };

  const connected = await isthmus(['connect', client.id, '--yes', ...gatewayFlags]);
  const again = await isthmus(['connect', client.id, '--yes', ...gatewayFlags]);
  // What is set for shells counts in a new one alone.
  const shell = [client.program, ...client.run(prompt)].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  const ran = await run(
    'bash',
    ['--norc', '-c', `[ -f ~/.bashrc ] && . ~/.bashrc; ${shell.join(' ')}`],
    project,
    environment,
  );
  const undone = await isthmus(['connect', client.id, '--undo', '--yes', ...gatewayFlags]);
  const after = read(home, client);
  const launched = await isthmus([
    'launch',
    client.id,
    ...gatewayFlags,
    '--',
    ...client.run(prompt),
  ]);
  const afterLaunch = read(home, client);
  if (client.stop !== undefined) {
    await run(join(programs, client.program), client.stop, project, environment);
  }
  return {
    launched: { ...launched, isAnswered: isAnswered(launched) },
    leftAlone: sameFiles(afterLaunch, client.before),
    connected,
    again,
    ran: { ...ran, isAnswered: isAnswered(ran) },
    undone,
    isRestored: sameFiles(after, client.before),
    after,
    new: listFiles(home)
      .filter((name) => /settings|config|providers|models|\.env|rc$/.test(name))
      .slice(0, 40),
  };
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

function run(
  file: string,
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 600_000,
      killSignal: 'SIGKILL',
    });
    let output = '';
    const collect = (data: Buffer): void => {
      output += data;
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', reject);
    child.once('exit', (code) => resolve({ code, output }));
  });
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function read(home: string, { before }: ClientRow): Readonly<Record<string, string>> {
  const names = Object.keys(before).filter((name) => existsSync(join(home, name)));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(home, name), 'utf8')]));
}

function sameFiles(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys(other);
  return (
    Object.keys(one).length === names.length && names.every((name) => one[name] === other[name])
  );
}

function listFiles(folder: string, below = ''): readonly string[] {
  return readdirSync(join(folder, below)).flatMap((name) => {
    const path = join(below, name);
    const found = statSync(join(folder, path), { throwIfNoEntry: false });
    if (name === 'node_modules' || found === undefined) return [];
    return found.isDirectory() ? listFiles(folder, path) : [path];
  });
}
