// The workers of one machine: what they share is kept by their parent, behind the channel between the two.

import type { Clock, Timer } from '../lib/clock.ts';
import { createListeners } from '../lib/listeners.ts';
import {
  type Bank,
  type CanWait,
  type Cluster,
  type ClusterState,
  ClusterUnavailable,
  type CounterName,
  type CreditGrant,
  type CreditRequest,
  GATHER_MS,
  NoticeListeners,
  WaitingNotices,
} from './cluster.ts';
import type { Hub } from './memory.ts';

/** One end of a channel between processes: of `process` in a worker, of a worker's handle in the parent. */
export interface Channel {
  /** Sends in order. A channel that is closed loses what is sent. */
  send(message: ChannelMessage): void;
  /** @returns what ends it */
  listen(listener: (message: unknown) => void): () => void;
}

/** Marks the messages of this file among all others of the channel. */
const MARK = 'isthmus-cluster';

interface ChannelMessage {
  readonly mark: typeof MARK;
  readonly items: readonly Item[];
}

type Item =
  | { readonly kind: 'join'; replica: string }
  | { readonly kind: 'notice'; topic: string; notice: unknown; from: string }
  | { readonly kind: 'members'; replicas: readonly string[] }
  | { readonly kind: 'ask'; id: number; question: Question }
  | { readonly kind: 'answer'; id: number; answer: CreditGrant | string | null }
  | { readonly kind: 'give-back'; counter: CounterName; amount: number; held: number };

type Question =
  | { readonly kind: 'lease'; request: CreditRequest }
  | { readonly kind: 'put'; key: string; value: string; lifetimeMs: number }
  | { readonly kind: 'get' | 'take'; key: string };

/** Serves one worker from when it says that it listens. @returns what ends it */
export function serveWorker(hub: Hub, channel: Channel): () => void {
  const outbox = createOutbox(channel);
  let member = '';
  let leave: (() => void) | undefined;
  const join = (replica: string): void => {
    member = replica;
    leave = hub.join({
      replica,
      take: (topic, notice, from) => outbox.add({ kind: 'notice', topic, notice, from }),
      meet: (replicas) => outbox.add({ kind: 'members', replicas }),
    });
  };
  const unlisten = channel.listen((message) => {
    for (const item of itemsOf(message)) {
      if (item.kind === 'join') join(item.replica);
      if (item.kind === 'notice') hub.tell(item.topic, item.notice, item.from);
      if (item.kind === 'give-back')
        hub.bank.giveBack(item.counter, item.amount, item.held, member);
      if (item.kind !== 'ask') continue;
      outbox.add({ kind: 'answer', id: item.id, answer: answerOf(hub, item.question, member) });
    }
  });
  return () => {
    unlisten();
    leave?.();
  };
}

function answerOf(hub: Hub, question: Question, member: string): CreditGrant | string | null {
  switch (question.kind) {
    case 'lease':
      return hub.bank.lease(question.request, member);
    case 'put':
      hub.put(question.key, question.value, question.lifetimeMs);
      return null;
    case 'get':
      return hub.get(question.key) ?? null;
    case 'take':
      return hub.take(question.key) ?? null;
    default:
      return question satisfies never;
  }
}

interface WorkerClusterOptions {
  readonly replica: string;
  readonly channel: Channel;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly onFault: (error: unknown) => void;
}

/** The membership of a worker. A parent that is gone ends its workers: nothing is done without it. */
export function createWorkerCluster({
  replica,
  channel,
  clock,
  onFault,
}: WorkerClusterOptions): Cluster {
  const listeners = new NoticeListeners(onFault);
  const changes = createListeners<ClusterState>(onFault);
  const outbox = createOutbox(channel);
  let gathering: Timer | undefined;
  /** Goes with the next that cannot wait, or after a moment. */
  const addLater = <Notice>(item: Item, canWait?: CanWait<Notice>): void => {
    outbox.keep(item, canWait);
    gathering ??= clock.startTimer(GATHER_MS, () => {
      gathering = undefined;
      outbox.flush();
    });
  };
  const waiting = new Map<number, (answer: CreditGrant | string | null) => void>();
  const since = clock.now();
  let replicas: readonly string[] = [replica];
  let lastId = 0;
  let isClosed = false;
  const state = (): ClusterState => ({ kind: 'parent', isConnected: !isClosed, since, replicas });
  const unlisten = channel.listen((message) => {
    for (const item of itemsOf(message)) {
      if (item.kind === 'notice') listeners.take(item.topic, item.notice, item.from);
      if (item.kind === 'answer') {
        waiting.get(item.id)?.(item.answer);
        waiting.delete(item.id);
      }
      if (item.kind !== 'members') continue;
      replicas = item.replicas;
      changes.tell(state());
    }
  });
  outbox.add({ kind: 'join', replica });
  const ask = (question: Question): Promise<CreditGrant | string | null> => {
    lastId += 1;
    const id = lastId;
    outbox.add({ kind: 'ask', id, question });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  const askText = async (question: Question): Promise<string | undefined> => {
    if (isClosed) throw new ClusterUnavailable('The cluster is left.');
    const answer = await ask(question);
    return typeof answer === 'string' ? answer : undefined;
  };
  const bank: Bank = {
    isLocal: false,
    async lease(request) {
      const answer = isClosed ? null : await ask({ kind: 'lease', request });
      return isGrant(answer) ? answer : { granted: 0, used: request.initial, retryAfterMs: 0 };
    },
    giveBack: ({ counter, window }, amount, held = 0) =>
      addLater({ kind: 'give-back', counter: { counter, window }, amount, held }),
  };
  return {
    replica,
    notices: {
      tell({ name: topic }, notice, canWait) {
        const item: Item = { kind: 'notice', topic, notice, from: replica };
        if (canWait === undefined) outbox.add(item);
        else addLater(item, canWait);
      },
      listen: (topic, listener) => listeners.add(topic, listener),
    },
    values: {
      async put(key, value, lifetimeMs) {
        await askText({ kind: 'put', key, value, lifetimeMs });
      },
      get: (key) => askText({ kind: 'get', key }),
      take: (key) => askText({ kind: 'take', key }),
    },
    bank,
    state,
    subscribe: changes.add,
    catchUp: () => listeners.catchUp(),
    async close() {
      isClosed = true;
      gathering?.cancel();
      outbox.flush();
      unlisten();
      for (const resolve of waiting.values()) resolve(null);
      waiting.clear();
    },
  };
}

function isGrant(answer: CreditGrant | string | null): answer is CreditGrant {
  return typeof answer === 'object' && answer !== null;
}

/** What is sent within one turn of the event loop goes as one message: each costs a system call on both sides. */
function createOutbox(channel: Channel) {
  let items: Item[] = [];
  const waiting = new WaitingNotices();
  let isDue = false;
  const flush = (): void => {
    isDue = false;
    if (items.length === 0) return;
    const message: ChannelMessage = { mark: MARK, items };
    items = [];
    waiting.clear();
    channel.send(message);
  };
  return {
    add(item: Item): void {
      items.push(item);
      if (!isDue) queueMicrotask(flush);
      isDue = true;
    },
    /** Until something is added, or all is sent. */
    keep<Notice>(item: Item, canWait?: CanWait<Notice>): void {
      const isJoined =
        item.kind === 'notice' && canWait !== undefined && waiting.join(item.topic, item, canWait);
      if (!isJoined) items.push(item);
    },
    flush,
  };
}

function itemsOf(message: unknown): readonly Item[] {
  return isMarked<ChannelMessage>(message, MARK) ? message.items : [];
}

/** Both ends of a channel run the same version of the program: what has the mark of a sender has the shape. */
export function isMarked<Message extends { readonly mark: string }>(
  message: unknown,
  mark: Message['mark'],
): message is Message {
  return (
    typeof message === 'object' && message !== null && 'mark' in message && message.mark === mark
  );
}
