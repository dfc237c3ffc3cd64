// Applies the call rules to the events of one answer; everything that is no tool call passes untouched.

import type { CanonicalEvent } from '../../canonical/event.ts';
import type { CallRule } from './call-rule.ts';
import type { RepairArguments } from './repair-arguments.ts';

type BlockStart = Extract<CanonicalEvent, { kind: 'block-start' }>;
type BlockDelta = Extract<CanonicalEvent, { kind: 'block-delta' }>;
type BlockEnd = Extract<CanonicalEvent, { kind: 'block-end' }>;

/** An open call whose pieces do not pass as they come. */
type OpenCall =
  | { readonly kind: 'left-out' }
  | {
      readonly kind: 'held';
      readonly name: string;
      readonly repair: (json: string) => string;
      json: string;
    };

export interface RewriteOptions {
  /** In order; each gets what the one before it gave. */
  readonly rules: readonly CallRule[];
  readonly repairArguments: RepairArguments;
  /** True for arguments that clients may return in another form than they were shown. */
  mayChange(toolName: string, json: string): boolean;
}

/** Batches without a call come back as the same array. */
export function createCallRewriter(
  options: RewriteOptions,
): (events: readonly CanonicalEvent[]) => readonly CanonicalEvent[] {
  const rewriter = new CallRewriter(options);
  return (events) => rewriter.rewrite(events);
}

class CallRewriter {
  readonly #options: RewriteOptions;
  readonly #open = new Map<number, OpenCall>();

  constructor(options: RewriteOptions) {
    this.#options = options;
  }

  rewrite(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    if (this.#open.size === 0 && !hasCallStart(events)) return events;
    const shown: CanonicalEvent[] = [];
    for (const event of events) this.#add(event, shown);
    return shown;
  }

  #add(event: CanonicalEvent, shown: CanonicalEvent[]): void {
    switch (event.kind) {
      case 'block-start':
        this.#start(event, shown);
        break;
      case 'block-delta':
        this.#continue(event, shown);
        break;
      case 'block-end':
        this.#end(event, shown);
        break;
      case 'start':
      case 'grounding':
      case 'usage':
      case 'finish':
      case 'error':
        shown.push(event);
        break;
      default:
        event satisfies never;
    }
  }

  #start(event: BlockStart, shown: CanonicalEvent[]): void {
    const { block: given, choice, index } = event;
    if (given.kind !== 'tool-call') {
      shown.push(event);
      return;
    }
    let block: typeof given | undefined = given;
    for (const rule of this.#options.rules) {
      block = rule(block, choice);
      if (block === undefined) {
        this.#open.set(index, { kind: 'left-out' });
        return;
      }
    }
    const repair = this.#options.repairArguments(block.name);
    if (repair !== undefined) {
      this.#open.set(index, { kind: 'held', name: block.name, repair, json: '' });
    }
    shown.push(block === given ? event : { ...event, block });
  }

  #continue(event: BlockDelta, shown: CanonicalEvent[]): void {
    const call = this.#open.get(event.index);
    if (call === undefined) shown.push(event);
    else if (call.kind === 'held' && event.delta.kind === 'arguments')
      call.json += event.delta.json;
  }

  #end(event: BlockEnd, shown: CanonicalEvent[]): void {
    const call = this.#open.get(event.index);
    this.#open.delete(event.index);
    if (call?.kind === 'left-out') return;
    if (call?.kind !== 'held' || call.json === '') {
      shown.push(event);
      return;
    }
    const json = call.repair(call.json);
    shown.push({ kind: 'block-delta', index: event.index, delta: { kind: 'arguments', json } });
    const isOther = json !== call.json || this.#options.mayChange(call.name, json);
    shown.push(isOther ? { ...event, issuedArguments: call.json } : event);
  }
}

function hasCallStart(events: readonly CanonicalEvent[]): boolean {
  for (const event of events) {
    if (event.kind === 'block-start' && event.block.kind === 'tool-call') return true;
  }
  return false;
}
