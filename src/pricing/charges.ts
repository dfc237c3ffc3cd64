// What a request cost: its answers at the prices of who served them, metered or covered by a flat rate.

import type { AnswerFigures, ServedBy } from '../canonical/call-record.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import { type Charge, costOf } from './cost.ts';
import type { Price, PriceBasis } from './prices.ts';

export const BILLINGS = ['metered', 'flat-rate'] as const;
/** Whether an account is paid by use, or by the month whatever it is used for. */
export type Billing = (typeof BILLINGS)[number];

export interface AnswerPrice {
  readonly price: Price;
  readonly billing: Billing;
}

interface AnswerCharge extends Charge {
  readonly model: string;
  readonly billing: Billing;
  readonly price: Pick<Price, 'basis' | 'model' | 'source' | 'date'>;
}

export interface RequestCharge {
  readonly charges: readonly AnswerCharge[];
  /** Absent where no answer of a metered account has a price. */
  readonly costNanos?: number | undefined;
  /** What answers of flat-rate accounts would have cost; absent as `costNanos`. */
  readonly flatRateNanos?: number | undefined;
  readonly cacheSavingsNanos: number;
  /** `estimate` also where tokens are estimated, or an answer has no price. */
  readonly basis: PriceBasis;
}

/** Undefined where none of the answers has a price: that is no cost of 0. */
export function chargeAnswers(
  answers: readonly AnswerFigures[],
  priceOf: (servedBy: ServedBy) => AnswerPrice | undefined,
): RequestCharge | undefined {
  const charges: AnswerCharge[] = [];
  let isEstimate = false;
  for (const { usage, imageCount, servedBy } of answers) {
    if (usage === undefined && imageCount === 0) continue;
    const found = servedBy && priceOf(servedBy);
    isEstimate ||= found === undefined || usage?.isEstimate === true;
    if (servedBy === undefined || found === undefined) continue;
    const { price, billing } = found;
    const { basis, model, source, date } = price;
    isEstimate ||= basis === 'estimate';
    charges.push({
      ...{ model: servedBy.modelId, billing, price: { basis, model, source, date } },
      ...costOf({ usage: usage ?? NO_USAGE, imageCount }, price.rates),
    });
  }
  if (charges.length === 0) return undefined;
  const isOwn = charges.some(({ price }) => price.basis === 'own');
  return {
    charges,
    costNanos: sumOf(charges, 'metered'),
    flatRateNanos: sumOf(charges, 'flat-rate'),
    cacheSavingsNanos: charges.reduce((sum, one) => sum + one.cacheSavingsNanos, 0),
    basis: isEstimate ? 'estimate' : isOwn ? 'own' : 'listed',
  };
}

function sumOf(charges: readonly AnswerCharge[], billing: Billing): number | undefined {
  let sum: number | undefined;
  for (const charge of charges) {
    if (charge.billing === billing) sum = (sum ?? 0) + charge.nanos;
  }
  return sum;
}

/** Accounts that a person signed in to are flat-rate; keys, service accounts and projects pay by use. */
export function defaultBilling(kind: string, profile: string | undefined): Billing {
  if (kind !== 'oauth' || profile === 'vertex' || profile === 'gemini-api') return 'metered';
  return 'flat-rate';
}
