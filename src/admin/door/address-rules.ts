// `/api/address-rules`: who is let in by address.

import { invalidRequest } from '../../canonical/error.ts';
import type { AddressRule } from '../../door/address-rule.ts';
import type { Door } from '../../door/door.ts';
import { readIpAddress } from '../../door/ip-address.ts';
import { told } from '../../lib/told.ts';
import { type ApiRoute, answerJson, answerWith, defineRoute } from '../api-route.ts';
import { readRevision } from './read-revision.ts';
import {
  ADDRESS_CHECK_SCHEMA,
  ADDRESS_QUESTION_SCHEMA,
  ADDRESS_RULE_CHANGE_SCHEMA,
  ADDRESS_RULE_SCHEMA,
  ADDRESS_RULES_SCHEMA,
  NEW_ADDRESS_RULE_SCHEMA,
} from './schemas.ts';

const PARAMETER = 'Id of the rule.';
const RULE = { description: 'The rule.', schema: ADDRESS_RULE_SCHEMA, hasRevision: true } as const;

const answerOne = (status: number, rule: AddressRule) => answerWith(status, rule, rule.revision);

export function createAddressRuleRoutes({
  addresses,
}: Pick<Door, 'addresses'>): readonly ApiRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/address-rules',
      title: 'lists the address rules',
      answers: { 200: { description: 'Oldest first.', schema: ADDRESS_RULES_SCHEMA } },
      run: async () => answerJson({ rules: addresses.list() }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/address-rules',
      title: 'adds an address rule, unless it would lock its author out',
      body: NEW_ADDRESS_RULE_SCHEMA,
      answers: { 201: RULE },
      run: async ({ body, caller }) => answerOne(201, await addresses.add(body, caller.address)),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/address-rules/check',
      title: 'says what the rules make of an address',
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
      method: 'PATCH',
      path: '/api/address-rules/{id}',
      title: 'changes an address rule',
      parameter: PARAMETER,
      body: ADDRESS_RULE_CHANGE_SCHEMA,
      takesRevision: true,
      answers: { 200: RULE },
      async run({ parameter, body, revision, caller }) {
        const by = { byAddress: caller.address, revision: readRevision(revision) };
        return answerOne(200, await addresses.change(parameter, body, by));
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/address-rules/{id}',
      title: 'removes an address rule',
      parameter: PARAMETER,
      answers: { 204: { description: 'It is gone.' } },
      async run({ parameter, caller }) {
        await addresses.remove(parameter, caller.address);
        return { kind: 'empty' };
      },
    }),
  ];
}
