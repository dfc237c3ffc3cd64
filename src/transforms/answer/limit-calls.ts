// For clients that want one tool call at a time: lets the first call of each choice through.

import type { CallRule } from './call-rule.ts';

/** Upstreams have no such switch; the request's receipt already says that further calls are left out. */
export function limitCalls(): CallRule {
  const called = new Set<number>();
  return (opening, choice) => {
    if (called.has(choice)) return undefined;
    called.add(choice);
    return opening;
  };
}
