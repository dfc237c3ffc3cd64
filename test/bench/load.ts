// The bench's client: keeps a bounded number of requests under way, and reads every answer to its end.

import { setTimeout as wait } from 'node:timers/promises';
import { Agent } from 'undici';
import { EVENTS_PER_STREAM } from './models.ts';

export interface BenchRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Stands near the end of every good answer. */
  readonly ending: string;
  /** Whether the events carry the time they were sent at. */
  readonly isStamped?: boolean;
}

/** A request and the server it goes to. */
export interface Shot extends BenchRequest {
  readonly url: string;
}

export interface Load {
  readonly connections: number;
  /** Each connection sends its next request until then, and at least one. */
  readonly seconds: number;
  /** Together, at most so many requests a second; as many as possible without it. */
  readonly ratePerSecond?: number;
  /** Over how long the connections start. */
  readonly rampMs?: number;
}

export interface LoadResult {
  readonly good: number;
  readonly failures: number;
  /** From sending the request to the answer's end. */
  readonly totalMs: readonly number[];
  /** From sending the request to the first bytes of the answer's body. */
  readonly firstMs: readonly number[];
  /** From the upstream sending an event to its arrival; stamped streams only. */
  readonly eventMs: readonly number[];
}

const ANSWER_LIMIT_MS = 30_000;
const STAMP = /@(\d+\.\d+)@/g;

interface Tally {
  failures: number;
  readonly totalMs: number[];
  readonly firstMs: number[];
  readonly eventMs: number[];
}

export async function fire(shot: Shot, load: Load): Promise<LoadResult> {
  const agent = new Agent({
    connections: load.connections,
    pipelining: 1,
    headersTimeout: ANSWER_LIMIT_MS,
    bodyTimeout: ANSWER_LIMIT_MS,
  });
  const tally: Tally = { failures: 0, totalMs: [], firstMs: [], eventMs: [] };
  const startedAt = performance.now();
  const gapMs =
    load.ratePerSecond === undefined ? 0 : (load.connections * 1000) / load.ratePerSecond;
  const spreadMs = load.rampMs ?? gapMs;
  const keepSending = async (index: number): Promise<void> => {
    let dueAt = startedAt + (spreadMs * index) / load.connections;
    do {
      const early = dueAt - performance.now();
      if (early > 0) await wait(early);
      await send(shot, agent, tally);
      dueAt += gapMs;
    } while (performance.now() - startedAt < load.seconds * 1000);
  };
  await Promise.all(Array.from({ length: load.connections }, (_, index) => keepSending(index)));
  await agent.close();
  return { ...tally, good: tally.totalMs.length };
}

async function send(shot: Shot, agent: Agent, tally: Tally): Promise<void> {
  const sentAt = performance.now();
  try {
    const answer = await agent.request({
      origin: shot.url,
      path: shot.path,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...shot.headers },
      body: shot.body,
    });
    let firstMs = 0;
    let text = '';
    const stamps = shot.isStamped === true ? new StampReader(tally.eventMs) : undefined;
    for await (const chunk of answer.body) {
      firstMs ||= performance.now() - sentAt;
      text += chunk.latin1Slice();
      stamps?.read(text);
    }
    const isGood =
      answer.statusCode === 200 &&
      text.slice(-1024).includes(shot.ending) &&
      (stamps === undefined || stamps.count === EVENTS_PER_STREAM);
    if (!isGood) throw new Error(`${answer.statusCode} ${text.slice(-300)}`);
    tally.firstMs.push(firstMs);
    tally.totalMs.push(performance.now() - sentAt);
  } catch (error) {
    tally.failures += 1;
    if (tally.failures === 1) console.error(`${shot.url}${shot.path} failed: ${String(error)}`);
  }
}

/** Finds the times the upstream wrote into its events, in text that grows. */
class StampReader {
  count = 0;
  readonly #delaysMs: number[];
  #from = 0;

  constructor(delaysMs: number[]) {
    this.#delaysMs = delaysMs;
  }

  read(text: string): void {
    const now = performance.timeOrigin + performance.now();
    STAMP.lastIndex = this.#from;
    for (let match = STAMP.exec(text); match !== null; match = STAMP.exec(text)) {
      this.count += 1;
      this.#delaysMs.push(now - Number(match[1]));
      this.#from = STAMP.lastIndex;
    }
  }
}
