// One conversation of the playground: what was said, what is being answered, and the wire of the last exchange.

import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Attachment } from '../../wire/attachments.ts';
import { type AnswerPiece, joinPieces } from '../../wire/read-answer.ts';
import { type Exchange, sendRequest } from '../../wire/send-request.ts';
import {
  type Draft,
  type ToolResult,
  type Turn,
  type WireRequest,
  writeRequest,
} from '../../wire/write-request.ts';
import { type Said, sayTurn, turnsFor, turnsOf } from './turns-of.ts';

export type Trouble = 'needs-key' | 'refused' | 'empty' | 'unreachable' | 'stopped';

export interface Wire {
  readonly request: WireRequest;
  readonly exchange: Exchange | undefined;
  /** The response as it came, up to `MAX_RAW_LENGTH` characters. */
  readonly raw: string;
  readonly isCut: boolean;
}

export interface Message {
  readonly text: string;
  readonly files?: readonly Attachment[];
  readonly results?: readonly ToolResult[];
}

export interface Conversation {
  readonly said: readonly Said[];
  /** What of it is kept and sent along. */
  readonly turns: readonly Turn[];
  readonly wire: Wire | undefined;
  readonly trouble: Trouble | undefined;
  readonly isBusy: boolean;
  /** False when the message got no answer: it is said anew with the next one. */
  send(draft: Draft, message: Message, key: string): Promise<boolean>;
  /** Asks for another answer to the last message. */
  regenerate(draft: Draft, key: string): Promise<boolean>;
  /** Says a message otherwise; what followed it goes. */
  edit(draft: Draft, index: number, text: string, key: string): Promise<boolean>;
  /** Sends the last request again, with the body that somebody wrote. */
  sendBody(draft: Draft, body: WireRequest['body'], key: string): Promise<boolean>;
  stop(): void;
  clear(): void;
  /** Goes on from here. */
  begin(turns: readonly Turn[]): void;
}

/** More than this makes the page slow; pictures alone are longer. */
export const MAX_RAW_LENGTH = 400_000;

interface Run {
  readonly draft: Draft;
  /** Ends with a message. */
  readonly before: readonly Said[];
  readonly key: string;
  readonly body?: WireRequest['body'];
}

export function useConversation(firstTurns: readonly Turn[]): Conversation {
  const [said, setSaid] = useState<readonly Said[]>(() => firstTurns.map(sayTurn));
  const [wire, setWire] = useState<Wire>();
  const [trouble, setTrouble] = useState<Trouble>();
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const run = async ({ draft, before, key, body }: Run): Promise<boolean> => {
    const written = writeRequest({ ...draft, turns: turnsFor(draft.protocol, before) });
    const request = body === undefined ? written : { ...written, body };
    const controller = new AbortController();
    running.current = controller;
    let answer: Said = { role: 'assistant', pieces: [], model: draft.model };
    const showAnswer = (more: Partial<Said>): void => {
      answer = { ...answer, ...more };
      if (running.current === controller) setSaid([...before, answer]);
    };
    showAnswer({});
    setWire({ request, exchange: undefined, raw: '', isCut: false });
    setTrouble(undefined);
    setBusy(true);
    let pieces: readonly AnswerPiece[] = [];
    const end = (met: Trouble | undefined): boolean => {
      if (running.current === controller) setTrouble(met);
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
          showAnswer({ pieces });
          setWire((known) => known && addRaw(known, raw));
        },
      });
      setWire((known) => known && { ...known, exchange });
      showAnswer({ exchange });
      if (exchange.status === 401) return end('needs-key');
      if (exchange.status >= 400) return end('refused');
      return end(pieces.every(isNoAnswer) ? 'empty' : undefined);
    } catch {
      return end(controller.signal.aborted ? 'stopped' : 'unreachable');
    } finally {
      if (running.current === controller) setBusy(false);
    }
  };

  const leave = useCallback(() => {
    running.current?.abort();
    running.current = undefined;
    setWire(undefined);
    setTrouble(undefined);
    setBusy(false);
  }, []);
  const upTo = (index: number): readonly Said[] => said.slice(0, index);
  const lastMessage = said.findLastIndex(({ role }) => role === 'user');
  return {
    said,
    turns: useMemo(() => turnsOf(withoutUnanswered(said, trouble)), [said, trouble]),
    wire,
    trouble,
    isBusy,
    send: (draft, { text, files = [], results = [] }, key) => {
      const turn: Turn = { role: 'user', text, files, results };
      return run({ draft, before: [...withoutUnanswered(said, trouble), sayTurn(turn)], key });
    },
    regenerate: (draft, key) => run({ draft, before: upTo(lastMessage + 1), key }),
    edit: async (draft, index, text, key) => {
      const edited = said[index];
      if (edited?.role !== 'user') return false;
      const { isEdited: _was, ...kept } = edited;
      const turn: Said = { ...kept, pieces: [{ kind: 'text', text }] };
      return run({ draft, before: [...upTo(index), turn], key });
    },
    sendBody: async (draft, body, key) => {
      const message = said[lastMessage];
      if (message === undefined) return false;
      const before = [...upTo(lastMessage), { ...message, isEdited: true }];
      return run({ draft, before, key, body });
    },
    stop: useCallback(() => running.current?.abort(), []),
    clear: useCallback(() => {
      leave();
      setSaid([]);
    }, [leave]),
    begin: useCallback(
      (turns) => {
        leave();
        setSaid(turns.map(sayTurn));
      },
      [leave],
    ),
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

function addRaw(wire: Wire, raw: string): Wire {
  const room = MAX_RAW_LENGTH - wire.raw.length;
  if (raw.length <= room) return { ...wire, raw: wire.raw + raw };
  return { ...wire, raw: wire.raw + raw.slice(0, Math.max(0, room)), isCut: true };
}
