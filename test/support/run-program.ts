// Runs a program in the project's folder, as somebody at a terminal would.

import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** What `npm start` runs where that was built for the run, as the suites do; else the source, which starts slower. */
export const GATEWAY_MAIN = join(
  ROOT,
  process.env.ISTHMUS_BUILT === '1' ? 'lib/main.js' : 'src/main.ts',
);

/** What the program printed; fails with all of it when the program does. Of the environment it gets what is named here. */
export function runProgram(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, HOME, NODE_COMPILE_CACHE, ...environment };
    const child = spawn(file, args, { cwd: ROOT, env });
    let output = '';
    let errors = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    child.stderr.on('data', (data) => {
      errors += data;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`ended with ${code}:\n${output}\n${errors}`));
    });
  });
}

/** A command of the gateway. */
export function runGateway(
  words: readonly string[],
  environment?: Readonly<Record<string, string>>,
): Promise<string> {
  return runProgram(process.execPath, [GATEWAY_MAIN, ...words], environment);
}

/** Of a module given as text, in the node that runs the tests. */
export function runScript(script: string): Promise<string> {
  return runProgram(process.execPath, ['--input-type=module', '-e', script]);
}
