// How the gateway's process is started, here and in the bench.

const MEGABYTE = 1_048_576;
/** Containers of less have heap limits of their own here; with more, node's are fine. */
const SMALL_MEMORY = 8192 * MEGABYTE;
const VERY_SMALL_MEMORY = 512 * MEGABYTE;

/**
 * @param {number} limit bytes the container lets the process use; 0 where nothing does
 * @returns {string[]} flags of node
 */
export function nodeFlags(limit) {
  const isSmall = limit > 0 && limit < SMALL_MEMORY;
  // Less than node would take for young objects on 64-bit machines: more makes collections fewer,
  // but it is also what 1,000 streams leave behind between two of them. And with more, large bodies
  // bring 64 MB of buffers between two small collections, upon which V8 begins full ones again and again.
  // Where memory is very small, what lies there uncollected would be a fifth of it.
  const semiSpace = isSmall && limit < VERY_SMALL_MEMORY ? 4 : 16;
  return [
    `--max-semi-space-size=${semiSpace}`,
    // While many slow streams are open, V8 learns that what a request allocates lives for long, and from
    // then on allocates some of it among the old: each such object keeps its whole request from being
    // collected young, whatever comes later.
    '--no-allocation-site-pretenuring',
    // V8 leaves it to a thread of its own to throw away what it compiled with, and while one core is busy that thread does
    // not run: the first thousand requests left 40 MB, which never went back to the system.
    '--no-maglev-destroy-on-background',
    // By a signal, such as one that other servers open their logs anew on, node lets every local user run code in it.
    '--disable-sigusr1',
    // Node lets the heap grow beyond a container of 256 MB, and only to half of one of 512 MB.
    ...(isSmall ? [`--max-old-space-size=${Math.floor((limit * 0.7) / MEGABYTE)}`] : []),
  ];
}

export const NODE_FLAGS = nodeFlags(process.constrainedMemory?.() ?? 0);

const RETURNED_AT_ONCE = `${4 * MEGABYTE}`;

/**
 * glibc gives large buffers back to the system at once as long as it does not learn from them, which it
 * does by itself: after some bodies of 30 MB it kept 100 MB. What `JSON.stringify` reserves for a text of
 * 300 KB is still kept: with 1 MB here, fresh pages for each such body were a sixth of its cost.
 * It also gives every thread memory of its own, 7 MB in all at rest; V8's threads ask for little of it.
 * Other systems do not know these names.
 */
export const NODE_ENVIRONMENT = {
  // Half of these threads look names up. With node's four, two names of which no resolver answers keep all others waiting.
  UV_THREADPOOL_SIZE: '16',
  MALLOC_MMAP_THRESHOLD_: RETURNED_AT_ONCE,
  MALLOC_TRIM_THRESHOLD_: RETURNED_AT_ONCE,
  MALLOC_ARENA_MAX: '1',
};

/**
 * @returns {NodeJS.ProcessEnv | undefined} what the gateway's process is started with; undefined where this one has it
 */
export function missingEnvironment() {
  const isGiven = Object.keys(NODE_ENVIRONMENT).every((name) => process.env[name] !== undefined);
  return isGiven ? undefined : { ...NODE_ENVIRONMENT, ...process.env };
}
