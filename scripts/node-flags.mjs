// How the gateway's process is started, here and in the bench.

/**
 * Less than node would take for young objects on 64-bit machines: more makes collections fewer, but it is
 * also what 1,000 streams leave behind between two of them.
 */
export const NODE_FLAGS = ['--max-semi-space-size=20'];
