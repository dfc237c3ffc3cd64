// Quota protection: keeps the last part of an account's quota from being used up.

import type { Account, QuotaReading } from '../accounts/account.ts';

interface ProtectionOptions {
  readonly settings: () => ProtectionSettings;
  readonly now: () => number;
  /** One spelling for every way to write a model's name. */
  readonly normalizeName: (name: string) => string;
}

/** The account's own id of a model, and the name it was asked for. */
interface ProtectedModel {
  readonly modelId: string;
  readonly routedModel: string;
}

export type IsProtected = (account: Account, model: ProtectedModel) => boolean;

/** True while the model's figure is below the threshold. Unknown and ended figures and rates protect nothing. */
export function createProtection({ settings, now, normalizeName }: ProtectionOptions): IsProtected {
  const namesOf = rememberNames(normalizeName);
  return (account, { modelId, routedModel }) => {
    const { enabled, thresholdPercent, models } = settings();
    if (!enabled) return false;
    const reading = account.quotas.get(modelId);
    if (reading === undefined || reading.source === 'rate') return false;
    if (isOver(reading, now())) return false;
    if (percentOf(reading) >= thresholdPercent) return false;
    if (models.length === 0) return true;
    const names = namesOf(models);
    return names.has(normalizeName(modelId)) || names.has(normalizeName(routedModel));
  };
}

/** The remaining part in percent, without the noise of binary fractions. */
export function percentOf({ remainingFraction }: QuotaReading): number {
  return Math.round(remainingFraction * 1e8) / 1e6;
}

/** The window of this figure has ended: what is left now is not known. */
function isOver({ resetsAt }: QuotaReading, now: number): boolean {
  return resetsAt !== undefined && resetsAt <= now;
}

/** The settings' list is the same array until it changes, and every choice asks for it. */
function rememberNames(
  normalizeName: (name: string) => string,
): (models: readonly string[]) => ReadonlySet<string> {
  let source: readonly string[] | undefined;
  let names: ReadonlySet<string> = new Set();
  return (models) => {
    if (models !== source) {
      source = models;
      names = new Set(models.map(normalizeName));
    }
    return names;
  };
}

export interface QuotaSettings {
  /** How often each account's figures are read again, in milliseconds. */
  readonly refreshIntervalMs: number;
  readonly protection: ProtectionSettings;
}

interface ProtectionSettings {
  readonly enabled: boolean;
  /** 0 to 100: an account strictly below it is kept for other uses. */
  readonly thresholdPercent: number;
  /** Names as clients or upstreams write them; empty protects every model. */
  readonly models: readonly string[];
}
