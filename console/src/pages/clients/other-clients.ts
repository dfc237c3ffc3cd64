// Whatever else speaks one of the protocols: the command line, and apps that ask for an address in a form.

import { quoteWord, type Shell, writeWord } from '../../../../src/clients/write-settings.ts';
import { type Client, inShells, type Way } from './client.ts';

const CURL: Client = {
  id: 'curl',
  name: 'curl',
  group: 'others',
  words: 'http rest powershell',
  model: 'alpha-3-flash',
  ways: inShells(({ address, key, model }, shell) => {
    const authorization = `Bearer ${key}`;
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
    return [
      { kind: 'list', code: writeCall(`${address}/v1/models`, { authorization }, shell) },
      {
        kind: 'ask',
        code: writeCall(`${address}/v1/chat/completions`, { authorization, body }, shell),
      },
    ];
  }),
};

interface Call {
  readonly authorization: string;
  readonly body?: string;
}

function writeCall(address: string, { authorization, body }: Call, shell: Shell): string {
  const quote = (text: string): string => quoteWord(text, shell);
  if (shell === 'powershell') {
    const lines = [
      `Invoke-RestMethod ${quote(address)}`,
      `-Headers @{ authorization = ${quote(authorization)} }`,
      ...(body === undefined ? [] : [`-Method Post -ContentType ${quote(JSON_TYPE)}`]),
      ...(body === undefined ? [] : [`-Body ${quote(body)}`]),
    ];
    return lines.join(' `\n  ');
  }
  const lines = [
    `curl ${writeWord(address, shell)}`,
    `-H ${quote(`authorization: ${authorization}`)}`,
    ...(body === undefined ? [] : [`-H ${quote('content-type: application/json')}`]),
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

/** Older versions of PowerShell send Latin 1 where nothing is said. */
const JSON_TYPE = 'application/json; charset=utf-8';

const OTHER_APP: Client = {
  id: 'other',
  name: 'Any other app',
  group: 'others',
  words: 'chat openai compatible anthropic google gemini',
  model: 'alpha-3-flash',
  ways: [
    form('openai', 'OpenAI', '/v1'),
    form('anthropic', 'Anthropic', ''),
    form('google', 'Google', ''),
  ],
};

function form(id: string, name: string, path: string): Way {
  return {
    id,
    name,
    write: ({ address, key, model }) => [
      { kind: 'address', code: `${address}${path}` },
      { kind: 'key', code: key },
      { kind: 'model', code: model },
    ],
  };
}

export const OTHER_CLIENTS: readonly Client[] = [CURL, OTHER_APP];
