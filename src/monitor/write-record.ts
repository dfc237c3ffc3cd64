// Turns an ended request into its record: counted, shortened and free of credentials.

import type { CallRecord, ServedBy } from '../canonical/call-record.ts';
import type { FinishReason } from '../canonical/event.ts';
import { plainModelName } from '../canonical/model.ts';
import type { ReceiptEntry } from '../canonical/receipt.ts';
import type { KeptText, TranscriptBlock } from '../canonical/transcript.ts';
import { cacheWriteTokens, inputTokens, outputTokens } from '../canonical/usage.ts';
import { changeTexts, type Sentence, told } from '../lib/localized-message.ts';
import { BEHIND_CHARACTERS, HIDDEN, type Redactor } from '../lib/redact.ts';
import { type AnswerPrice, chargeAnswers, type RequestCharge } from '../pricing/charges.ts';
import {
  type AttemptEntry,
  type BodyBlocks,
  blockSize,
  type EndedRequest,
  errorGroup,
  type ReceiptCounts,
  type RequestBodies,
  type RequestDetails,
  type RequestOutcome,
  type RequestRecord,
  type RequestRow,
  surfaceOf,
} from './record.ts';

interface RecordContext {
  /** Takes out what the request showed as credentials, and the gateway's own. */
  redactorFor(credentials: readonly string[]): Redactor;
  keyOf: FindKey;
  createId(prefix: string): string;
  /** What this process is called among those that serve together; undefined where it is alone. */
  readonly replica?: string | undefined;
  /** What the answers of an account cost; undefined where no price is known. */
  readonly priceOf: (servedBy: ServedBy) => AnswerPrice | undefined;
  /** The model a name leads to; undefined when no account offers it. */
  targetOf(model: string): string | undefined;
}

const MAX_BODY_CHARACTERS = 262_144;
const MAX_NAME = 256;
const MAX_TEXT = 1024;
const MAX_LISTED = 100;
const CLIENT_LEFT = 499;
const NOTHING_DONE: ReceiptCounts = { dropped: 0, approximated: 0, repaired: 0 };

/** What records say of a key; nothing of one that is not a person's. */
export type FindKey = (keyId: string) => RecordedKey | undefined;

interface RecordedKey {
  readonly name?: string | undefined;
  /** What may be recorded of its requests; absent for all that the settings say. */
  readonly recording?: Recording | undefined;
  /** Whose it is, as people say. */
  readonly owner?: string | undefined;
  readonly team?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** `counts` keeps no text of a request or answer, and no address. */
type Recording = 'no-bodies' | 'counts';

/** @param keepsBodies as the settings say; a key may forbid it */
export function writeRecord(
  ended: EndedRequest,
  context: RecordContext,
  keepsBodies: boolean,
): RequestRecord {
  const key = context.keyOf(ended.clientKeyId) ?? {};
  const redactor = context.redactorFor(ended.credentials);
  const { facts } = ended;
  const answers = sumAnswers(facts.answers);
  const charge = facts.answers && chargeAnswers(facts.answers, context.priceOf);
  const record = {
    row: writeRow(ended, { context, key, redactor, answers, charge }),
    details: writeDetails(ended, { redactor, answers, charge }),
    bodies: keepsBodies && key.recording === undefined ? writeBodies(ended, redactor) : undefined,
  };
  return key.recording === 'counts' ? withoutWords(record) : record;
}

function withoutWords({ row, details }: RequestRecord): RequestRecord {
  return {
    row: {
      ...row,
      clientAddress: '',
      session: undefined,
      error: undefined,
      errorGroup: row.errorGroup && details.errorKind,
    },
    details: {
      ...details,
      receiptEntries: [],
      userAgent: undefined,
      attemptsList: details.attemptsList.map((attempt) => ({
        ...attempt,
        detail: undefined,
        considered: [],
      })),
      fallbacks: undefined,
    },
    bodies: undefined,
  };
}

interface DetailSources {
  readonly redactor: Redactor;
  readonly answers: ReturnType<typeof sumAnswers>;
  readonly charge: RequestCharge | undefined;
}

function writeDetails(
  ended: EndedRequest,
  { redactor, answers, charge }: DetailSources,
): RequestDetails {
  const { facts, receipt } = ended;
  const attemptsList: AttemptEntry[] = [];
  for (const attempt of facts.attempts) {
    if (attemptsList.length === MAX_LISTED) break;
    const { accountId, accountLabel = accountId, modelId, upstreamCall, outcome } = attempt;
    const { status, detail, considered, durationMs } = attempt;
    attemptsList.push({
      account: accountLabel,
      model: clean(modelId, redactor),
      upstreamCall,
      outcome,
      status,
      detail: detail && cleanSentence(detail, redactor),
      considered: considered.length > MAX_LISTED ? considered.slice(0, MAX_LISTED) : considered,
      ms: durationMs && Math.round(durationMs),
    });
  }
  const { upstreamMs } = facts.timings;
  return {
    route: ended.route,
    pathModel: clean(ended.pathModel, redactor),
    errorKind: facts.error?.kind,
    modelVersion: clean(facts.answers?.[0]?.modelVersion, redactor),
    finishReasons: answers?.finishReasons,
    // Counted tokens, or the usage of an answer that ended before it was told.
    isEstimate: facts.isEstimate === true || answers?.isEstimate === true || undefined,
    charges: charge?.charges.slice(0, MAX_LISTED).map((one) => ({
      ...one,
      model: clean(one.model, redactor),
    })),
    attemptsList,
    fallbacks: facts.fallbacks?.slice(0, MAX_LISTED).map(({ from, to, ...why }) => ({
      ...why,
      from: clean(from, redactor),
      to: clean(to, redactor),
    })),
    upstreamCalls: facts.upstreamCalls,
    passedOver: facts.passedOver,
    receiptEntries: receipt.length === 0 ? receipt : cleanReceipt(receipt, redactor),
    userAgent: clean(ended.userAgent, redactor),
    timings: { upstreamMs: upstreamMs && Math.round(upstreamMs) },
  };
}

function outcomeOf({ facts, status }: EndedRequest): RequestOutcome {
  const { error, stoppedBy } = facts;
  if (stoppedBy !== undefined) return 'cancelled';
  if (error !== undefined) return error.kind === 'client-gone' ? 'cancelled' : 'error';
  if (status === CLIENT_LEFT) return 'cancelled';
  return status >= 400 ? 'error' : 'ok';
}

interface RowSources extends DetailSources {
  readonly context: RecordContext;
  readonly key: RecordedKey;
}

function writeRow(
  ended: EndedRequest,
  { context, key, redactor, answers, charge }: RowSources,
): RequestRow {
  const { facts, call, status, requestId, isIdGiven, firstEventMs, bodyModel = '' } = ended;
  const { error, attempts } = facts;
  // The path goes before the body, as it does where requests are read.
  const model = call?.model ?? (ended.pathModel || plainModelName(bodyModel));
  const outcome = outcomeOf(ended);
  const stopped = facts.stoppedBy && told`Stopped by ${facts.stoppedBy}.`;
  const sentence = stopped || (error?.sentence ?? answers?.withheld);
  const said = sentence && cleanSentence(sentence, redactor);
  const { name: keyName, owner, team, tags = [] } = key;
  return {
    id: isIdGiven ? context.createId('req_') : requestId,
    requestId: isIdGiven ? clean(requestId, redactor) : requestId,
    at: ended.endedAt - Math.round(ended.totalMs),
    protocol: ended.protocol,
    surface: surfaceOf(ended.route),
    method: ended.method,
    path: clean(ended.path, redactor, MAX_TEXT),
    stream: call?.stream ?? false,
    status,
    outcome,
    model: clean(model, redactor),
    routedModel: clean(facts.routedModel ?? context.targetOf(model), redactor),
    // With an upstream that lists no models it is whatever the client wrote.
    upstreamModel: clean(facts.upstreamModel, redactor),
    account: facts.accountLabel,
    keyId: ended.clientKeyId,
    keyName,
    owner,
    team,
    tags: tags.length === 0 ? undefined : tags,
    clientAddress: ended.clientAddress,
    session: clean(facts.session ?? ended.session, redactor),
    replica: context.replica,
    attempts: attempts.length,
    // The first attempt of each upstream call is none.
    retries:
      attempts.length < 2
        ? 0
        : attempts.length - new Set(attempts.map(({ upstreamCall }) => upstreamCall)).size,
    firstEventMs: firstEventMs && Math.round(firstEventMs),
    totalMs: Math.round(ended.totalMs),
    inputTokens: answers?.tokens?.input,
    outputTokens: answers?.tokens?.output,
    cachedTokens: answers?.tokens?.cached,
    cacheWriteTokens: answers?.tokens?.cacheWrite,
    thoughtTokens: answers?.tokens?.thought,
    images: answers?.images,
    costNanos: charge?.costNanos,
    flatRateNanos: charge?.flatRateNanos,
    cacheSavingsNanos: charge?.cacheSavingsNanos,
    costBasis: charge?.basis,
    receipt: ended.receipt.length === 0 ? NOTHING_DONE : countReceipt(ended.receipt),
    error: said,
    errorGroup: outcome === 'error' ? errorGroup(error?.kind ?? String(status), said) : undefined,
  };
}

const NO_TOKENS = { input: 0, output: 0, cached: 0, cacheWrite: 0, thought: 0 };

/** Undefined where no answer began; tokens also where no usage was reported. */
function sumAnswers(answers: CallRecord['answers'] = []) {
  if (answers.length === 0) return undefined;
  let images = 0;
  let withheld: Sentence | undefined;
  let isEstimate = false;
  let tokens: typeof NO_TOKENS | undefined;
  let finishReasons: FinishReason[] | undefined;
  for (const answer of answers) {
    const { usage, finishReasons: reasons = [] } = answer;
    images += answer.imageCount;
    withheld ??= answer.withheld;
    if (usage !== undefined) {
      tokens ??= { ...NO_TOKENS };
      tokens.input += inputTokens(usage);
      tokens.output += outputTokens(usage);
      tokens.cached += usage.cachedTokens;
      tokens.cacheWrite += cacheWriteTokens(usage);
      tokens.thought += usage.thoughtTokens;
      if (usage.isEstimate === true) isEstimate = true;
    }
    for (const reason of reasons) {
      finishReasons ??= [];
      if (!finishReasons.includes(reason)) finishReasons.push(reason);
    }
  }
  return { images, withheld, isEstimate, tokens, finishReasons };
}

function countReceipt(entries: readonly ReceiptEntry[]): ReceiptCounts {
  const counts = { dropped: 0, approximated: 0, repaired: 0 };
  for (const { action } of entries) counts[action === 'capped' ? 'approximated' : action] += 1;
  return counts;
}

function cleanReceipt(receipt: readonly ReceiptEntry[], redactor: Redactor): ReceiptEntry[] {
  return receipt.slice(0, MAX_LISTED).map(({ path, action, reason }) => ({
    action,
    path: clean(path, redactor),
    reason: cleanSentence(reason, redactor),
  }));
}

function writeBodies({ body, facts, isForm }: EndedRequest, redactor: Redactor): RequestBodies {
  const { upstreamBody, answers = [], sentBody } = facts;
  const client = body && redactor.json(body, MAX_BODY_CHARACTERS);
  const transcripts = answers
    .map(({ transcript }) => transcript)
    .filter((one) => one !== undefined);
  const blocks = transcripts.flatMap((transcript) => transcript.blocks);
  const cleaned = blocks.map((block) => cleanBlock(block, redactor));
  // The pieces of a stream part a secret: it is found where they are put together.
  const hasSecret = cleaned.some(
    (block, index) => JSON.stringify(block) !== JSON.stringify(blocks[index]),
  );
  const write = (kept: readonly KeptText[]) => writeText(kept, redactor, hasSecret);
  return {
    // Files of a form are not kept, so that one is never whole.
    clientRequest: client && { ...client, isWhole: client.isWhole && isForm !== true },
    upstreamRequest: upstreamBody && redactor.json(upstreamBody, MAX_BODY_CHARACTERS),
    response:
      transcripts.length === 0
        ? undefined
        : writeBlocks(
            cleaned,
            transcripts.some(({ isCut }) => isCut),
          ),
    upstreamResponse: write(transcripts.map(({ wire }) => wire)),
    clientResponse: write(sentBody === undefined ? [] : [sentBody]),
  };
}

/** Undefined where nothing was sent. */
function writeText(
  kept: readonly KeptText[],
  redactor: Redactor,
  hasSecret: boolean,
): RequestBodies['clientResponse'] {
  const said = kept.map(({ text }) => text).join('');
  if (said === '') return undefined;
  if (hasSecret) return { text: HIDDEN, isWhole: false };
  const text = kept.map((one) => cleanKept(one, redactor)).join('');
  return { text, isWhole: text === said && !kept.some(({ isCut }) => isCut) };
}

/** What was cut off may have been the rest of a credential. */
function cleanKept({ text, isCut }: KeptText, redactor: Redactor): string {
  return isCut ? redactor.beginning(text, text.length - BEHIND_CHARACTERS) : redactor.text(text);
}

function writeBlocks(blocks: readonly TranscriptBlock[], isCut: boolean): BodyBlocks {
  const kept: TranscriptBlock[] = [];
  let room = MAX_BODY_CHARACTERS;
  for (const block of blocks) {
    if (room <= 0) break;
    kept.push(block);
    room -= blockSize(block);
  }
  return { blocks: kept, isWhole: !isCut && kept.length === blocks.length };
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

function cleanSentence(sentence: Sentence, redactor: Redactor): Sentence {
  return changeTexts(sentence, (text) => clean(text, redactor, MAX_TEXT));
}

function clean(text: string, redactor: Redactor, maxCharacters?: number): string;
function clean(
  text: string | undefined,
  redactor: Redactor,
  maxCharacters?: number,
): string | undefined;
function clean(
  text: string | undefined,
  redactor: Redactor,
  maxCharacters = MAX_NAME,
): string | undefined {
  if (text === undefined) return undefined;
  if (text.length <= maxCharacters) return redactor.text(text);
  return `${redactor.beginning(text, maxCharacters)}…`;
}
