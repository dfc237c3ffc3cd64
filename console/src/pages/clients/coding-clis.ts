// The coding CLIs: what each of them needs to know, and where it looks for it.

import { type Client, inShells, writePlace, writeVariables } from './client.ts';
import { quoteText, writeWord } from './write-quoted.ts';

const CLAUDE_CODE: Client = {
  id: 'claude-code',
  name: 'Claude Code',
  group: 'clis',
  words: 'anthropic',
  model: 'beta-sonnet-4-6',
  ways: inShells(({ address, key, model }, shell) => [
    {
      kind: 'variables',
      code: writeVariables(
        [
          ['ANTHROPIC_BASE_URL', address],
          ['ANTHROPIC_AUTH_TOKEN', key],
          ['ANTHROPIC_MODEL', model],
          ['ANTHROPIC_DEFAULT_HAIKU_MODEL', model],
        ],
        shell,
      ),
    },
    { kind: 'start', code: 'claude' },
  ]),
};

const CODEX: Client = {
  id: 'codex',
  name: 'Codex CLI',
  group: 'clis',
  words: 'openai',
  model: 'alpha-3-pro-high',
  ways: inShells(({ address, key, model }, shell) => [
    {
      kind: 'file',
      file: writePlace('.codex/config.toml', shell),
      code: [
        `model = ${quoteText(model)}`,
        'model_provider = "isthmus"',
        '',
        '[model_providers.isthmus]',
        'name = "isthmus"',
        `base_url = ${quoteText(`${address}/v1`)}`,
        'env_key = "ISTHMUS_KEY"',
        'wire_api = "responses"',
      ].join('\n'),
    },
    { kind: 'keyVariable', code: writeVariables([['ISTHMUS_KEY', key]], shell) },
    { kind: 'start', code: 'codex' },
  ]),
};

const GEMINI_CLI: Client = {
  id: 'gemini-cli',
  name: 'Gemini CLI',
  group: 'clis',
  words: 'google',
  model: 'gemini-3-flash',
  ways: inShells(({ address, key, model }, shell) => [
    {
      kind: 'signIn',
      file: writePlace('.gemini/settings.json', shell),
      code: ['{', '  "security": { "auth": { "selectedType": "gemini-api-key" } }', '}'].join('\n'),
    },
    {
      kind: 'variables',
      code: writeVariables(
        [
          ['GOOGLE_GEMINI_BASE_URL', address],
          ['GEMINI_API_KEY', key],
        ],
        shell,
      ),
    },
    { kind: 'start', code: `gemini -m ${writeWord(model, shell)}` },
  ]),
};

/** Kilo is made from opencode and takes the same file under its own name. */
const OPENCODE = createOpencode('opencode', 'opencode', '.config/opencode/opencode.json');
const KILO = createOpencode('kilo', 'Kilo', '.config/kilo/kilo.json');

function createOpencode(id: string, name: string, path: string): Client {
  return {
    id,
    name,
    group: 'clis',
    words: 'openai compatible',
    model: 'alpha-3-flash',
    ways: inShells(({ address, key, model }, shell) => [
      {
        kind: 'file',
        file: writePlace(path, shell),
        code: writeJson({
          model: `isthmus/${model}`,
          provider: {
            isthmus: {
              npm: '@ai-sdk/openai-compatible',
              options: { baseURL: `${address}/v1`, apiKey: key },
              models: { [model]: {} },
            },
          },
        }),
      },
      { kind: 'start', code: id },
    ]),
  };
}

const QWEN_CODE: Client = {
  id: 'qwen-code',
  name: 'Qwen Code',
  group: 'clis',
  words: 'openai compatible',
  model: 'alpha-3-flash',
  ways: inShells(({ address, key, model }, shell) => [
    {
      kind: 'variables',
      code: writeVariables(
        [
          ['OPENAI_BASE_URL', `${address}/v1`],
          ['OPENAI_API_KEY', key],
        ],
        shell,
      ),
    },
    { kind: 'start', code: `qwen --auth-type openai -m ${writeWord(model, shell)}` },
  ]),
};

const COPILOT: Client = {
  id: 'copilot',
  name: 'GitHub Copilot CLI',
  group: 'clis',
  words: 'openai compatible',
  model: 'alpha-3-flash',
  ways: inShells(({ address, key, model }, shell) => [
    {
      kind: 'variables',
      code: writeVariables(
        [
          ['COPILOT_PROVIDER_TYPE', 'openai'],
          ['COPILOT_PROVIDER_WIRE_API', 'completions'],
          ['COPILOT_PROVIDER_BASE_URL', `${address}/v1`],
          ['COPILOT_PROVIDER_API_KEY', key],
          ['COPILOT_MODEL', model],
        ],
        shell,
      ),
    },
    { kind: 'start', code: 'copilot' },
  ]),
};

const PI: Client = {
  id: 'pi',
  name: 'pi',
  group: 'clis',
  words: 'openai compatible',
  model: 'alpha-3-flash',
  ways: inShells(({ address, key, model }, shell) => [
    {
      kind: 'file',
      file: writePlace('.pi/agent/models.json', shell),
      code: writeJson({
        providers: {
          isthmus: {
            baseUrl: `${address}/v1`,
            api: 'openai-completions',
            apiKey: key,
            models: [{ id: model }],
          },
        },
      }),
    },
    { kind: 'start', code: `pi --provider isthmus --model ${writeWord(model, shell)}` },
  ]),
};

const CLINE: Client = {
  id: 'cline',
  name: 'Cline',
  group: 'clis',
  words: 'openai compatible',
  model: 'alpha-3-flash',
  ways: inShells(({ address, key, model }, shell) => {
    const [base, secret, name] = [`${address}/v1`, key, model].map((one) => writeWord(one, shell));
    return [
      { kind: 'once', code: `cline auth openai-compatible -b ${base} -k ${secret} -m ${name}` },
      { kind: 'start', code: 'cline' },
    ];
  }),
};

const CONTINUE: Client = {
  id: 'continue',
  name: 'Continue',
  group: 'clis',
  words: 'openai compatible cn',
  model: 'alpha-3-flash',
  ways: inShells(({ address, key, model }, shell) => [
    {
      kind: 'file',
      file: writePlace('.continue/config.yaml', shell),
      code: [
        'name: isthmus',
        'version: 1.0.0',
        'schema: v1',
        'models:',
        '  - name: isthmus',
        '    provider: openai',
        `    model: ${quoteText(model)}`,
        `    apiBase: ${quoteText(`${address}/v1/`)}`,
        `    apiKey: ${quoteText(key)}`,
        '    roles: [chat]',
        '    capabilities: [tool_use]',
      ].join('\n'),
    },
    { kind: 'start', code: 'cn' },
  ]),
};

export const CODING_CLIS: readonly [Client, ...Client[]] = [
  ...([CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE, KILO] as const),
  ...[QWEN_CODE, COPILOT, PI, CLINE, CONTINUE],
];

function writeJson(content: object): string {
  return JSON.stringify(content, null, 2);
}
