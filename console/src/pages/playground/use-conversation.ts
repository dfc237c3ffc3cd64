// One conversation of the playground: what was said, what is being answered, and the wire of the last exchange.

import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type AnswerPiece, joinPieces } from '../../wire/read-answer.ts';
import { type Exchange, sendRequest } from '../../wire/send-request.ts';
import { type Draft, type Turn, type WireRequest, writeRequest } from '../../wire/write-request.ts';
import { type Said, turnsFor, turnsOf } from './turns-of.ts';

export type Trouble = 'needs-key' | 'refused' | 'empty' | 'unreachable' | 'stopped';

export interface Wire {
  readonly request: WireRequest;
  readonly exchange: Exchange | undefined;
  /** The response as it came, up to `MAX_RAW_LENGTH` characters. */
  readonly raw: string;
  readonly isCut: boolean;
}

export interface Conversation {
  readonly said: readonly Said[];
  /** What of it is kept and sent along. */
  readonly turns: readonly Turn[];
  readonly wire: Wire | undefined;
  readonly trouble: Trouble | undefined;
  readonly isBusy: boolean;
  /** False when the message got no answer: it is said anew with the next one. */
  send(draft: Draft, prompt: string, key: string): Promise<boolean>;
  stop(): void;
  clear(): void;
}

/** More than this makes the page slow; pictures alone are longer. */
export const MAX_RAW_LENGTH = 400_000;

export function useConversation(firstTurns: readonly Turn[]): Conversation {
  const [said, setSaid] = useState<readonly Said[]>(() => firstTurns.map(sayTurn));
  const [wire, setWire] = useState<Wire>();
  const [trouble, setTrouble] = useState<Trouble>();
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const run = async (draft: Draft, prompt: string, key: string): Promise<boolean> => {
    const before = [...withoutUnanswered(said, trouble), sayTurn({ role: 'user', text: prompt })];
    const request = writeRequest({ ...draft, turns: turnsFor(draft.protocol, before) });
    const controller = new AbortController();
    running.current = controller;
    setSaid([...before, { role: 'assistant', pieces: [] }]);
    setWire({ request, exchange: undefined, raw: '', isCut: false });
    setTrouble(undefined);
    setBusy(true);
    let pieces: readonly AnswerPiece[] = [];
    const end = (met: Trouble | undefined): boolean => {
      setTrouble(met);
      return !isUnanswered(pieces, met);
    };
    try {
      const exchange = await sendRequest({
        protocol: draft.protocol,
        request,
        key,
        signal: controller.signal,
        onHead: (head) => setWire((known) => known && { ...known, exchange: head }),
        onText(raw, added) {
          pieces = joinPieces(pieces, added);
          const shown = pieces;
          setSaid([...before, { role: 'assistant', pieces: shown }]);
          setWire((known) => known && addRaw(known, raw));
        },
      });
      setWire((known) => known && { ...known, exchange });
      if (exchange.status === 401) return end('needs-key');
      if (exchange.status >= 400) return end('refused');
      return end(pieces.every(isNoAnswer) ? 'empty' : undefined);
    } catch {
      return end(controller.signal.aborted ? 'stopped' : 'unreachable');
    } finally {
      setBusy(false);
    }
  };

  return {
    said,
    turns: useMemo(() => turnsOf(withoutUnanswered(said, trouble)), [said, trouble]),
    wire,
    trouble,
    isBusy,
    send: run,
    stop: useCallback(() => running.current?.abort(), []),
    clear: useCallback(() => {
      running.current?.abort();
      setSaid([]);
      setWire(undefined);
      setTrouble(undefined);
    }, []),
  };
}

/** Nothing came but the reason why nothing came. */
function isUnanswered(pieces: readonly AnswerPiece[], trouble: Trouble | undefined): boolean {
  const isRefused = trouble !== undefined && trouble !== 'stopped';
  return isRefused && pieces.every(isNoAnswer);
}

function isNoAnswer({ kind }: AnswerPiece): boolean {
  return kind === 'error' || kind === 'ending';
}

/** The message that got no answer stands in its field again. */
function withoutUnanswered(said: readonly Said[], trouble: Trouble | undefined): readonly Said[] {
  return isUnanswered(said.at(-1)?.pieces ?? [], trouble) ? said.slice(0, -2) : said;
}

function sayTurn({ role, text }: Turn): Said {
  return { role, pieces: [{ kind: 'text', text }] };
}

function addRaw(wire: Wire, raw: string): Wire {
  const room = MAX_RAW_LENGTH - wire.raw.length;
  if (raw.length <= room) return { ...wire, raw: wire.raw + raw };
  return { ...wire, raw: wire.raw + raw.slice(0, Math.max(0, room)), isCut: true };
}
