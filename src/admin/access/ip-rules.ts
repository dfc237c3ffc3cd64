// `/api/address-rules`: who is let in by address.

import type { AccessControl } from '../../access/access.ts';
import { TIME } from '../../access/access-log.ts';
import { ADDRESS_RULE_SCHEMA, type AddressRule, RULE_INPUT } from '../../access/ip-rules.ts';
import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../lib/localized-message.ts';
import { readIpAddress } from '../../lib/net.ts';
import { list, named, object, optional, optionals, partial } from '../../lib/object-schema.ts';
import { type ApiRoute, answerJson, answerWith, defineRoute, readNumber } from '../route.ts';
import { orNull } from '../schemas.ts';

export const ADDRESS_RULES_SCHEMA = named('AddressRuleList', {
  rules: list(ADDRESS_RULE_SCHEMA),
});

const { note, ...RULE_PLACE } = RULE_INPUT;
const RULE_EXTRAS = { note, expiresAt: orNull(TIME) } as const;

export const NEW_ADDRESS_RULE_SCHEMA = named('NewAddressRule', {
  ...RULE_PLACE,
  ...optionals(RULE_EXTRAS),
});

export const ADDRESS_RULE_CHANGE_SCHEMA = partial(
  { ...RULE_PLACE, ...RULE_EXTRAS },
  { title: 'AddressRuleChange' },
);

const ADDRESS_QUESTION_SCHEMA = object({
  address: { type: 'string', minLength: 1, maxLength: 128 },
});

export const ADDRESS_CHECK_SCHEMA = named('AddressCheck', {
  verdict: { enum: ['allowed', 'denied'], description: 'As if the filter were enabled.' },
  rule: optional(ADDRESS_RULE_SCHEMA),
});

const PARAMETER = 'Id of the rule.';
const RULE = { description: 'The rule.', schema: ADDRESS_RULE_SCHEMA, hasRevision: true } as const;

const answerOne = (status: number, rule: AddressRule) => answerWith(status, rule, rule.revision);

export function createAddressRuleRoutes({ addresses }: AccessControl): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/address-rules',
      access: 'viewer',
      title: 'lists the IP rules',
      answers: { 200: { description: 'Oldest first.', schema: ADDRESS_RULES_SCHEMA } },
      run: async () => answerJson({ rules: addresses.list() }),
    }),
    defineRoute({
      at: 'POST /api/address-rules',
      access: 'operator',
      title: 'adds an IP rule, unless it would lock out its author',
      body: NEW_ADDRESS_RULE_SCHEMA,
      answers: { 201: RULE },
      run: async ({ body, caller }) => answerOne(201, await addresses.add(body, caller.address)),
    }),
    defineRoute({
      at: 'POST /api/address-rules/check',
      access: 'viewer',
      changes: false,
      title: 'checks which IP rule applies to an address',
      body: ADDRESS_QUESTION_SCHEMA,
      answers: { 200: { description: 'The verdict.', schema: ADDRESS_CHECK_SCHEMA } },
      async run({ body }) {
        if (readIpAddress(body.address) === undefined) {
          throw invalidRequest('address', told`address: must be an IPv4 or IPv6 address.`);
        }
        const { verdict, rule } = addresses.explain(body.address);
        return answerJson({ verdict, rule });
      },
    }),
    defineRoute({
      at: 'PATCH /api/address-rules/{id}',
      access: 'operator',
      shows: '/api/address-rules',
      title: 'changes an IP rule',
      parameter: PARAMETER,
      body: ADDRESS_RULE_CHANGE_SCHEMA,
      takesRevision: true,
      answers: { 200: RULE },
      async run({ parameter, body, revision, caller }) {
        const by = { byAddress: caller.address, revision: readNumber(revision) };
        return answerOne(200, await addresses.change(parameter, body, by));
      },
    }),
    defineRoute({
      at: 'DELETE /api/address-rules/{id}',
      access: 'operator',
      shows: '/api/address-rules',
      title: 'removes an IP rule',
      parameter: PARAMETER,
      answers: { 204: { description: 'It is gone.' } },
      async run({ parameter, caller }) {
        await addresses.remove(parameter, caller.address);
        return { kind: 'empty' };
      },
    }),
  ];
}
