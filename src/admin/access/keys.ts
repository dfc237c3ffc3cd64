// `/api/keys`: API keys and their limits.

import type { AccessControl } from '../../access/access.ts';
import { TIME } from '../../access/access-log.ts';
import {
  CURFEW_SCHEMA,
  KEY_AMOUNTS,
  KEY_FIELDS,
  KEY_HOLDER,
  KEY_TAGS,
  KEY_USE_SCHEMA,
  PREVIOUS_SECRET_SCHEMA,
  RECORDING,
  REVISION,
} from '../../access/api-key.ts';
import type { ListedKey } from '../../access/api-keys.ts';
import { list, NAME, named, optional, optionals, partial } from '../../lib/object-schema.ts';
import type { AdminAnswer } from '../../server/admin-route.ts';
import { type ApiRoute, answerJson, answerWith, defineRoute, readNumber } from '../route.ts';
import { orNull } from '../schemas.ts';

const ENABLED = { type: 'boolean' } as const;

export const KEY_SCHEMA = named('Key', {
  ...KEY_FIELDS,
  previous: optional(
    list(
      PREVIOUS_SECRET_SCHEMA,
      'Secrets that were replaced and still work; absent when there are none.',
    ),
  ),
  usedToday: KEY_USE_SCHEMA,
  revision: REVISION,
});

export const KEY_LIST_SCHEMA = named('KeyList', { keys: list(KEY_SCHEMA) });

export const CREATED_KEY_SCHEMA = named('CreatedKey', {
  key: KEY_SCHEMA,
  secret: { type: 'string', description: 'Shown this once: only a digest of it is kept.' },
});

const { allowedModels } = KEY_FIELDS;

export const NEW_KEY_FIELDS = {
  name: NAME,
  ...optionals({ ...KEY_HOLDER, tags: KEY_TAGS, enabled: ENABLED, expiresAt: TIME }),
  ...optionals({ allowedModels, ...KEY_AMOUNTS }),
  curfew: optional(CURFEW_SCHEMA),
  recording: optional(RECORDING),
} as const;

export const NEW_KEY_SCHEMA = named('NewKey', NEW_KEY_FIELDS);

export const KEY_CHANGE_SCHEMA = partial(
  {
    name: NAME,
    owner: orNull(KEY_HOLDER.owner),
    team: orNull(KEY_HOLDER.team),
    tags: KEY_TAGS,
    enabled: ENABLED,
    expiresAt: orNull(TIME),
    allowedModels,
    maxAddresses: orNull(KEY_AMOUNTS.maxAddresses),
    requestsPerMinute: orNull(KEY_AMOUNTS.requestsPerMinute),
    tokensPerMinute: orNull(KEY_AMOUNTS.tokensPerMinute),
    maxConcurrency: orNull(KEY_AMOUNTS.maxConcurrency),
    curfew: orNull(CURFEW_SCHEMA),
    recording: orNull(RECORDING),
  },
  { title: 'KeyChange', description: 'What is absent stays; null takes a limit away.' },
);

const ROTATION_SCHEMA = partial(
  {
    overlapHours: {
      type: 'number',
      minimum: 0,
      maximum: 720,
      description: 'How long the previous secret keeps working; 24 when absent, 0 ends it at once.',
    },
  },
  { title: 'KeyRotation' },
);

const HOUR_MS = 3_600_000;

const PARAMETER = 'Id of the key.';
const ONE_KEY = {
  200: { description: 'The key.', schema: KEY_SCHEMA, hasRevision: true },
} as const;

export function createKeyRoutes({ keys }: AccessControl): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/keys',
      access: 'viewer',
      title: 'lists the per-user keys',
      answers: { 200: { description: 'Oldest first.', schema: KEY_LIST_SCHEMA } },
      run: async () => answerJson({ keys: keys.list().map(writeKey) }),
    }),
    defineRoute({
      at: 'POST /api/keys',
      access: 'operator',
      title: 'creates a key and shows its secret, only once',
      body: NEW_KEY_SCHEMA,
      answers: { 201: { description: 'The key.', schema: CREATED_KEY_SCHEMA, hasRevision: true } },
      async run({ body }) {
        const { listed, secret } = await keys.create(body);
        return answerWith(201, { key: writeKey(listed), secret }, listed.key.revision);
      },
    }),
    defineRoute({
      at: 'GET /api/keys/{id}',
      access: 'viewer',
      title: 'shows a key',
      parameter: PARAMETER,
      answers: ONE_KEY,
      run: async ({ parameter }) => answerOne(await keys.find(parameter)),
    }),
    defineRoute({
      at: 'PATCH /api/keys/{id}',
      access: 'operator',
      title: 'changes a key',
      parameter: PARAMETER,
      body: KEY_CHANGE_SCHEMA,
      takesRevision: true,
      answers: ONE_KEY,
      run: async ({ parameter, body, revision }) =>
        answerOne(await keys.change(parameter, body, readNumber(revision))),
    }),
    defineRoute({
      at: 'DELETE /api/keys/{id}',
      access: 'operator',
      title: 'removes a key: requests with it are refused from then on',
      parameter: PARAMETER,
      answers: { 204: { description: 'It is gone.' } },
      async run({ parameter }) {
        await keys.remove(parameter);
        return { kind: 'empty' };
      },
    }),
  ];
}

/** Another secret for a key; the one before works on for a while. */
export function createRotationRoutes({ keys }: AccessControl): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'POST /api/keys/{id}/rotate',
      access: 'operator',
      shows: '/api/keys/{id}',
      title:
        'rotates a key: gives it a new secret, shown only once; the previous one works for a while',
      parameter: PARAMETER,
      body: ROTATION_SCHEMA,
      takesRevision: true,
      answers: {
        200: { description: 'The new secret.', schema: CREATED_KEY_SCHEMA, hasRevision: true },
      },
      async run({ parameter, body: { overlapHours }, revision }) {
        const overlapMs = overlapHours === undefined ? undefined : overlapHours * HOUR_MS;
        const options = { overlapMs, revision: readNumber(revision) };
        const { listed, secret } = await keys.rotate(parameter, options);
        return answerJson({ key: writeKey(listed), secret }, listed.key.revision);
      },
    }),
    defineRoute({
      at: 'DELETE /api/keys/{id}/previous',
      access: 'operator',
      shows: '/api/keys/{id}',
      title: 'ends the earlier secrets of a key',
      parameter: PARAMETER,
      answers: ONE_KEY,
      run: async ({ parameter }) => answerOne(await keys.endPrevious(parameter)),
    }),
  ];
}

function answerOne(listed: ListedKey): AdminAnswer {
  return answerJson(writeKey(listed), listed.key.revision);
}

export function writeKey({ key, previous, usedToday }: ListedKey): object {
  const { requests, tokens, images } = usedToday;
  return {
    ...key,
    ...(previous.length > 0 && { previous: previous.map(({ digest: _, ...shown }) => shown) }),
    usedToday: { requests, tokens, images },
  };
}
