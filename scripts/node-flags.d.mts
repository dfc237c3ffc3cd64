/** Flags of node that the gateway's process is started with under this limit of memory; 0 is none. */
export function nodeFlags(limit: number): readonly string[];
/** Those for this machine or container. */
export const NODE_FLAGS: readonly string[];
/** What stands in the environment of the gateway's process, unless it is set already. */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>>;
/** What the gateway's process is started with, where this one lacks some of it. */
export function missingEnvironment(): NodeJS.ProcessEnv | undefined;
