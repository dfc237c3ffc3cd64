// How the gateway's process is started, here and in the bench.

export const NODE_FLAGS = [
  // Less than node would take for young objects on 64-bit machines: more makes collections fewer,
  // but it is also what 1,000 streams leave behind between two of them. And with more, large bodies
  // bring 64 MB of buffers between two small collections, upon which V8 begins full ones again and again.
  '--max-semi-space-size=16',
  // While many slow streams are open, V8 learns that what a request allocates lives for long, and from
  // then on allocates some of it among the old: each such object keeps its whole request from being
  // collected young, whatever comes later.
  '--no-allocation-site-pretenuring',
];
