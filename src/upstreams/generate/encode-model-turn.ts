// Writes one assistant turn and puts every thought signature on the kind of part it was issued for.

import { type Sentence, told } from '../../canonical/receipt.ts';
import type { Part, Signature, ThinkingPart, ToolCallPart } from '../../canonical/request.ts';
import { SIGNATURE_SENTINEL } from '../../canonical/signature-carrier.ts';
import type { WirePart } from '../../wire/generate.ts';
import type { ContentsContext } from './encode-context.ts';
import { encodePlainPart } from './encode-parts.ts';

export interface ModelTurnContext extends ContentsContext {
  /** True in the turn in progress, whose tool calls the upstream wants signed. */
  readonly isCurrent: boolean;
  /** False when thoughts stay out: the model does not think, or not for this request. */
  readonly sendsThoughts: boolean;
}

type SignedKind = NonNullable<Signature['on']>;

/**
 * The parts of an assistant turn; none when the turn says nothing. A signature that a client could
 * carry only on an earlier part goes to the next part of its own kind (ai.google.dev, "Thought
 * signatures": return it on the very part it came with).
 */
export function encodeModelTurn(parts: readonly Part[], context: ModelTurnContext): WirePart[] {
  const turn = new ModelTurn(context);
  const isTraced = context.sendsTraces && parts.some(hasTrace);
  for (const part of parts) if (!isTraced || !isToldByTrace(part)) turn.add(part);
  return turn.end();
}

function hasTrace(part: Part): boolean {
  return part.kind === 'tool-call' && part.trace !== undefined;
}

/** What a client shows of the upstream's own tools stands in the trace itself. */
function isToldByTrace({ kind }: Part): boolean {
  return kind === 'server-tool-call' || kind === 'server-tool-result';
}

class ModelTurn {
  readonly #context: ModelTurnContext;
  readonly #parts: WirePart[] = [];
  readonly #carried = new Map<SignedKind, string>();
  #hasCall = false;

  constructor(context: ModelTurnContext) {
    this.#context = context;
  }

  add(part: Part): void {
    switch (part.kind) {
      case 'thinking':
        this.#addThinking(part);
        break;
      case 'tool-call':
        this.#addCall(part);
        break;
      case 'text':
      case 'media': {
        const plain = encodePlainPart(part, this.#context);
        this.#addSigned(plain, this.#sign(part, part.kind) ?? this.#drawnStandIn(plain));
        break;
      }
      case 'code':
      case 'code-result':
        this.#addSigned(encodePlainPart(part, this.#context), part.signature?.value);
        break;
      case 'server-tool-call':
      case 'server-tool-result':
        this.#addSigned(encodePlainPart(part, this.#context), undefined);
        break;
      case 'redacted-thinking':
        this.#note('dropped', told`Only its issuer can read redacted thinking.`);
        break;
      case 'tool-result':
        // Results are the user's; the transforms have put them there.
        this.#note('dropped', told`A tool result stood in an assistant turn.`);
        break;
      default:
        part satisfies never;
    }
  }

  end(): WirePart[] {
    const text = this.#take('text');
    if (text !== undefined) this.#parts.push({ text: '', thoughtSignature: text });
    if (this.#carried.size > 0) {
      this.#note('dropped', told`The part a thought signature belongs to is not in the history.`);
    }
    return this.#parts;
  }

  #addThinking(part: ThinkingPart): void {
    const value = part.signature?.value;
    const on = part.signature?.on ?? (part.text === '' ? 'tool-call' : 'thinking');
    if (value !== undefined && on !== 'thinking') this.#carried.set(on, value);
    if (part.text === '') return;
    if (!this.#context.sendsThoughts) {
      this.#note('dropped', told`Earlier thoughts stay out where thinking is off.`);
    } else if (value === undefined) {
      this.#note('dropped', told`Thinking without a valid signature cannot be sent upstream.`);
    } else {
      const thought: WirePart = { text: part.text, thought: true };
      this.#parts.push(on === 'thinking' ? { ...thought, thoughtSignature: value } : thought);
    }
  }

  #addCall(part: ToolCallPart): void {
    const isFirst = !this.#hasCall;
    this.#hasCall = true;
    const trace = this.#context.sendsTraces ? (part.trace?.parts ?? []) : [];
    this.#parts.push(...trace);
    const own = this.#sign(part, 'tool-call');
    const signature = own ?? (isFirst ? this.#standIn(trace.length > 0) : undefined);
    const { id, name, input } = part;
    this.#addSigned({ functionCall: { id, name, args: input } }, signature);
  }

  /**
   * The documented stand-in, for upstreams that want a signature and were never given one. A call behind
   * a trace goes back as it came: the signature of its step may stand on the trace.
   */
  #standIn(isTraced: boolean): string | undefined {
    const { target, isCurrent } = this.#context;
    const isWanted = isCurrent && !isTraced && target.capabilities.unsignedCalls === 'sentinel';
    if (!isWanted && !target.standsIn) return undefined;
    this.#note(
      'repaired',
      told`A tool call without a signature was sent with the documented stand-in.`,
    );
    return SIGNATURE_SENTINEL;
  }

  /**
   * The stand-in for what models that draw want signed: each picture, and the text before the first
   * (ai.google.dev, "Image generation", thought signatures; vercel/ai#10441).
   */
  #drawnStandIn(part: WirePart): string | undefined {
    const { target } = this.#context;
    const isFirstText =
      target.capabilities.drawsImages && part.text && this.#parts.every(({ thought }) => thought);
    if (!target.standsIn || !(part.inlineData || isFirstText)) return undefined;
    this.#note(
      'repaired',
      told`What was drawn or said without a signature was sent with the documented stand-in.`,
    );
    return SIGNATURE_SENTINEL;
  }

  #addSigned(part: WirePart, thoughtSignature: string | undefined): void {
    if (thoughtSignature !== undefined) this.#parts.push({ ...part, thoughtSignature });
    else if (part.text !== '') this.#parts.push(part);
  }

  /** The signature for a part of this kind: its own, else the one an earlier part carried for it. */
  #sign(
    part: { readonly signature?: Signature | undefined },
    kind: SignedKind,
  ): string | undefined {
    const carried = this.#take(kind);
    const own = part.signature?.value;
    const on = part.signature?.on ?? kind;
    if (on === kind) return own ?? carried;
    if (own !== undefined) this.#carried.set(on, own);
    return carried;
  }

  #take(kind: SignedKind): string | undefined {
    const value = this.#carried.get(kind);
    this.#carried.delete(kind);
    return value;
  }

  #note(action: 'dropped' | 'repaired', reason: Sentence): void {
    this.#context.target.receipt.add(action, 'messages', reason);
  }
}
