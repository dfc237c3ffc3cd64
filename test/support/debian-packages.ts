// Programs that tests need beside node: the slow suites install Debian's packages where they may, which takes a minute.

import { spawnSync } from 'node:child_process';

let isUpdated = false;

/** @param choices packages that have it; the next ones are tried where the ones before cannot be had. True when it is there */
export function isInstalled(
  isThere: () => boolean,
  ...choices: readonly (readonly string[])[]
): boolean {
  const mayInstall = process.env.ISTHMUS_SLOW === '1' && process.getuid?.() === 0;
  for (const packages of mayInstall && !isThere() ? choices : []) {
    if (!isUpdated) aptGet('update');
    isUpdated = true;
    aptGet('install', '--yes', '--no-install-recommends', ...packages);
    if (isThere()) break;
  }
  return isThere();
}

function aptGet(...words: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Whoever asks sees whether it did its work.
  spawnSync('apt-get', words, { stdio: 'ignore', env });
}
