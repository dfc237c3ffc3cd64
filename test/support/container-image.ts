// Builds the image of the Dockerfile without a daemon, and runs it as a container engine would: on a base made here of
// Debian's packages and the pinned node, since no public image can be had.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { isInstalled } from './debian-packages.ts';
import { runProgram } from './run-program.ts';

const TOOLS = ['buildah', 'mmdebstrap', 'runc'] as const;
const SUITE = 'trixie';
/** The one that runs install scripts whatever package.json allows. */
const NPM = 'npm@10.9.9';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Why no image can be built here; undefined where it can. The slow suite installs what it needs where it may. */
export const NO_IMAGE_BECAUSE = process.env.ISTHMUS_SLOW === '1' ? findObstacle() : 'not asked for';

function findObstacle(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it takes root on Linux';
  if (isInstalled(() => missingTools().length === 0, TOOLS)) return undefined;
  return `${missingTools().join(', ')} could not be installed`;
}

function missingTools(): readonly string[] {
  return TOOLS.filter((tool) => {
    try {
      execFileSync(tool, ['--version'], { stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
}

export interface Image {
  /** The folder that is its root. */
  readonly root: string;
  /** What the Dockerfile says of how it is run, under the names of the image format. */
  readonly config: JsonObject;
  close(): Promise<void>;
}

/** Takes some minutes, and the registries of npm and Debian. */
export async function buildImage(): Promise<Image> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-image-'));
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  const buildah = async (...words: readonly string[]): Promise<string> =>
    (await runProgram('buildah', [...storage, '--storage-driver', 'vfs', ...words])).trim();
  const close = async (): Promise<void> => {
    await buildah('rm', '--all');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const base = join(folder, 'base');
    const certificates = await makeBase(base);
    const container = await buildah('from', 'scratch');
    await buildah('add', '--quiet', container, base, '/');
    const variables = [`PATH=${PATH}`, ...certificates].flatMap((value) => ['--env', value]);
    await buildah('config', ...variables, container);
    await buildah('commit', '--quiet', '--rm', container, 'localhost/base');
    await buildah(
      ...['build', '--isolation', 'chroot', '--format', 'docker', '--layers=false'],
      // What npm has here already is not fetched again.
      ...['--volume', `${await findNpmCache()}:/root/.npm`],
      ...['--build-arg', 'BASE=localhost/base', '--tag', 'localhost/isthmus', '.'],
    );
    const facts = parseJson(await buildah('inspect', '--type', 'image', 'localhost/isthmus'));
    const root = await buildah('mount', await buildah('from', 'localhost/isthmus'));
    return { root, config: objectAt(facts, 'Docker', 'config'), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function findNpmCache(): Promise<string> {
  const cache = (await runProgram('npm', ['config', 'get', 'cache'])).trim();
  mkdirSync(cache, { recursive: true });
  return cache;
}

/** What is public under the name that the Dockerfile gives. @returns variables with which npm trusts what this machine trusts */
async function makeBase(base: string): Promise<readonly string[]> {
  const packages = ['ca-certificates', 'libatomic1', 'libstdc++6'].join(',');
  await runProgram('mmdebstrap', ['--variant=minbase', `--include=${packages}`, SUITE, base]);
  const local = join(base, 'usr/local');
  copyFileSync(process.execPath, join(local, 'bin/node'));
  const own = process.env.NODE_EXTRA_CA_CERTS;
  const environment: Record<string, string> = own === undefined ? {} : { NODE_EXTRA_CA_CERTS: own };
  await runProgram('npm', ['install', '--global', '--prefix', local, NPM], environment);
  if (own === undefined) return [];
  mkdirSync(join(base, dirname(own)), { recursive: true });
  copyFileSync(own, join(base, own));
  return [`NODE_EXTRA_CA_CERTS=${own}`];
}

export interface ContainerOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Bytes; no limit when absent. */
  readonly memory?: number | undefined;
  /** The folder behind /data. */
  readonly data: string;
}

export interface Container {
  readonly url: string;
  output(): string;
  /** Runs a command beside the gateway, as `docker exec` does. @throws Error when it fails */
  exec(...words: readonly string[]): Promise<string>;
  signal(name: 'TERM' | 'KILL'): Promise<void>;
  /** The status it ends with; it is not asked to. */
  readonly ended: Promise<number | null>;
  isRunning(): boolean;
}

let made = 0;

/** As `docker run --read-only --cap-drop all --security-opt no-new-privileges` does, but on the network of this machine. */
export async function startContainer(
  { root, config }: Image,
  { environment = {}, memory, data }: ContainerOptions,
): Promise<Container> {
  const id = `isthmus-test-${process.pid}-${made++}`;
  const bundle = mkdtempSync(join(tmpdir(), `${id}-`));
  const [uid = 0, gid = 0] = String(config.User).split(':').map(Number);
  chownSync(data, uid, gid);
  const variables = Object.entries(environment).map((entry) => entry.join('='));
  const specification = {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...textsAt(config, 'Entrypoint'), ...textsAt(config, 'Cmd')],
      env: [...textsAt(config, 'Env'), ...variables],
      cwd: config.WorkingDir,
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      {
        ...{ destination: '/sys/fs/cgroup', type: 'cgroup', source: 'cgroup' },
        options: ['nosuid', 'noexec', 'nodev', 'ro'],
      },
      { destination: '/data', type: 'bind', source: data, options: ['bind', 'rw', 'nosuid'] },
    ],
    linux: {
      cgroupsPath: `/${id}`,
      resources: memory === undefined ? {} : { memory: { limit: memory } },
      namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })),
    },
  };
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(specification));
  const state = ['--root', join(bundle, 'state')];
  const child = spawn('runc', [...state, 'run', '--bundle', bundle, id], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data));
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      rmSync(bundle, { recursive: true, force: true });
      resolve(code);
    });
  });
  const runc = (...words: readonly string[]) => runProgram('runc', [...state, ...words]);
  return {
    url: await readUrl(child, () => text),
    output: () => text,
    exec: (...words) => runc('exec', id, ...words),
    signal: async (name) => void (await runc('kill', id, name)),
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
  };
}

function readUrl(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      const [, port] = /listens on http:\/\/[^:\s]+:(\d+)/.exec(output()) ?? [];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
    child.once('exit', (code) => reject(new Error(`It ended with ${code}:\n${output()}`)));
  });
}

function objectAt(value: unknown, ...keys: readonly string[]): JsonObject {
  let found: unknown = value;
  for (const key of keys) found = isJsonObject(found) ? found[key] : undefined;
  if (!isJsonObject(found)) throw new Error(`There is no object at ${keys.join('.')}.`);
  return found;
}

function textsAt(config: JsonObject, key: string): readonly string[] {
  const value = config[key];
  return Array.isArray(value) ? value.map(String) : [];
}
