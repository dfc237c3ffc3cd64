// Servers that come as Python packages, in virtual environments that later runs use again.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';

const CACHE = process.env.PROGRAMS_DIR ?? join(tmpdir(), 'isthmus-programs');

/** What makes a folder what it is: with other words it is made anew. */
async function makeOnce(
  name: string,
  recipe: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(CACHE, name);
  const mark = join(folder, 'made-from.txt');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === recipe) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await make(folder);
  writeFileSync(mark, recipe);
  return folder;
}

/** The folder of a virtual environment. @throws Error where the registry or the compiler does not give the packages. */
export function installPackages(name: string, packages: readonly string[]): Promise<string> {
  return makeOnce(name, packages.join(' '), (folder) => install(folder, packages, {}));
}

async function install(
  folder: string,
  packages: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  await runProgram('python3', ['-m', 'venv', folder]);
  const pip = join(folder, 'bin/pip');
  await runProgram(pip, ['install', '--quiet', ...packages], { ...registry(), ...environment });
}

/** How pip reaches its registry here, which may stand behind a proxy with its own certificate. */
function registry(): Readonly<Record<string, string>> {
  const names = Object.keys(process.env).filter((name) =>
    /^(?:PIP_|SSL_CERT|REQUESTS_CA|https?_proxy|no_proxy)/i.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? '']));
}

/** Quickly built rather than quick, and nothing that would be fetched from elsewhere. */
const CMAKE = [
  ...['-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_C_FLAGS_RELEASE=-O1', '-DCMAKE_CXX_FLAGS_RELEASE=-O0'],
  ...['-DBUILD_SHARED_LIBS=ON', '-DGGML_NATIVE=OFF', '-DGGML_LLAMAFILE=OFF', '-DGGML_OPENMP=OFF'],
  ...['-DLLAMA_OPENSSL=OFF', '-DLLAMA_BUILD_UI=OFF', '-DLLAMA_USE_PREBUILT_UI=OFF'],
  ...['-DLLAMA_BUILD_TESTS=OFF', '-DLLAMA_BUILD_EXAMPLES=OFF', '-DLLAMA_BUILD_APP=OFF'],
];

export interface LlamaProgram {
  /** The Python that has `llama_cpp.server`. */
  readonly python: string;
  /** The folder of llama.cpp's libraries. */
  readonly libraries: string;
}

/**
 * llama-cpp-python with the llama.cpp it brings along.
 * @throws Error where they cannot be had or built.
 */
export async function installLlama(version: string): Promise<LlamaProgram> {
  const packed = `llama-cpp-python==${version}`;
  const recipe = [packed, ...CMAKE].join(' ');
  const folder = await makeOnce('llama', recipe, async (made) => {
    await runProgram('python3', ['-m', 'venv', made]);
    const pip = join(made, 'bin/pip');
    const fetched = ['--no-deps', '--no-binary', 'llama-cpp-python', '--dest', made, packed];
    const ownParts = { ...registry(), CMAKE_ARGS: '-DLLAMA_BUILD=OFF' };
    await runProgram(pip, ['download', '--quiet', ...fetched], ownParts);
    const archive = join(made, `llama_cpp_python-${version}.tar.gz`);
    await runProgram('tar', ['-xzf', archive, '-C', made]);
    const source = join(made, `llama_cpp_python-${version}`, 'vendor/llama.cpp');
    const build = join(made, 'build');
    await runProgram('cmake', ['-S', source, '-B', build, ...CMAKE]);
    await runProgram('cmake', ['--build', build, '--parallel', '2', '--target', 'llama']);
    await runProgram(pip, ['install', '--quiet', `${archive}[server]`], ownParts);
  });
  return {
    python: join(folder, 'bin/python'),
    libraries: join(folder, 'build/bin'),
  };
}
