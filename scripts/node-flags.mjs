// How the gateway's process is started, here and in the bench.

/**
 * Half of what node would take for young objects on 64-bit machines. Bodies of some hundred kilobytes are
 * then collected while young; else they fill the old space, and each turn over all of that costs more than
 * many over a small young one. It is also the bound of what 1,000 streams leave behind between two turns.
 */
export const NODE_FLAGS = ['--max-semi-space-size=20'];
