// Tells webhooks what needs attention: when it begins, again while it lasts, and when it is over.

import type { Cluster, Topic } from '../cluster/cluster.ts';
import type { WebhookFormat } from '../config/values.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { messageOf } from '../lib/localized-message.ts';
import type { WarnLog } from '../lib/log.ts';

interface HeldCondition extends Pick<Alert, 'kind' | 'severity' | 'message' | 'wayOut' | 'link'> {
  /** Tells it from others of its kind, such as the account. */
  readonly about: string;
  /** Of one that stands for several, which: one more is told. */
  readonly names?: readonly string[] | undefined;
}

interface Channel {
  readonly webhook: string;
  readonly format: WebhookFormat;
  /** The least that it is told. */
  readonly severity: 'warning' | 'error';
}

export interface AlertSettings {
  readonly channels: Readonly<Record<string, Channel>>;
  /** Only what holds so long is told, and only what is gone so long is over. */
  readonly holdMs: number;
  readonly repeatMs: number;
}

interface Delivery {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly channel: string;
  readonly kinds: readonly string[];
  readonly outcome: 'delivered' | 'retried' | 'failed';
  readonly tries: number;
  /** HTTP; absent where nothing answered. */
  readonly status?: number | undefined;
  /** What went wrong, without the address. */
  readonly fault?: string | undefined;
}

interface Told extends Required<Pick<HeldCondition, 'severity' | 'names'>> {
  readonly at: number;
}

interface AlertsOptions {
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly settings: () => AlertSettings;
  readonly conditions: () => readonly HeldCondition[];
  /** Of several processes one tells. */
  readonly isLeading?: (() => boolean) | undefined;
  readonly notices?: Cluster['notices'] | undefined;
  /** Sends JSON. @throws Error whose message is shown: without the address */
  readonly post: (url: string, body: object) => Promise<{ readonly status: number }>;
  readonly gateway: () => string;
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string;
  readonly log: WarnLog;
}

interface State {
  readonly condition: HeldCondition;
  readonly since: number;
  readonly told?: Told | undefined;
  /** Since when it is more than was told. */
  readonly moreSince?: number | undefined;
  /** Undefined while it holds. */
  readonly goneSince?: number | undefined;
}

/** What the others need to go on where the one that tells ends. */
interface AlertsNotice {
  readonly states?: readonly (readonly [string, State])[];
  readonly delivery?: Delivery;
  /** By who begins, or may have missed some. */
  readonly isAsked?: true;
}

const TOPIC: Topic<AlertsNotice> = { name: 'alerts 2' };
const CHECK_MS = 15_000;
const RETRIES_MS = [5_000, 30_000, 120_000, 600_000];
const KEPT_DELIVERIES = 50;
const RANKS = { info: 0, warning: 1, error: 2 } as const;

export type Alerts = ReturnType<typeof createAlerts>;

/** Runs until `close`; what is being retried then is told by the one that leads next, if there is one. */
export function createAlerts(options: AlertsOptions) {
  const { clock, settings, notices, isLeading = () => true } = options;
  let states = new Map<string, State>();
  /** The webhooks of the last check: one that is added is told what began before. */
  let known: ReadonlySet<string> | undefined;
  const deliveries: Delivery[] = [];
  const note = (delivery: Delivery): void => {
    deliveries.unshift(delivery);
    deliveries.length = Math.min(deliveries.length, KEPT_DELIVERIES);
  };
  /** As the others know them: who leads next tells what was not delivered by then. */
  let shared: NonNullable<AlertsNotice['states']> = [];
  const share = (): void => {
    if (courier.isIdle()) shared = [...states];
    if (isLeading()) notices?.tell(TOPIC, { states: shared });
  };
  /** Where nobody can say who leads, all do: what one of them told the others need not. */
  const noteTold = (others: AlertsNotice['states'] = []): void => {
    for (const [key, { told }] of others) {
      const own = states.get(key);
      if (own !== undefined && told !== undefined) states.set(key, { ...own, told });
    }
  };
  const unlisten = notices?.listen(TOPIC, {
    take({ states: others, delivery, isAsked }) {
      // Who leads from its beginning on knows nothing yet.
      if (isLeading() && states.size > 0) noteTold(others);
      else if (others !== undefined) {
        shared = others;
        states = new Map(others);
      }
      if (delivery !== undefined) note(delivery);
      if (isAsked === true && shared.length > 0) notices.tell(TOPIC, { states: shared });
    },
    catchUp: () => notices.tell(TOPIC, { isAsked: true }),
  });
  const courier = createCourier(options, (delivery) => {
    note(delivery);
    notices?.tell(TOPIC, { delivery });
    share();
  });
  const firing = (): readonly Alert[] =>
    [...states.values()]
      .filter(({ told }) => told !== undefined)
      .map(({ condition, since }) => toAlert('firing', condition, since));
  const check = (): void => {
    if (!isLeading()) return;
    const { channels, holdMs, repeatMs } = settings();
    const step = nextStates(states, options.conditions(), { now: clock.now(), holdMs, repeatMs });
    states = step.states;
    for (const [name, channel] of Object.entries(channels)) {
      const isAdded = known?.has(channel.webhook) === false;
      const wanted = (isAdded ? firing() : step.alerts).filter(
        ({ severity }) => RANKS[severity] >= RANKS[channel.severity],
      );
      if (wanted.length > 0) courier.send(name, channel, wanted);
    }
    known = new Set(Object.values(channels).map(({ webhook }) => webhook));
    share();
  };
  let timer: Timer;
  const schedule = (): void => {
    timer = clock.startTimer(CHECK_MS, () => {
      try {
        check();
      } catch (error) {
        options.log.warn({ error }, 'What needs attention could not be looked at for alerts.');
      }
      schedule();
    });
  };
  schedule();
  return {
    /** Checks now, before the state is shown. */
    check,
    firing,
    /** The latest first. */
    deliveries: (): readonly Delivery[] => deliveries,
    /** Sends one message at once, and does not try again. */
    test: (name: string, channel: Channel): Promise<Delivery> => courier.test(name, channel),
    close(): void {
      timer.cancel();
      unlisten?.();
      courier.close();
    },
  };
}

interface Moment extends Pick<AlertSettings, 'holdMs' | 'repeatMs'> {
  readonly now: number;
}

/** What is told now, and what is known afterwards. */
function nextStates(
  states: ReadonlyMap<string, State>,
  held: readonly HeldCondition[],
  { now, holdMs, repeatMs }: Moment,
): { readonly states: Map<string, State>; readonly alerts: readonly Alert[] } {
  const next = new Map<string, State>();
  const alerts: Alert[] = [];
  for (const condition of held) {
    if (condition.severity === 'info') continue;
    const key = keyOf(condition);
    const known = states.get(key);
    const { since = now, told } = known ?? {};
    const moreSince = isMore(condition, told) ? (known?.moreSince ?? now) : undefined;
    const isRepeated = told !== undefined && now - told.at >= repeatMs;
    if (isRepeated || (moreSince !== undefined && now - moreSince >= holdMs)) {
      alerts.push(toAlert('firing', condition, since));
      next.set(key, { condition, since, told: tellOf(condition, told, { now, isRepeated }) });
    } else next.set(key, { condition, since, told, moreSince });
  }
  for (const [key, state] of states) {
    // What was never told is over without a word.
    if (next.has(key) || state.told === undefined) continue;
    const { condition, since, told, goneSince = now } = state;
    const { severity } = told;
    if (now - goneSince < holdMs) next.set(key, { ...state, goneSince });
    else alerts.push(toAlert('resolved', { ...condition, severity }, since));
  }
  return { states: next, alerts };
}

function keyOf({ kind, about }: Pick<HeldCondition, 'kind' | 'about'>): string {
  return `${kind} ${about}`;
}

function isMore({ severity, names = [] }: HeldCondition, told: Told | undefined): boolean {
  if (told === undefined || RANKS[severity] > RANKS[told.severity]) return true;
  return names.some((name) => !told.names?.includes(name));
}

/** Whoever was told the worst is to hear of the end; a name that comes and goes is told once until all is told again. */
function tellOf(
  { severity, names = [] }: HeldCondition,
  told: Told | undefined,
  { now, isRepeated }: { readonly now: number; readonly isRepeated: boolean },
): Told {
  const before = isRepeated ? [] : (told?.names ?? []);
  const worst = told !== undefined && RANKS[told.severity] > RANKS[severity] ? told : { severity };
  return { at: now, severity: worst.severity, names: [...new Set([...before, ...names])] };
}

function toAlert(
  status: Alert['status'],
  { names: _, ...condition }: HeldCondition,
  since: number,
): Alert {
  return { status, ...condition, since };
}

const TEST: Omit<Alert, 'since'> = {
  status: 'test',
  kind: 'test',
  about: '',
  severity: 'info',
  message: 'This is a test of the alerts of isthmus.',
  wayOut: 'Nothing is wrong.',
  link: '/settings?section=alerts',
};

/** What one webhook is to be told. */
interface Mail {
  waiting: readonly Alert[];
  channel: Channel;
  /** Since something new came. */
  tries: number;
  isUnderWay: boolean;
  timer?: Timer | undefined;
}

/** Sends, and tries again at longer and longer intervals; what comes meanwhile goes along, in its order. */
function createCourier(
  { clock, isLeading = () => true, post, gateway, hide, log }: AlertsOptions,
  onDelivery: (delivery: Delivery) => void,
) {
  /** By name of the channel. */
  const mails = new Map<string, Mail>();
  const attempt = async (
    name: string,
    { webhook, format }: Channel,
    alerts: readonly Alert[],
    tries: number,
  ): Promise<Delivery> => {
    const at = clock.now();
    const about = { at, channel: name, kinds: alerts.map(({ kind }) => kind), tries };
    const clean = alerts.map((alert) => ({
      ...alert,
      message: hide(alert.message),
      wayOut: hide(alert.wayOut),
    }));
    const body = writePayload(format, clean, { gateway: gateway(), sentAt: at });
    try {
      const { status } = await post(webhook, body);
      if (status >= 200 && status < 300) return { ...about, outcome: 'delivered', status };
      const isFinal = status >= 300 && status < 500 && status !== 408 && status !== 429;
      return { ...about, outcome: isFinal ? 'failed' : 'retried', status };
    } catch (error) {
      const fault = messageOf(error);
      return { ...about, outcome: 'retried', fault };
    }
  };
  const deliver = async (name: string, mail: Mail): Promise<void> => {
    const alerts = mail.waiting;
    mail.timer?.cancel();
    Object.assign(mail, { waiting: [], tries: mail.tries + 1, isUnderWay: true });
    const found = await attempt(name, mail.channel, alerts, mail.tries);
    mail.isUnderWay = false;
    if (found.outcome === 'retried') mail.waiting = joined(alerts, mail.waiting);
    const waitMs = mail.tries === 0 ? 0 : RETRIES_MS[mail.tries - 1];
    const isOver = mail.waiting.length === 0 || waitMs === undefined;
    if (isOver) mails.delete(name);
    const isGivenUp = found.outcome === 'failed' || (isOver && found.outcome === 'retried');
    onDelivery(isGivenUp ? { ...found, outcome: 'failed' } : found);
    if (isGivenUp) {
      const { status, fault, kinds } = found;
      log.warn({ channel: name, status, fault, kinds }, 'An alert could not be delivered.');
    }
    if (isOver) return;
    mail.timer = clock.startTimer(waitMs, () => {
      if (isLeading()) void deliver(name, mail);
      else mails.delete(name);
    });
  };
  return {
    isIdle: (): boolean => mails.size === 0,
    send(name: string, channel: Channel, alerts: readonly Alert[]): void {
      const mail = mails.get(name) ?? { waiting: [], channel, tries: 0, isUnderWay: false };
      mails.set(name, mail);
      Object.assign(mail, { waiting: joined(mail.waiting, alerts), channel, tries: 0 });
      if (!mail.isUnderWay) void deliver(name, mail);
    },
    async test(name: string, channel: Channel): Promise<Delivery> {
      const found = await attempt(name, channel, [{ ...TEST, since: clock.now() }], 1);
      const delivery =
        found.outcome === 'delivered' ? found : { ...found, outcome: 'failed' as const };
      onDelivery(delivery);
      return delivery;
    },
    close(): void {
      for (const { timer } of mails.values()) timer?.cancel();
    },
  };
}

/** What comes later says how it stands now. */
function joined(earlier: readonly Alert[], later: readonly Alert[]): readonly Alert[] {
  const known = new Set(later.map(keyOf));
  return [...earlier.filter((alert) => !known.has(keyOf(alert))), ...later];
}

/** What holds, or held until now. */
interface Alert {
  readonly status: 'firing' | 'resolved' | 'test';
  readonly kind: string;
  /** As of its condition; nobody is told. */
  readonly about: string;
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly wayOut: string;
  /** A path of the console. */
  readonly link: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

interface Sender {
  /** Where the gateway listens, to tell it from others. */
  readonly gateway: string;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

/** Discord refuses longer texts. */
const MAX_DISCORD = 2000;
const MAX_SLACK = 30_000;

const HEADS = { firing: '🔴', resolved: '🟢', test: '🔵' } as const;

function writePayload(format: WebhookFormat, alerts: readonly Alert[], sender: Sender): object {
  switch (format) {
    case 'json':
      return {
        version: 1,
        gateway: sender.gateway,
        sentAt: new Date(sender.sentAt).toISOString(),
        alerts: alerts.map(({ since, about: _, ...alert }) => ({
          ...alert,
          since: new Date(since).toISOString(),
        })),
      };
    case 'slack':
      // Three signs mean something there (https://api.slack.com/reference/surfaces/formatting).
      return { text: shorten(say(alerts, sender, escapeSlack), MAX_SLACK) };
    case 'discord':
      return {
        content: shorten(say(alerts, sender, escapeMarkdown), MAX_DISCORD),
        // A name with an at sign must mention nobody.
        allowed_mentions: { parse: [] },
      };
    default:
      return format satisfies never;
  }
}

function say(
  alerts: readonly Alert[],
  { gateway }: Sender,
  quote: (text: string) => string,
): string {
  const lines = alerts.map(({ status, message, wayOut }) =>
    status === 'resolved'
      ? `${HEADS.resolved} Resolved: ${quote(message)}`
      : `${HEADS[status]} ${quote(message)} ${quote(wayOut)}`,
  );
  return [`isthmus (${quote(gateway)})`, ...lines].join('\n');
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`|>#[\]()]/g, (sign) => `\\${sign}`);
}

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
