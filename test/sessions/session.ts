// One simulated agent session: asks, calls tools, changes its history, and checks every answer.

import { parseJson } from '../../src/lib/json.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import {
  type Answer,
  objectOf,
  type Question,
  type SessionClient,
  type ThinkingWish,
  TOOL_NAMES,
  type ToolWish,
  textOf,
} from './client.ts';
import { type Call, type Entry, editHistory, type Result, type ResultsEntry } from './entries.ts';
import { endsWithAnswer, orphansIn } from './mistakes.ts';

export interface SessionOptions {
  readonly client: SessionClient;
  readonly urls: readonly [string, string];
  readonly seed: number;
  readonly turns: number;
  /** False for a client that returns everything as it came, to a gateway that stays up. */
  readonly isCareless: boolean;
}

export interface SessionReport {
  readonly findings: readonly string[];
  readonly answered: number;
  readonly refused: number;
  readonly calls: number;
}

/** What the sandbox was told to call, as long as the history is untouched. */
interface Loop {
  /** Calls the next answer must make; undefined when the history was changed. */
  expected: number | undefined;
  /** What the next answer must say when it makes no call. */
  says: string;
  /** `THEN-CALL-TOOL` steps that remain. */
  steps: number;
  /** Answers with calls since the last question. */
  taken: number;
}

const NO_LOOP: Loop = { expected: 0, says: '', steps: 0, taken: 0 };
const SHARES = { edit: 0.3, restart: 0.04, prefill: 0.02, switch: 0.12, aborted: 0.12, lost: 0.05 };
const MOST_STEPS = 3;
/** Edits may set a loop back a few steps, but never keep it going. */
const LONGEST_LOOP = 15;
const THINKING: readonly ThinkingWish[] = ['unset', 'off', 'on', 'adaptive'];
const TOOL_WISHES: readonly ToolWish[] = ['auto', 'none', 'required', 'undeclared'];

export async function runSession(options: SessionOptions): Promise<SessionReport> {
  const session = new Session(options);
  for (let turn = 0; turn < options.turns; turn += 1) await session.takeTurn(turn);
  return session.report;
}

class Session {
  readonly report = { findings: [] as string[], answered: 0, refused: 0, calls: 0 };
  readonly #client: SessionClient;
  readonly #random: Random;
  readonly #urls: readonly [string, string];
  readonly #seed: number;
  readonly #isCareless: boolean;
  #gateway: 0 | 1 = 0;
  #entries: readonly Entry[] = [];
  #pending: readonly Call[] = [];
  #loop: Loop = { ...NO_LOOP };
  readonly #models: readonly string[];
  #model: string;
  #thinking: ThinkingWish = 'unset';
  #tools: ToolWish = 'auto';

  constructor({ client, urls, seed, isCareless }: SessionOptions) {
    this.#client = client;
    this.#urls = urls;
    this.#seed = seed;
    this.#isCareless = isCareless;
    this.#random = createRandom(seed);
    this.#models = isCareless ? client.models : client.carefulModels;
    this.#model = this.#random.pick(this.#models);
  }

  async takeTurn(turn: number): Promise<void> {
    this.#prepare();
    const question: Question = {
      model: this.#model,
      entries: this.#entries,
      stream: this.#random.chance(0.5),
      asArray: this.#random.chance(0.2),
      thinking: this.#thinking,
      tools: this.#tools,
      maxTokens: this.#maxTokens(),
    };
    const complaint = await this.#ask(question);
    if (complaint === undefined) return;
    const body = JSON.stringify(this.#client.body(question));
    this.report.findings.push(
      `session ${this.#seed}, turn ${turn} (${question.model}, stream=${question.stream}): ` +
        `${complaint}\n${body.slice(-3000)}`,
    );
    this.#startOver();
  }

  #prepare(): void {
    const random = this.#random;
    this.#speak();
    this.#tools = random.chance(SHARES.switch) ? random.pick(TOOL_WISHES) : 'auto';
    if (this.#tools !== 'auto') this.#loop.expected = undefined;
    if (this.#isCareless && random.chance(SHARES.edit)) this.#edit();
    if (random.chance(SHARES.switch)) this.#model = random.pick(this.#models);
    if (random.chance(SHARES.switch)) this.#thinking = random.pick(THINKING);
    if (this.#isCareless && random.chance(SHARES.restart))
      this.#gateway = this.#gateway === 0 ? 1 : 0;
  }

  /** Now and then too few for the answer. */
  #maxTokens(): number {
    if (!this.#random.chance(0.05)) return 4000;
    this.#loop.expected = undefined;
    return this.#random.pick([1, 16, 64, 100_000]);
  }

  #edit(): void {
    const { tampering } = this.#client;
    const edited = editHistory(this.#entries, this.#random, tampering);
    const prefill = this.#random.chance(SHARES.prefill);
    const said: Entry = { kind: 'assistant', messages: [tampering.say('Sure: ')], calls: [] };
    if (edited === this.#entries && !prefill) return;
    this.#entries = prefill ? [...edited, said] : edited;
    this.#loop.expected = undefined;
  }

  /** Results for the calls of the last answer, or a new question. */
  #speak(): void {
    const random = this.#random;
    const calls = this.#pending;
    this.#pending = [];
    if (calls.length > 0 && !random.chance(SHARES.aborted)) {
      this.#entries = [...this.#entries, this.#writeResults(calls)];
      return;
    }
    const { text, count, steps } = this.#writePrompt();
    // A result that never came is made up, and the sandbox answers results before it reads prompts.
    const isAborted = calls.length > 0 || this.#entries.some(isEmpty);
    const hasImage = random.chance(0.08);
    this.#entries = [...this.#entries, { kind: 'user', text, hasImage }];
    const [says = ''] = text.split('\n');
    this.#loop = { expected: isAborted ? undefined : count, says, steps, taken: 0 };
  }

  #writePrompt(): { readonly text: string; readonly count: number; readonly steps: number } {
    const random = this.#random;
    const count = random.pick([0, 0, 1, 1, 2, 3]);
    const steps = count === 0 ? 0 : random.below(MOST_STEPS);
    const marker = (word: string): string =>
      `${word} ${random.pick(TOOL_NAMES)} {"path":"src/${random.below(100)}.ts"}`;
    const words = [
      `Question ${random.below(1000)}`,
      ...Array.from({ length: count }, () => marker('CALL-TOOL')),
      ...Array.from({ length: steps }, () => marker('THEN-CALL-TOOL')),
    ];
    return { text: words.join('\n'), count, steps };
  }

  #writeResults(calls: readonly Call[]): ResultsEntry {
    const random = this.#random;
    const hasId = !random.chance(0.1);
    const results = calls.map(
      (call): Result => ({
        call,
        text: random.pick(['', 'ok', `contents of ${textOf(call.input.path)}`, '{"lines": 12}']),
        isError: random.chance(0.1),
        hasImage: random.chance(0.06),
        hasId,
      }),
    );
    const given = random.chance(SHARES.lost) ? results.slice(1) : results;
    const note = random.chance(0.1) || given.length === 0 ? { note: 'Mind the details.' } : {};
    const { steps, expected } = this.#loop;
    // A turn of nothing but a note begins a new question.
    this.#loop.expected =
      expected === undefined || given.length < calls.length ? undefined : Math.min(steps, 1);
    this.#loop.steps = Math.max(0, steps - 1);
    const sent = hasId ? random.shuffle(given) : given;
    // Native responses keep the client's order; all others are put into the order of the calls.
    this.#loop.says = reportOf(this.#client.name === 'generate' ? sent : given);
    return { kind: 'results', results: sent, ...note };
  }

  /** What is wrong with the answer; undefined when nothing is. */
  async #ask(question: Question): Promise<string | undefined> {
    const { path, body } = this.#client;
    const response = await fetch(`${this.#urls[this.#gateway]}${path(question)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body(question)),
    });
    const text = await response.text();
    if (response.status !== 200) return this.#judgeRefusal(response.status, text);
    return this.#judgeAnswer(text, question);
  }

  #judgeRefusal(status: number, text: string): string | undefined {
    this.report.refused += 1;
    const entries = this.#entries;
    const orphans = orphansIn(entries);
    // Documented for Messages: thinking cannot go on from a prefill.
    if (status === 400 && endsWithAnswer(entries) && text.includes('prefill with thinking')) {
      this.#startOver();
      return undefined;
    }
    if (status !== 400 || orphans.length === 0) return `${status} ${text}`;
    // Native results may have a name alone.
    const isNamed = this.#client.name === 'generate' || orphans.some((id) => text.includes(id));
    if (!isNamed) return `the refusal does not name the orphan: ${text}`;
    this.#startOver();
    return undefined;
  }

  #judgeAnswer(text: string, { stream, maxTokens }: Question): string | undefined {
    let answer: Answer;
    try {
      answer = stream
        ? this.#client.readStream(text)
        : this.#client.readReply(objectOf(parseJson(text)));
    } catch (error) {
      return `${error}\n${text.slice(0, 2000)}`;
    }
    // A native result may also find its call by name.
    if (this.#client.name !== 'generate' && orphansIn(this.#entries).length > 0) {
      return 'an orphan result was answered';
    }
    this.report.answered += 1;
    this.report.calls += answer.calls.length;
    if (answer.finish === 'max-tokens' && maxTokens < 100) {
      this.#startOver();
      return undefined;
    }
    const complaint = this.#judgeContent(answer);
    const { messages, calls } = answer;
    this.#entries = [...this.#entries, { kind: 'assistant', messages, calls }];
    this.#pending = calls;
    return complaint;
  }

  #judgeContent({ calls, finish, text }: Answer): string | undefined {
    const loop = this.#loop;
    loop.taken = calls.length === 0 ? 0 : loop.taken + 1;
    if (loop.taken > LONGEST_LOOP) return 'the tool loop does not end';
    if (finish !== (calls.length > 0 ? 'tool-calls' : 'stop')) {
      return `${calls.length} calls finish as ${finish}`;
    }
    if (calls.length === 0 && text === '') return 'the answer says nothing';
    if (new Set(calls.map(({ id }) => id)).size < calls.length) return 'two calls share an id';
    if (loop.expected === undefined) return undefined;
    if (loop.expected !== calls.length) {
      return `${loop.expected} calls were asked for, ${calls.length} made`;
    }
    const isSaid = calls.length > 0 || text.includes(loop.says);
    return isSaid ? undefined : `"${text}" does not say "${loop.says}"`;
  }

  /** As after a crash or a fatal error: a fresh conversation. */
  #startOver(): void {
    this.#entries = [];
    this.#pending = [];
    this.#loop = { ...NO_LOOP };
  }
}

/** How the sandbox shows the results it saw (docs/sandbox.md). */
function reportOf(results: readonly Result[]): string {
  const texts = results.map(({ text }) => text).join('\n');
  return `TOOL-RESULT-SEEN: ${texts.replace(/\s+/g, ' ').trim().slice(0, 80)}`;
}

function isEmpty(entry: Entry): boolean {
  return entry.kind === 'results' && entry.results.length === 0;
}
