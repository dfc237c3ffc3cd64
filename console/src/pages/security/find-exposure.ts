// Judges how exposed the gateway is, from its settings and what it says of itself.

import type { Budget, Key, Overview } from '../../../../src/admin/contract.ts';
import { readTexts, valueAt } from '../../settings/section-values.ts';

export interface Finding {
  readonly tone: 'ok' | 'warn' | 'bad' | 'idle';
  readonly title:
    | 'loopback'
    | 'network'
    | 'modeOff'
    | 'modeOffNetwork'
    | 'modeAuto'
    | 'modeStrict'
    | 'password'
    | 'keyPassword'
    | 'noPassword'
    | 'filterOn'
    | 'filterOff'
    | 'openKeys'
    | 'origins'
    | 'anyOrigin'
    | 'wideProxy'
    | 'media';
  readonly hint:
    | 'loopbackHint'
    | 'networkHint'
    | 'modeOffHint'
    | 'modeFineHint'
    | 'passwordHint'
    | 'keyPasswordHint'
    | 'noPasswordHint'
    | 'filterOnHint'
    | 'filterOffHint'
    | 'openKeysHint'
    | 'originsHint'
    | 'anyOriginHint'
    | 'wideProxyHint'
    | 'mediaHint';
  readonly count: number;
}

export interface ExposureInput {
  readonly address: string;
  readonly authMode: string;
  readonly consolePassword: Overview['consolePassword'];
  readonly network: unknown;
  readonly filter: unknown;
  readonly rules: number;
  readonly keys: readonly Key[];
  readonly budgets: readonly Budget[];
}

/** The worst first. */
export function findExposure(input: ExposureInput): readonly Finding[] {
  const findings = [
    ...findReach(input),
    ...findPassword(input),
    ...findFilter(input),
    ...findKeys(input),
    ...findWeb(input),
  ];
  const ranks = { bad: 0, warn: 1, ok: 2, idle: 3 };
  return findings.toSorted((left, right) => ranks[left.tone] - ranks[right.tone]);
}

function isOnNetwork({ address, network }: Pick<ExposureInput, 'address' | 'network'>): boolean {
  const host = valueAt(network, ['host']);
  const names = [URL.canParse(address) ? new URL(address).hostname : address];
  if (typeof host === 'string') names.push(host);
  return names.some((name) => !LOOPBACK.test(name));
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|localhost|\[?::1\]?)$/i;

function findReach(input: ExposureInput): Finding[] {
  const isOpen = isOnNetwork(input);
  const reach: Finding = isOpen
    ? { tone: 'warn', title: 'network', hint: 'networkHint', count: 0 }
    : { tone: 'ok', title: 'loopback', hint: 'loopbackHint', count: 0 };
  return [reach, judgeMode(input.authMode, isOpen)];
}

function judgeMode(mode: string, isOpen: boolean): Finding {
  if (mode === 'off') {
    return isOpen
      ? { tone: 'bad', title: 'modeOffNetwork', hint: 'modeOffHint', count: 0 }
      : { tone: 'warn', title: 'modeOff', hint: 'modeOffHint', count: 0 };
  }
  const title = mode === 'strict' ? 'modeStrict' : 'modeAuto';
  return { tone: 'ok', title, hint: 'modeFineHint', count: 0 };
}

function findPassword({ consolePassword }: ExposureInput): Finding[] {
  switch (consolePassword) {
    case 'own':
      return [{ tone: 'ok', title: 'password', hint: 'passwordHint', count: 0 }];
    case 'gateway-key':
      return [{ tone: 'warn', title: 'keyPassword', hint: 'keyPasswordHint', count: 0 }];
    case 'none':
      return [{ tone: 'warn', title: 'noPassword', hint: 'noPasswordHint', count: 0 }];
    default:
      return consolePassword satisfies never;
  }
}

function findFilter({ filter, rules }: ExposureInput): Finding[] {
  return valueAt(filter, ['enabled']) === true
    ? [{ tone: 'ok', title: 'filterOn', hint: 'filterOnHint', count: rules }]
    : [{ tone: 'idle', title: 'filterOff', hint: 'filterOffHint', count: 0 }];
}

function findKeys({ keys, budgets }: ExposureInput): Finding[] {
  const count = keys.filter(
    (key) =>
      key.enabled &&
      key.expiresAt === undefined &&
      key.tokensPerMinute === undefined &&
      key.requestsPerMinute === undefined &&
      !budgets.some((budget) => limits(budget, key)),
  ).length;
  return count === 0 ? [] : [{ tone: 'warn', title: 'openKeys', hint: 'openKeysHint', count }];
}

function limits({ isHard, scope, subject }: Budget, { id, team }: Key): boolean {
  return isHard && (scope === 'gateway' || subject === (scope === 'key' ? id : team));
}

const WHOLE_NETWORK = /\/0$/;

function findWeb({ network }: ExposureInput): Finding[] {
  const origins = readTexts(valueAt(network, ['cors_origins']));
  const proxies = readTexts(valueAt(network, ['trusted_proxies']));
  const findings: Finding[] = [];
  if (origins.includes('*')) {
    findings.push({ tone: 'bad', title: 'anyOrigin', hint: 'anyOriginHint', count: 0 });
  } else if (origins.length > 0) {
    findings.push({ tone: 'idle', title: 'origins', hint: 'originsHint', count: origins.length });
  }
  if (proxies.some((range) => WHOLE_NETWORK.test(range))) {
    findings.push({ tone: 'bad', title: 'wideProxy', hint: 'wideProxyHint', count: 0 });
  }
  if (valueAt(network, ['fetch_remote_media']) === true) {
    findings.push({ tone: 'idle', title: 'media', hint: 'mediaHint', count: 0 });
  }
  return findings;
}
