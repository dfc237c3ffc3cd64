// Lets one process at a time install and build: two first runs at once would break each other's.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Names who holds it; one that a process left when it was killed counts no more. */
const LOCK = join(dirname(dirname(fileURLToPath(import.meta.url))), '.setup-lock');
const EVERY_MS = 200;

/** Does `work` while no other process does such work under this lock; waits for one that does. */
export function oneAtATime(work, lock = LOCK) {
  for (let isSaid = false; !take(lock); isSaid = true) {
    if (!isSaid) {
      console.error(
        `Waiting for another isthmus that is being set up here. If there is none, remove ${lock}.`,
      );
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EVERY_MS);
  }
  const release = () => rmSync(lock, { force: true });
  process.once('exit', release);
  work();
  process.off('exit', release);
  release();
}

function take(lock) {
  try {
    writeFileSync(lock, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!isHeld(lock)) rmSync(lock, { force: true });
    return false;
  }
}

/** One without a number was made in this very moment. */
function isHeld(lock) {
  try {
    const holder = Number(readFileSync(lock, 'utf8'));
    return holder === 0 || process.kill(holder, 0);
  } catch (error) {
    // Somebody else's process is one too.
    return error.code === 'EPERM';
  }
}
