// The traffic of a long run: small requests at a steady rate on four surfaces, long streams beside them,
// some of which meet a fault of the upstream and some of whose clients leave.

import { setTimeout as wait } from 'node:timers/promises';
import { FAULTS } from '../faults/wall/faults.ts';
import { createRandom } from '../fuzz/random.ts';
import type { ScriptedReply, ScriptedUpstream } from '../support/scripted-upstream.ts';
import { checkStreamText } from '../support/stream-grammar/check-stream-text.ts';
import { SURFACE_CALLS, type SurfaceCall } from '../support/surface-calls.ts';

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  readonly upstream: ScriptedUpstream;
  readonly seed: number;
  readonly requestsPerSecond: number;
  readonly longStreams: number;
  /** Share of the upstream's answers that are a fault. */
  readonly faultShare: number;
}

export interface Tally {
  succeeded: number;
  left: number;
  readonly failures: Map<string, number>;
}

const SURFACES = SURFACE_CALLS.filter(({ name }) =>
  ['chat', 'responses', 'messages', 'generate'].includes(name),
);
/** Faults of the way to the upstream; the others are answers to the request and would be its result. */
const MET = FAULTS.filter(
  ({ kind, only, takesTime }) =>
    (kind === 'path' || kind === 'overload') && only === undefined && takesTime !== true,
);
const LONG = 'A long story';
const LEAVING_SHARE = 0.02;
const FORGET_EVERY_MS = 10_000;

/** Runs until `signal` fires; resolves when every request under way has ended. */
export async function load(options: LoadOptions, signal: AbortSignal): Promise<Tally> {
  const { upstream, seed, faultShare, requestsPerSecond, longStreams } = options;
  const random = createRandom(seed);
  const tally: Tally = { succeeded: 0, left: 0, failures: new Map() };
  const decide = ({ body }: { readonly body: object }): ScriptedReply | undefined => {
    if (random.chance(faultShare)) return random.pick(MET).reply;
    if (!JSON.stringify(body).includes(LONG)) return undefined;
    return { kind: 'paced', words: 50 + random.below(250), everyMs: 200 };
  };
  // Setting the script anew forgets the calls so far, which nobody here reads.
  const forget = (): void => upstream.script({ model: decide });
  forget();
  const forgetting = setInterval(forget, FORGET_EVERY_MS);
  const underWay = new Set<Promise<void>>();
  const ask = (text: string, stream: boolean): Promise<void> => {
    const leaveAfterMs = random.chance(LEAVING_SHARE)
      ? random.below(text === LONG ? 10_000 : 10)
      : undefined;
    const asked = askOnce({ ...options, call: random.pick(SURFACES), text, stream, leaveAfterMs });
    const ended = asked.then((outcome) => count(tally, outcome));
    underWay.add(ended);
    void ended.finally(() => underWay.delete(ended));
    return ended;
  };
  const keepStreaming = async (nth: number): Promise<void> => {
    await wait(nth * 50);
    while (!signal.aborted) await ask(LONG, true);
  };
  const streams = Array.from({ length: longStreams }, (_, nth) => keepStreaming(nth));
  while (!signal.aborted) {
    void ask(`Question ${random.below(1_000_000)}`, random.chance(0.5));
    await wait((2_000 * random.next()) / requestsPerSecond);
  }
  await Promise.all([...streams, ...underWay]);
  clearInterval(forgetting);
  return tally;
}

function count(tally: Tally, outcome: string): void {
  if (outcome === 'succeeded') tally.succeeded += 1;
  else if (outcome === 'left') tally.left += 1;
  else tally.failures.set(outcome, (tally.failures.get(outcome) ?? 0) + 1);
}

interface Question extends Pick<LoadOptions, 'url' | 'key'> {
  readonly call: SurfaceCall;
  readonly text: string;
  readonly stream: boolean;
  readonly leaveAfterMs: number | undefined;
}

/** `succeeded`, `left`, or in a few words what went wrong. */
async function askOnce({ url, key, call, leaveAfterMs, ...question }: Question): Promise<string> {
  const { path, body } = call.request(question);
  const leaving = leaveAfterMs === undefined ? undefined : AbortSignal.timeout(leaveAfterMs);
  try {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
      ...(leaving === undefined ? {} : { signal: leaving }),
    });
    const text = await response.text();
    if (response.status !== 200) return `${call.name} ${response.status}`;
    if (!question.stream || call.grammar === undefined) return 'succeeded';
    return checkStreamText(call.grammar, text) === 'success' ? 'succeeded' : `${call.name} broken`;
  } catch (error) {
    return leaving?.aborted === true ? 'left' : `${call.name} ${String(error)}`;
  }
}
