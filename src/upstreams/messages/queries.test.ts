import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { parseObject } from '../../lib/json.ts';
import { createAnthropicProfile } from './profiles.ts';
import { createTokenCounter } from './queries.ts';

test.each(['1e400', '-1', '"many"', 'null'])(
  'a count of tokens that is %s is none, and asked for again',
  async (count) => {
    const answer = parseObject(`{"input_tokens":${count}}`);
    const countTokens = createTokenCounter({
      client: { readObject: async () => answer },
      profile: createAnthropicProfile(),
      clock: createFakeClock(),
    });
    const call = {
      ...{ modelId: 'm', body: {}, signal: new AbortController().signal },
      access: { accountId: 'a', credential: 'k', credentialKind: 'api-key' as const },
    };
    await expect(countTokens(call)).rejects.toMatchObject({ failure: { kind: 'path' } });
  },
);
