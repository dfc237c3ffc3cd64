// `/api/environment`: the variables the process was started with, and what is in force in their place.

import type { XStatic } from 'typebox/schema';
import type { VariableOrigin } from '../../config/origins.ts';
import { named, object } from '../../lib/object-schema.ts';
import type { AdminOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';

const OPTIONAL_TEXT = { type: ['string', 'null'] } as const;

export const ENVIRONMENT_SCHEMA = named('Environment', {
  variables: {
    type: 'array',
    items: object({
      name: { type: 'string', description: 'A file may hold the value too: `NAME_FILE`.' },
      summary: { type: 'string' },
      fallback: { type: 'string', description: 'What holds when it is set nowhere, in words.' },
      flag: { ...OPTIONAL_TEXT, description: 'The flag that says the same, such as `--port`.' },
      origin: { enum: ['flag', 'environment', 'file', 'default'] },
      isSecret: { type: 'boolean' },
      isSet: { type: 'boolean', description: 'Whether anything is in force.' },
      value: { ...OPTIONAL_TEXT, description: 'What is in force; null for secrets.' },
      settingKey: {
        ...OPTIONAL_TEXT,
        description: 'Where the config file says the same, such as `proxy.port`.',
      },
      restart: {
        enum: ['socket', 'path', 'process', null],
        description:
          'Why a change waits for the next start: a socket or a path is opened once, and the ' +
          'environment of a process stays. Null where a change of the config file acts at once.',
      },
    }),
  },
});

type Written = XStatic<typeof ENVIRONMENT_SCHEMA>['variables'][number];

export function createEnvironmentRoute({ origins }: Pick<AdminOptions, 'origins'>): ApiRoute {
  return defineRoute({
    at: 'GET /api/environment',
    title: 'shows the variables of the environment and what is in force',
    answers: { 200: { description: 'All variables.', schema: ENVIRONMENT_SCHEMA } },
    run: async () => answerJson({ variables: origins.variables().map(writeVariable) }),
  });
}

function writeVariable(variable: VariableOrigin): Written {
  const { flag, value, settingKey, restart } = variable;
  return {
    ...variable,
    flag: flag ?? null,
    value: value ?? null,
    settingKey: settingKey ?? null,
    restart: restart ?? null,
  };
}
