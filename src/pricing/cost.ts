// What an answer costs at a price, part by part; docs/money.md says the formula in words.

import { inputTokens, type Usage } from '../canonical/usage.ts';

/** US dollars per million tokens; `image` for one picture. An absent rate is that of the plainer kind. */
interface Rates {
  readonly input?: number | undefined;
  /** Input read from a cache; else as `input`. */
  readonly cachedInput?: number | undefined;
  /** Input written to a cache for some minutes; else as `input`. */
  readonly cacheWrite?: number | undefined;
  /** The same, for an hour; else as `cacheWrite`. */
  readonly cacheWriteHour?: number | undefined;
  /** The parts of the input that are pictures and sound; else as `input`. */
  readonly imageInput?: number | undefined;
  readonly audioInput?: number | undefined;
  readonly output?: number | undefined;
  /** Thinking; else as `output`. */
  readonly thought?: number | undefined;
  /** The parts of the answer that are pictures and sound; else as `output`. */
  readonly imageOutput?: number | undefined;
  readonly audioOutput?: number | undefined;
  /** One picture of an answer, where pictures are not priced by tokens. */
  readonly image?: number | undefined;
}

/** The rates of a long prompt replace those of the price for the whole request. */
interface LongContextRates extends Omit<Rates, 'image'> {
  /** They apply when the input has more tokens than this. */
  readonly inputTokens: number;
}

export interface PricedRates extends Rates {
  readonly above?: readonly LongContextRates[] | undefined;
}

type ChargeKind = keyof Rates;

interface ChargePart {
  readonly kind: ChargeKind;
  /** Tokens, or pictures for `image`. */
  readonly count: number;
  /** US dollars per million tokens, or per picture. */
  readonly rate: number;
}

export interface Charge {
  /** Parts of nothing are left out. */
  readonly parts: readonly ChargePart[];
  /** The sum of the parts in billionths of a dollar, rounded once. */
  readonly nanos: number;
  /** What cached input saved, less what writing it to the cache cost; below zero where that was more. */
  readonly cacheSavingsNanos: number;
  /** The long-context step that applied. */
  readonly aboveInputTokens?: number | undefined;
}

interface CountedAnswer {
  readonly usage: Usage;
  /** Pictures in the answer. */
  readonly imageCount: number;
}

export function costOf({ usage, imageCount }: CountedAnswer, price: PricedRates): Charge {
  const step = stepFor(inputTokens(usage), price.above);
  const rates = fillRates({ ...price, ...step });
  const counts = countParts(usage, price);
  const parts: ChargePart[] = [];
  for (const kind of CHARGE_KINDS) {
    const count = kind === 'image' ? imagesByPiece(imageCount, price) : counts[kind];
    if (count > 0) parts.push({ kind, count, rate: rates[kind] });
  }
  const written = (kind: 'cacheWrite' | 'cacheWriteHour') =>
    counts[kind] * (rates[kind] - rates.input);
  const saved =
    counts.cachedInput * (rates.input - rates.cachedInput) -
    (written('cacheWrite') + written('cacheWriteHour'));
  return {
    parts,
    nanos: nanosOf(parts),
    cacheSavingsNanos: Math.round(saved * NANOS_PER_MICRO) + 0,
    aboveInputTokens: step?.inputTokens,
  };
}

const NANOS_PER_MICRO = 1000;
const NANOS = 1_000_000_000;

/** Dollars per million tokens are millionths of a dollar per token. */
function nanosOf(parts: readonly ChargePart[]): number {
  let nanos = 0;
  for (const { kind, count, rate } of parts) {
    nanos += count * rate * (kind === 'image' ? NANOS : NANOS_PER_MICRO);
  }
  return Math.round(nanos);
}

/** In US dollars, for people and for figures. */
export function toDollars(nanos: number): number {
  return nanos / NANOS;
}

/** Of several steps the highest that applies. */
function stepFor(tokens: number, above: PricedRates['above'] = []): LongContextRates | undefined {
  let found: LongContextRates | undefined;
  for (const step of above) {
    if (tokens > step.inputTokens && step.inputTokens > (found?.inputTokens ?? -1)) found = step;
  }
  return found;
}

export const CHARGE_KINDS = [
  ...([
    'input',
    'cachedInput',
    'cacheWrite',
    'cacheWriteHour',
    'imageInput',
    'audioInput',
  ] as const),
  ...(['output', 'thought', 'imageOutput', 'audioOutput', 'image'] as const),
] as const satisfies readonly ChargeKind[];

type TokenKind = Exclude<ChargeKind, 'image'>;

function fillRates(rates: Rates): Readonly<Record<ChargeKind, number>> {
  const { input = 0, cacheWrite = input, image = 0 } = rates;
  // A model that is priced for pictures or sound alone answers in nothing else.
  const { output = rates.imageOutput ?? rates.audioOutput ?? 0 } = rates;
  return {
    input,
    cachedInput: rates.cachedInput ?? input,
    cacheWrite,
    cacheWriteHour: rates.cacheWriteHour ?? cacheWrite,
    imageInput: rates.imageInput ?? input,
    audioInput: rates.audioInput ?? input,
    output,
    thought: rates.thought ?? output,
    imageOutput: rates.imageOutput ?? output,
    audioOutput: rates.audioOutput ?? output,
    image,
  };
}

/** Every token of the usage in exactly one part. */
function countParts(usage: Usage, price: Rates): Readonly<Record<TokenKind, number>> {
  const input = inputTokens(usage);
  const cachedInput = Math.min(usage.cachedTokens, input);
  const writes = Math.min(usage.cacheWrites?.tokens ?? 0, input - cachedInput);
  const cacheWriteHour = Math.min(usage.cacheWrites?.hourTokens ?? 0, writes);
  // Of a prompt that was cached in part, text is taken to be, before sound and pictures.
  const fresh = input - cachedInput - writes;
  const audioInput = Math.min(usage.media?.audio ?? 0, fresh);
  const imageInput = Math.min(usage.media?.image ?? 0, fresh - audioInput);
  const answer = splitAnswer(usage, price);
  return {
    input: fresh - audioInput - imageInput,
    cachedInput,
    cacheWrite: writes - cacheWriteHour,
    cacheWriteHour,
    imageInput,
    audioInput,
    ...answer,
    thought: usage.thoughtTokens,
  };
}

function splitAnswer({ answerTokens, answerMedia }: Usage, price: Rates) {
  if (answerMedia === undefined) {
    // Without a split, a model that has no price for text answers in what it is priced for.
    const isText = price.output !== undefined;
    const audio = !isText && price.imageOutput === undefined && price.audioOutput !== undefined;
    const image = !isText && price.imageOutput !== undefined;
    return {
      output: image || audio ? 0 : answerTokens,
      imageOutput: image ? answerTokens : 0,
      audioOutput: audio ? answerTokens : 0,
    };
  }
  const audioOutput = Math.min(answerMedia.audio, answerTokens);
  const imageOutput = Math.min(answerMedia.image, answerTokens - audioOutput);
  return { output: answerTokens - audioOutput - imageOutput, imageOutput, audioOutput };
}

/** Pictures that are paid by their tokens are not paid again by the piece. */
function imagesByPiece(imageCount: number, price: Rates): number {
  return price.imageOutput === undefined && price.image !== undefined ? imageCount : 0;
}
