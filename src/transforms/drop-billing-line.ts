// Drops the billing pseudo header some coding CLIs put first into the system prompt.

import { told } from '../canonical/receipt.ts';
import type { Transform } from './transform.ts';

/** It changes on every request, so a prompt that keeps it is never cached upstream. */
const BILLING_LINE = /^x-[a-z]+-billing-header:/i;

export const dropBillingLine: Transform = (request, { receipt }) => {
  const system = request.system.filter((part) => !BILLING_LINE.test(part.text));
  if (system.length === request.system.length) return request;
  receipt.add(
    'dropped',
    'system',
    told`A billing line that changes every turn would defeat caching.`,
  );
  return { ...request, system };
};
