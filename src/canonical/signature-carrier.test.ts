import { expect, test } from 'vitest';
import { readCarrier, SIGNATURE_SENTINEL, writeCarrier } from './signature-carrier.ts';

test('a carried signature comes back whole, whatever its value holds', () => {
  const signature = { value: 'QUJD:+/=', family: 'alpha', on: 'tool-call' } as const;
  expect(readCarrier(writeCarrier(signature))).toEqual(signature);
});

test('a bare value has neither family nor part', () => {
  expect(readCarrier('QUJD')).toEqual({ value: 'QUJD' });
});

test('stand-ins and empty texts are no signatures', () => {
  for (const text of ['', undefined, null, SIGNATURE_SENTINEL, btoa(SIGNATURE_SENTINEL)]) {
    expect(readCarrier(text)).toBeUndefined();
  }
});
