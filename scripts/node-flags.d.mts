/** Flags of node that the gateway's process is started with. */
export const NODE_FLAGS: readonly string[];
