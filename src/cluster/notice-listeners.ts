// Who listens to which notices in this process.

import type { NoticeListener, Topic } from './cluster.ts';

export class NoticeListeners {
  readonly #byTopic = new Map<string, Set<NoticeListener<never>>>();
  readonly #onFault: (error: unknown) => void;

  /** @param onFault told of what a listener throws; the others are told all the same */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** @returns what ends it */
  add<Notice>({ name }: Topic<Notice>, listener: NoticeListener<Notice>): () => void {
    const listeners = this.#byTopic.get(name) ?? new Set();
    this.#byTopic.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** @param topic its name, which stands for the shape of the notice */
  take(topic: string, notice: unknown, from: string): void {
    for (const listener of this.#byTopic.get(topic) ?? [])
      this.#guard(() => listener.take(notice as never, from));
  }

  /** To be called when notices may have been missed. */
  catchUp(): void {
    for (const listeners of this.#byTopic.values())
      for (const listener of listeners) this.#guard(() => listener.catchUp?.());
  }

  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#onFault(error);
    }
  }
}
