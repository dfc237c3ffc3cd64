// What npm started ends with npm, though npm tells nobody.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test, vi } from 'vitest';
import { watchParents } from '../../scripts/parents.mjs';

const PARENTS = join(import.meta.dirname, '../../scripts/parents.mjs');

const PROGRAM = `
  import { watchParents } from ${JSON.stringify(PARENTS)};
  const wait = setInterval(() => {}, 1000);
  watchParents({ event: 'start', onGone: () => { console.log('gone'); clearInterval(wait); } });
  console.log('ready');
`;

/** The shell of npm; it does not replace itself by what it runs. */
const SHELL = '"$NODE" --input-type=module -e "$PROGRAM"; :';

/** Seen where /proc tells the parents of others. */
const NPM_ITSELF =
  process.platform === 'linux'
    ? ([['npm itself', 'SIGKILL', `sh -c '${SHELL}'; :`]] as const)
    : ([] as const);

afterEach(() => {
  vi.useRealTimers();
});

test.each([['the shell of npm', 'SIGTERM', SHELL], ...NPM_ITSELF] as const)(
  'what npm started hears of the end of %s by %s',
  async (_who, signal, script) => {
    const parent = spawn('sh', ['-c', script], {
      env: { ...process.env, NODE: process.execPath, PROGRAM },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: parent.stdout })[Symbol.asyncIterator]();
    expect(await lines.next()).toMatchObject({ value: 'ready' });
    parent.kill(signal);
    await once(parent, 'exit');
    expect(await lines.next()).toMatchObject({ value: 'gone' });
  },
);

test.each([
  ['start', 1],
  [undefined, 0],
])('who was started by %s is told %i times that its parents changed', (event, times) => {
  vi.useFakeTimers();
  let parents = [10, 9];
  const onGone = vi.fn<() => void>();
  watchParents({ event, parents: () => parents, onGone });
  vi.advanceTimersByTime(5_000);
  expect(onGone).not.toHaveBeenCalled();
  parents = [1];
  vi.advanceTimersByTime(5_000);
  expect(onGone).toHaveBeenCalledTimes(times);
});
