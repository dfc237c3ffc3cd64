// Turns an ended request into its record: counted, shortened and free of credentials.

import type { FinishReason } from '../canonical/event.ts';
import type { ReceiptAction, ReceiptEntry } from '../canonical/receipt.ts';
import type { TranscriptBlock } from '../canonical/transcript.ts';
import { inputTokens, outputTokens } from '../canonical/usage.ts';
import type { Sentence } from '../lib/localized-message.ts';
import type { Redactor } from '../lib/redact.ts';
import {
  type AttemptEntry,
  type BodyBlocks,
  blockSize,
  type CallFacts,
  type EndedRequest,
  type ReceiptCounts,
  type RequestBodies,
  type RequestOutcome,
  type RequestRecord,
  type RequestRow,
} from './record.ts';

export interface RecordContext {
  readonly keepsBodies: boolean;
  /** Takes out what the request showed as credentials, and the gateway's own. */
  redactorFor(credentials: readonly string[]): Redactor;
  keyName(keyId: string): string | undefined;
  createId(prefix: string): string;
  /** The model a name leads to; undefined when no account offers it. */
  targetOf(model: string): string | undefined;
}

const MAX_BODY_CHARACTERS = 262_144;
const MAX_NAME = 256;
const MAX_TEXT = 1024;
const MAX_LISTED = 100;
const CLIENT_LEFT = 499;

export function writeRecord(ended: EndedRequest, context: RecordContext): RequestRecord {
  const redactor = context.redactorFor(ended.credentials);
  const row = writeRow(ended, context, redactor);
  const { facts, receipt } = ended;
  return {
    row,
    details: {
      route: ended.route,
      pathModel: clean(ended.pathModel, redactor),
      errorKind: facts.error?.kind,
      modelVersion: optional(facts.answers?.[0]?.modelVersion, redactor),
      finishReasons: finishReasonsOf(facts),
      isEstimate: isEstimate(facts) || undefined,
      attemptsList: facts.attempts
        .slice(0, MAX_LISTED)
        .map((attempt) => writeAttempt(attempt, redactor)),
      upstreamCalls: facts.upstreamCalls,
      passedOver: facts.passedOver,
      receiptEntries: receipt.slice(0, MAX_LISTED).map((entry) => cleanEntry(entry, redactor)),
      session: optional(ended.session, redactor),
      userAgent: optional(ended.userAgent, redactor),
      timings: { upstreamMs: round(facts.timings.upstreamMs) },
    },
    bodies: context.keepsBodies ? writeBodies(ended, redactor) : undefined,
  };
}

function finishReasonsOf({ answers = [] }: CallFacts): readonly FinishReason[] | undefined {
  const reasons: FinishReason[] = [];
  for (const { finishReasons = [] } of answers) {
    for (const reason of finishReasons) if (!reasons.includes(reason)) reasons.push(reason);
  }
  return reasons.length === 0 ? undefined : reasons;
}

/** Counted tokens, or the usage of an answer that ended before it was told. */
function isEstimate({ isEstimate: isCount, answers = [] }: EndedRequest['facts']): boolean {
  return isCount === true || answers.some(({ usage }) => usage?.isEstimate === true);
}

/** Of the few routes there are. */
const surfaces = new Map<string, string>();

/** `/v1/models/{model}:generateContent` → `generateContent`, `/v1/chat/completions` → `chat/completions`. */
function surfaceOf(route: string): string {
  const known = surfaces.get(route);
  if (known !== undefined) return known;
  const surface = route.replace(/^\/v1(?:alpha|beta)?\//, '').replace(/^models\/\{model\}[:/]/, '');
  surfaces.set(route, surface);
  return surface;
}

function writeRow(ended: EndedRequest, context: RecordContext, redactor: Redactor): RequestRow {
  const { facts, call, status, requestId } = ended;
  return {
    id: ended.isIdGiven ? context.createId('req_') : requestId,
    requestId: ended.isIdGiven ? clean(requestId, redactor) : requestId,
    at: ended.endedAt - Math.round(ended.totalMs),
    protocol: ended.protocol,
    surface: surfaceOf(ended.route),
    method: ended.method,
    path: clean(ended.path, redactor, MAX_TEXT),
    stream: call?.stream ?? false,
    status,
    outcome: outcomeOf(ended),
    model: clean(modelOf(ended), redactor),
    routedModel: optional(facts.routedModel ?? context.targetOf(modelOf(ended)), redactor),
    // With an upstream that lists no models it is whatever the client wrote.
    upstreamModel: optional(facts.upstreamModel, redactor),
    account: facts.accountLabel,
    keyId: ended.clientKeyId,
    keyName: context.keyName(ended.clientKeyId),
    clientAddress: ended.clientAddress,
    attempts: facts.attempts.length,
    retries: countRetries(facts),
    firstEventMs: round(ended.firstEventMs),
    totalMs: Math.round(ended.totalMs),
    ...sumAnswers(facts),
    receipt: countReceipt(ended.receipt),
    error: optional(facts.error?.message ?? withheldOf(facts), redactor, MAX_TEXT),
  };
}

function withheldOf({ answers = [] }: CallFacts): string | undefined {
  return answers.find(({ withheld }) => withheld !== undefined)?.withheld;
}

/** The path goes before the body, as it does where requests are read. */
function modelOf({ call, pathModel, bodyModel = '' }: EndedRequest): string {
  if (call !== undefined) return call.model;
  return pathModel === '' ? bodyModel : pathModel;
}

function outcomeOf({ status, facts }: EndedRequest): RequestOutcome {
  if (facts.error?.kind === 'client-gone') return 'cancelled';
  if (facts.error !== undefined) return 'error';
  if (status === CLIENT_LEFT) return 'cancelled';
  return status >= 400 ? 'error' : 'ok';
}

type TokenCounts = Pick<
  RequestRow,
  'inputTokens' | 'outputTokens' | 'cachedTokens' | 'thoughtTokens' | 'images'
>;

/** Absent where no answer began, and tokens also where nobody told them: nothing is known then. */
function sumAnswers({ answers = [] }: CallFacts): TokenCounts {
  if (answers.length === 0) return {};
  const images = answers.reduce((sum, { imageCount }) => sum + imageCount, 0);
  const told = answers.map(({ usage }) => usage).filter((usage) => usage !== undefined);
  if (told.length === 0) return { images };
  const counts = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, thoughtTokens: 0, images };
  for (const usage of told) {
    counts.inputTokens += inputTokens(usage);
    counts.outputTokens += outputTokens(usage);
    counts.cachedTokens += usage.cachedTokens;
    counts.thoughtTokens += usage.thoughtTokens;
  }
  return counts;
}

/** The first attempt of each upstream call is none. */
function countRetries({ attempts }: CallFacts): number {
  if (attempts.length < 2) return 0;
  return attempts.length - new Set(attempts.map(({ upstreamCall }) => upstreamCall)).size;
}

const NOTHING_DONE: ReceiptCounts = { dropped: 0, approximated: 0, repaired: 0 };

function countReceipt(entries: readonly ReceiptEntry[]): ReceiptCounts {
  if (entries.length === 0) return NOTHING_DONE;
  const count = (...actions: readonly ReceiptAction[]): number =>
    entries.filter(({ action }) => actions.includes(action)).length;
  return {
    dropped: count('dropped'),
    approximated: count('approximated', 'capped'),
    repaired: count('repaired'),
  };
}

function writeAttempt(attempt: CallFacts['attempts'][number], redactor: Redactor): AttemptEntry {
  const { accountId, accountLabel = accountId, modelId, considered, outcome, status } = attempt;
  const { detail, upstreamCall } = attempt;
  return {
    account: accountLabel,
    model: clean(modelId, redactor),
    upstreamCall,
    outcome,
    status,
    detail: detail === undefined ? undefined : clean(detail, redactor, MAX_TEXT),
    considered: considered.slice(0, MAX_LISTED),
    ms: round(attempt.durationMs),
  };
}

function writeBodies({ body, facts, isForm }: EndedRequest, redactor: Redactor): RequestBodies {
  const { upstreamBody } = facts;
  const client = body && redactor.json(body, MAX_BODY_CHARACTERS);
  return {
    // Files of a form are not kept, so that one is never whole.
    clientRequest: client && { ...client, isWhole: client.isWhole && isForm !== true },
    upstreamRequest: upstreamBody && redactor.json(upstreamBody, MAX_BODY_CHARACTERS),
    response: writeResponse(facts, redactor),
  };
}

function writeResponse({ answers = [] }: CallFacts, redactor: Redactor): BodyBlocks | undefined {
  const transcripts = answers
    .map(({ transcript }) => transcript)
    .filter((one) => one !== undefined);
  if (transcripts.length === 0) return undefined;
  const blocks = transcripts.flatMap((transcript) => transcript.blocks);
  const kept: TranscriptBlock[] = [];
  let room = MAX_BODY_CHARACTERS;
  for (const block of blocks) {
    if (room <= 0) break;
    kept.push(cleanBlock(block, redactor));
    room -= blockSize(block);
  }
  const isCut = transcripts.some((transcript) => transcript.isCut) || kept.length < blocks.length;
  return { blocks: kept, isWhole: !isCut };
}

function cleanBlock(block: TranscriptBlock, { text }: Redactor): TranscriptBlock {
  switch (block.kind) {
    case 'text':
    case 'thinking':
      return { kind: block.kind, text: text(block.text) };
    case 'tool-call':
      return { ...block, name: text(block.name), arguments: text(block.arguments) };
    case 'code':
      return { ...block, code: text(block.code) };
    case 'code-result':
      return { ...block, output: text(block.output) };
    case 'media':
      return block;
    default:
      return block satisfies never;
  }
}

function cleanEntry({ path, action, reason }: ReceiptEntry, redactor: Redactor): ReceiptEntry {
  return {
    action,
    path: clean(path, redactor),
    reason: clean(reason, redactor, MAX_TEXT) as Sentence,
  };
}

function optional(
  text: string | undefined,
  redactor: Redactor,
  maxCharacters = MAX_NAME,
): string | undefined {
  return text === undefined ? undefined : clean(text, redactor, maxCharacters);
}

function clean(text: string, redactor: Redactor, maxCharacters = MAX_NAME): string {
  if (text.length <= maxCharacters) return redactor.text(text);
  return `${redactor.beginning(text, maxCharacters)}…`;
}

function round(durationMs: number | undefined): number | undefined {
  return durationMs === undefined ? undefined : Math.round(durationMs);
}
