// Sees whether the node that npm installed for the project runs on this machine, and brings what it lacks where it may.
import { spawnSync } from 'node:child_process';

/** The official build is linked against it; small images of Debian and Ubuntu do not have it. */
const LIBRARY = 'libatomic1';

const HINT = `The node that comes with the project does not run here; the line above says why. It is the official build: it
wants glibc (Alpine has none) and libatomic (sudo apt-get install ${LIBRARY} on Debian and Ubuntu, libatomic elsewhere).`;

/**
 * @param {string} node path of the program
 * @param {{ install?: () => boolean, say?: (text: string) => void }} [options]
 *   install brings the library, and says whether it could
 * @returns {boolean} false when it does not run; what to do was said then
 */
export function makeRunnable(node, { install = installLibrary, say = console.error } = {}) {
  let fault = faultOf(node);
  if (fault?.includes('libatomic') && install()) fault = faultOf(node);
  if (fault !== undefined) say(`${fault}\n${HINT}`);
  return fault === undefined;
}

/** What the program, or the system, says of a start that fails. */
function faultOf(node) {
  const { status, error, stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  return error?.message ?? stderr.trim();
}

function installLibrary() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  if (spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status !== 0) return false;
  console.error(`Installing ${LIBRARY} (apt-get) …`);
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  };
  return [['update'], ['install', '-y', '--no-install-recommends', LIBRARY]].every(
    (words) => spawnSync('apt-get', words, options).status === 0,
  );
}
