/** Builds what is stale of one part; false for a build that failed, whose messages went to stderr. */
export function buildStale(name: 'server' | 'console'): boolean;
