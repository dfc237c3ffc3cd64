// Waits until the other processes have taken what this one told of a subject.

import type { Clock } from '../lib/clock.ts';
import { type Cluster, othersOf, type Topic, Waits } from './cluster.ts';

/** With the answer of a process comes what it told before. */
type HearingNotice =
  | { readonly kind: 'asked' | 'answered'; readonly asker: string; readonly question: number }
  /** By who may have missed what was asked, as one that begins. */
  | { readonly kind: 'ask-again' };

interface HearingOptions {
  readonly cluster: Pick<Cluster, 'notices' | 'replica' | 'state' | 'subscribe'>;
  readonly clock: Pick<Clock, 'startTimer'>;
  /** What it is about, the same in every process. */
  readonly subject: string;
  /** Who has not answered by then hangs. */
  readonly mostMs: number;
  /** Resolves when what was told here until now is taken; false where it could not be. */
  readonly taken?: () => Promise<boolean>;
}

export function createHearing({ cluster, clock, subject, mostMs, taken }: HearingOptions) {
  const topic: Topic<HearingNotice> = { name: `hearing of ${subject} 1` };
  const answers = new Waits<[from?: string, question?: number]>(clock, mostMs);
  let questions = 0;
  const open = new Set<number>();
  const ask = (question: number): void =>
    cluster.notices.tell(topic, { kind: 'asked', asker: cluster.replica, question });
  const answer = async (asker: string, question: number): Promise<void> => {
    if ((await taken?.()) !== false)
      cluster.notices.tell(topic, { kind: 'answered', asker, question });
  };
  const endings = [
    cluster.notices.listen(topic, {
      take(notice, from) {
        if (notice.kind === 'ask-again') open.forEach(ask);
        else if (notice.kind === 'asked') void answer(notice.asker, notice.question);
        else if (notice.asker === cluster.replica) answers.tell(from, notice.question);
      },
      catchUp: () => cluster.notices.tell(topic, { kind: 'ask-again' }),
    }),
    // Who is gone is not waited for.
    cluster.subscribe(() => answers.tell()),
  ];
  return {
    /** Resolves when what was told until now is taken by all others; false where nobody else is there to tell it. */
    async heard(): Promise<boolean> {
      const unheard = new Set(othersOf(cluster));
      if (unheard.size === 0) return false;
      questions += 1;
      const question = questions;
      const answered = answers.until((from = '', of) => {
        if (of === question) unheard.delete(from);
        return !othersOf(cluster).some((name) => unheard.has(name));
      });
      open.add(question);
      ask(question);
      await answered;
      open.delete(question);
      return true;
    },
    close(): void {
      for (const end of endings) end();
    },
  };
}
