import { expect, test } from 'vitest';
import { resolveSettings } from './effective.ts';
import { gatewaySecrets } from './live.ts';

test('every credential among the settings is named once, wherever it stands', () => {
  const settings = resolveSettings({
    environment: {
      apiKey: 'the-api-key',
      secretKey: 'the-secret-key',
      upstreamApiKeys: ['upstream-one', 'upstream-two', 'the-api-key'],
      otlpEndpoint: 'http://collector:4318',
      otlpHeaders: { authorization: 'Bearer collector', 'x-empty': '' },
    },
    file: { admin_password: 'the-password', proxy: { extprov: { api_key: 'provider-key' } } },
  });
  expect([...gatewaySecrets(settings)].sort()).toEqual([
    'Bearer collector',
    'provider-key',
    'the-api-key',
    'the-password',
    'the-secret-key',
    'upstream-one',
    'upstream-two',
  ]);
});
