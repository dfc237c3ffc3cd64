import { expect, test } from 'vitest';
import { readCarrier, SIGNATURE_SENTINEL, writeCarrier } from './signatures.ts';

test('a carried signature comes back whole, whatever its value holds', () => {
  const signature = { value: 'QUJD:+/=', family: 'alpha', on: 'tool-call' } as const;
  expect(readCarrier(writeCarrier(signature))).toEqual(signature);
});

test('a bare value has neither family nor part', () => {
  expect(readCarrier('QUJD')).toEqual({ value: 'QUJD' });
});

test('what no upstream can have issued is no signature, so that the remembered one counts (P003, P004)', () => {
  for (const text of ['not base64 !!', 'gw1:alpha', 'gw1:alpha:tool-call:', '签名', 'QUJD\nQUJD']) {
    expect(readCarrier(text)).toBeUndefined();
  }
});

test('stand-ins and empty texts are no signatures', () => {
  for (const text of ['', undefined, null, SIGNATURE_SENTINEL, btoa(SIGNATURE_SENTINEL)]) {
    expect(readCarrier(text)).toBeUndefined();
  }
});
