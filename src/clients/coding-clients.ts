// The coding CLIs and SDKs: what each of them needs to know, and where it looks for it.

import {
  type CodingClient,
  entriesOf,
  type FolderPlace,
  type SettingEntry,
  type SettingsFile,
  type SetUp,
  type Variable,
} from './client-settings.ts';
import { toObject, writeSettings } from './write-settings.ts';

/**
 * `~/.claude/settings.json`, or that of `CLAUDE_CONFIG_DIR`: its `env` is set for every session (Claude Code
 * docs, Settings). `.claude/settings.local.json` is the one of a project that git ignores.
 */
const CLAUDE_CODE: CodingClient = {
  id: 'claude-code',
  name: 'Claude Code',
  program: 'claude',
  words: 'anthropic',
  model: 'beta-sonnet-4-6',
  files: [
    {
      format: 'json',
      folder: { variables: [{ name: 'CLAUDE_CONFIG_DIR' }], home: '.claude' },
      names: ['settings.json'],
      write: writeClaude,
    },
  ],
  projectFile: {
    format: 'json',
    folder: { home: '.claude' },
    names: ['settings.local.json'],
    write: writeClaude,
  },
  // What its settings set takes the place of variables. Of two such flags, one a person's own, it reads the last.
  launch: (setUp) => ({
    variables: claudeVariables(setUp),
    file: {
      name: 'settings.json',
      content: writeSettings('json', writeClaude(setUp)),
      hand: (path) => ({ args: ['--settings', path] }),
    },
  }),
};

function writeClaude(setUp: SetUp): readonly SettingEntry[] {
  return entriesOf(['env'], Object.fromEntries(claudeVariables(setUp)));
}

/**
 * The small model does titles and the like; without its variable Claude Code asks for one of its own. A key that is set
 * elsewhere would be sent beside the token, to this address: empty, it is as if there were none. So is what sends it to
 * the service of a cloud, past any address.
 */
function claudeVariables({ address, key, model }: SetUp): readonly Variable[] {
  return [
    ['ANTHROPIC_BASE_URL', address],
    ['ANTHROPIC_AUTH_TOKEN', key],
    ['ANTHROPIC_API_KEY', ''],
    ['ANTHROPIC_MODEL', model],
    ['ANTHROPIC_DEFAULT_HAIKU_MODEL', model],
    ['CLAUDE_CODE_USE_BEDROCK', ''],
    ['CLAUDE_CODE_USE_VERTEX', ''],
    ['CLAUDE_CODE_USE_FOUNDRY', ''],
  ];
}

const CODEX_KEY = 'ISTHMUS_KEY';

/**
 * `$CODEX_HOME/config.toml`. The key of a provider comes from the variable that `env_key` names, or stands in
 * `experimental_bearer_token` (fields of `ModelProviderInfo` of the program); flags `-c` set one value each.
 */
const CODEX: CodingClient = {
  id: 'codex',
  name: 'Codex CLI',
  program: 'codex',
  words: 'openai',
  model: 'alpha-3-pro-high',
  files: [
    {
      format: 'toml',
      folder: { variables: [{ name: 'CODEX_HOME' }], home: '.codex' },
      names: ['config.toml'],
      write: (setUp) => [
        { path: ['model'], value: setUp.model },
        { path: ['model_provider'], value: 'isthmus' },
        {
          path: ['model_providers', 'isthmus'],
          value: { ...codexProvider(setUp), experimental_bearer_token: setUp.key },
        },
      ],
    },
  ],
  launch: (setUp) => ({
    variables: [[CODEX_KEY, setUp.key]],
    args: Object.entries({
      model: setUp.model,
      model_provider: 'isthmus',
      ...Object.fromEntries(
        Object.entries({ ...codexProvider(setUp), env_key: CODEX_KEY }).map(([name, value]) => [
          `model_providers.isthmus.${name}`,
          value,
        ]),
      ),
    }).flatMap(([name, value]) => ['-c', `${name}=${JSON.stringify(value)}`]),
  }),
};

function codexProvider({ address }: SetUp) {
  return { name: 'isthmus', base_url: `${address}/v1`, wire_api: 'responses' };
}

/** `GEMINI_CLI_HOME` stands for the home folder (Gemini CLI docs, reference/configuration.md). */
const GEMINI_FOLDER: FolderPlace = {
  variables: [{ name: 'GEMINI_CLI_HOME', below: '.gemini' }],
  home: '.gemini',
};

const GEMINI_SIGN_IN: SettingEntry = {
  path: ['security', 'auth', 'selectedType'],
  value: 'gemini-api-key',
};

const GEMINI_SETTINGS: SettingsFile = {
  format: 'json',
  folder: GEMINI_FOLDER,
  names: ['settings.json'],
  write: (setUp) => [
    GEMINI_SIGN_IN,
    { path: ['model', 'name'], value: setUp.model },
    ...geminiAliases(setUp),
  ],
};

/**
 * Its web search and its summary of a long session ask models of its own, by these aliases (Gemini CLI docs,
 * cli/generation-settings.md). Where nobody offers those, 0.61.0 searches again without pause or end, and sums nothing up.
 */
function geminiAliases({ model }: SetUp): readonly SettingEntry[] {
  return entriesOf(['modelConfigs', 'customAliases'], {
    'gemini-3-flash-base': { extends: 'base', modelConfig: { model } },
    'loop-detection-double-check': { extends: 'base', modelConfig: { model } },
    'chat-compression-default': { modelConfig: { model } },
  });
}

/**
 * The address goes into no other file than `.env` (docs/reference/configuration.md, Environment variables and
 * `.env` files). No variable and no flag takes the place of the way to sign in that its settings name, and with an
 * address but none named it refuses to start, so that who has another or none is launched with a copy of them.
 */
const GEMINI_CLI: CodingClient = {
  id: 'gemini-cli',
  name: 'Gemini CLI',
  program: 'gemini',
  words: 'google',
  model: 'gemini-3-flash',
  files: [
    GEMINI_SETTINGS,
    {
      format: 'dotenv',
      folder: GEMINI_FOLDER,
      names: ['.env'],
      write: (setUp) => entriesOf([], Object.fromEntries(geminiVariables(setUp))),
    },
  ],
  launch: (setUp) => ({
    variables: geminiVariables(setUp),
    args: ['-m', setUp.model],
    file: {
      name: '.gemini/settings.json',
      content: { of: GEMINI_SETTINGS, entries: [GEMINI_SIGN_IN, ...geminiAliases(setUp)] },
      hand: (_path, folder) => ({ variables: [['GEMINI_CLI_HOME', folder]] }),
    },
  }),
  hint: 'It reads this .env file only in a folder that it trusts (it asks; --skip-trust for scripts), and that has none of its own.',
};

function geminiVariables({ address, key }: SetUp): readonly Variable[] {
  return [
    ['GOOGLE_GEMINI_BASE_URL', address],
    ['GEMINI_API_KEY', key],
  ];
}

/** A model of which nothing is said neither thinks there nor is shown the pictures and documents that tools read. */
const OPENCODE_MODEL = {
  reasoning: true,
  attachment: true,
  modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
};

interface OpencodeFacts extends Pick<SettingsFile, 'names'> {
  readonly variable: string;
  readonly schema: string;
}

/**
 * opencode and Kilo, which is made from it: a provider in a global file, the first one of these names (`globalTarget`
 * of both programs); a configuration in the variable wins over all files.
 */
function createOpencode(
  id: string,
  name: string,
  { names, variable, schema }: OpencodeFacts,
): CodingClient {
  const write = (setUp: SetUp): readonly SettingEntry[] => [
    // The program adds it itself, and would edit the file when it first reads it.
    { path: ['$schema'], value: schema, onlyIfMissing: true },
    { path: ['model'], value: `isthmus/${setUp.model}` },
    {
      path: ['provider', 'isthmus'],
      value: {
        npm: '@ai-sdk/openai-compatible',
        name: 'isthmus',
        options: { baseURL: `${setUp.address}/v1`, apiKey: setUp.key },
        models: { [setUp.model]: { name: setUp.model, ...OPENCODE_MODEL } },
      },
    },
  ];
  return {
    id,
    name,
    program: id,
    words: 'openai compatible',
    model: 'alpha-3-flash',
    files: [
      {
        format: 'json',
        // XDG's variable on every system.
        folder: { variables: [{ name: 'XDG_CONFIG_HOME', below: id }], home: `.config/${id}` },
        names,
        write,
      },
    ],
    launch: (setUp) => ({ variables: [[variable, JSON.stringify(toObject(write(setUp)))]] }),
  };
}

const OPENCODE = createOpencode('opencode', 'opencode', {
  names: ['opencode.jsonc', 'opencode.json', 'config.json'],
  variable: 'OPENCODE_CONFIG_CONTENT',
  schema: 'https://opencode.ai/config.json',
});

const KILO = createOpencode('kilo', 'Kilo', {
  names: ['kilo.jsonc', 'kilo.json', 'opencode.jsonc', 'opencode.json', 'config.json'],
  variable: 'KILO_CONFIG_CONTENT',
  schema: 'https://app.kilo.ai/config.json',
});

const QWEN_KEY = 'ISTHMUS_API_KEY';

/** Of a model whose name it does not know it takes for granted that it reads text alone. */
const QWEN_MODEL = { modalities: { image: true, pdf: true } };

/** A model of `modelProviders` with its key in `env` (Qwen Code docs, configuration/model-providers.md and settings.md). */
const QWEN_CODE: CodingClient = {
  id: 'qwen-code',
  name: 'Qwen Code',
  program: 'qwen',
  words: 'openai compatible',
  model: 'alpha-3-flash',
  files: [
    {
      format: 'json',
      folder: { variables: [{ name: 'QWEN_HOME' }], home: '.qwen' },
      names: ['settings.json'],
      write: ({ address, key, model }) => [
        { path: ['env', QWEN_KEY], value: key },
        {
          path: ['modelProviders', 'openai', { field: 'envKey', is: QWEN_KEY }],
          value: {
            ...{ id: model, name: 'isthmus', envKey: QWEN_KEY, baseUrl: `${address}/v1` },
            generationConfig: QWEN_MODEL,
          },
        },
        { path: ['security', 'auth', 'selectedType'], value: 'openai' },
        { path: ['model', 'name'], value: model },
      ],
    },
  ],
  launch: ({ address, key, model }) => ({
    variables: [
      ['OPENAI_BASE_URL', `${address}/v1`],
      ['OPENAI_API_KEY', key],
    ],
    args: ['--auth-type', 'openai', '-m', model],
    // Its own settings win over these.
    file: {
      name: 'system-defaults.json',
      content: writeSettings('json', entriesOf(['model'], { generationConfig: QWEN_MODEL })),
      hand: (path) => ({ variables: [['QWEN_CODE_SYSTEM_DEFAULTS_PATH', path]] }),
    },
  }),
};

/** Its own provider is known by variables alone (`copilot help providers`), so they go into the start file of the shell. */
const COPILOT: CodingClient = {
  id: 'copilot',
  name: 'GitHub Copilot CLI',
  program: 'copilot',
  words: 'openai compatible',
  model: 'alpha-3-flash',
  files: [
    {
      format: 'posix',
      folder: { home: '' },
      names: ['.bashrc'],
      write: (setUp) => entriesOf([], Object.fromEntries(copilotVariables(setUp))),
    },
  ],
  launch: (setUp) => ({ variables: copilotVariables(setUp) }),
  hint: 'It takes these settings from variables alone: open a new shell, or start it with "isthmus launch copilot".',
};

function copilotVariables({ address, key, model }: SetUp): readonly Variable[] {
  return [
    ['COPILOT_PROVIDER_TYPE', 'openai'],
    ['COPILOT_PROVIDER_WIRE_API', 'completions'],
    ['COPILOT_PROVIDER_BASE_URL', `${address}/v1`],
    ['COPILOT_PROVIDER_API_KEY', key],
    ['COPILOT_MODEL', model],
  ];
}

const PI_FOLDER: FolderPlace = {
  variables: [{ name: 'PI_CODING_AGENT_DIR' }],
  home: '.pi/agent',
};

/** A provider of `models.json`, and `settings.json` for what it starts with (pi docs, models.md, configuration.md and settings.md). */
const PI: CodingClient = {
  id: 'pi',
  name: 'pi',
  program: 'pi',
  words: 'openai compatible',
  model: 'alpha-3-flash',
  files: [
    {
      format: 'json',
      folder: PI_FOLDER,
      names: ['models.json'],
      write: (setUp) => [{ path: ['providers', 'isthmus'], value: piProvider(setUp) }],
    },
    {
      format: 'json',
      folder: PI_FOLDER,
      names: ['settings.json'],
      write: ({ model }) => entriesOf([], { defaultProvider: 'isthmus', defaultModel: model }),
    },
  ],
  launch: (setUp) => ({
    args: ['--provider', 'isthmus', '--model', setUp.model],
    file: {
      name: 'isthmus.mjs',
      content: writePiExtension(setUp),
      hand: (path) => ({ args: ['--extension', path] }),
    },
  }),
};

function piProvider({ address, key, model }: SetUp) {
  return {
    baseUrl: `${address}/v1`,
    api: 'openai-completions',
    // A dollar sign begins a variable there, an exclamation mark a command.
    apiKey: key.replaceAll('$', '$$$$').replace(/^!/, '$!'),
    // Else it neither thinks nor is shown pictures.
    models: [{ id: model, reasoning: true, input: ['text', 'image'] }],
  };
}

/** An extension may register a provider at the start (pi docs, custom-provider.md). */
function writePiExtension(setUp: SetUp): string {
  const { models, ...provider } = piProvider(setUp);
  const facts = {
    name: setUp.model,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 32_000,
  };
  const config = { ...provider, models: models.map((model) => ({ ...model, ...facts })) };
  return `export default (pi) => pi.registerProvider('isthmus', ${JSON.stringify(config, null, 2)});\n`;
}

/**
 * What `cline auth openai-compatible` writes, in the file of `CLINE_PROVIDER_SETTINGS_PATH` or below
 * `CLINE_DATA_DIR` (names in the program; the data folder also in its README, Environment variables).
 */
const CLINE: CodingClient = {
  id: 'cline',
  name: 'Cline',
  program: 'cline',
  words: 'openai compatible',
  model: 'alpha-3-flash',
  files: [
    {
      format: 'json',
      folder: {
        variables: [
          { name: 'CLINE_DATA_DIR', below: 'settings' },
          { name: 'CLINE_DIR', below: 'data/settings' },
        ],
        home: '.cline/data/settings',
      },
      names: ['providers.json'],
      write: writeCline,
    },
  ],
  launch: (setUp) => ({
    args: ['-P', 'openai-compatible', '-m', setUp.model],
    // Else a hub that runs already would answer, with the settings that it was started with.
    variables: [['CLINE_SESSION_BACKEND_MODE', 'local']],
    file: {
      name: 'providers.json',
      content: writeSettings('json', writeCline(setUp)),
      hand: (path) => ({ variables: [['CLINE_PROVIDER_SETTINGS_PATH', path]] }),
    },
  }),
};

function writeCline({ address, key, model }: SetUp): readonly SettingEntry[] {
  return [
    { path: ['version'], value: 1, onlyIfMissing: true },
    { path: ['lastUsedProvider'], value: 'openai-compatible' },
    {
      path: ['providers', 'openai-compatible'],
      volatile: ['updatedAt'],
      value: {
        settings: {
          provider: 'openai-compatible',
          apiKey: key,
          model,
          baseUrl: `${address}/v1`,
        },
        updatedAt: '2026-01-01T00:00:00.000Z',
        tokenSource: 'manual',
      },
    },
  ];
}

/**
 * The first model of `config.yaml` is the one that answers (`configLoader.ts`, `config.ts` and `env.ts` in the
 * package). What a file needs beside its models is in the schema `v1`.
 */
const CONTINUE: CodingClient = {
  id: 'continue',
  name: 'Continue',
  program: 'cn',
  words: 'openai compatible cn',
  model: 'alpha-3-flash',
  files: [
    {
      format: 'yaml',
      folder: { variables: [{ name: 'CONTINUE_GLOBAL_DIR' }], home: '.continue' },
      names: ['config.yaml'],
      write: writeContinue,
    },
  ],
  launch: (setUp) => ({
    file: {
      name: 'config.yaml',
      content: writeSettings('yaml', writeContinue(setUp)),
      hand: (path) => ({ args: ['--config', path] }),
    },
  }),
};

function writeContinue({ address, key, model }: SetUp): readonly SettingEntry[] {
  return [
    { path: ['name'], value: 'isthmus', onlyIfMissing: true },
    { path: ['version'], value: '1.0.0', onlyIfMissing: true },
    { path: ['schema'], value: 'v1', onlyIfMissing: true },
    {
      path: ['models', { field: 'name', is: 'isthmus' }],
      value: {
        name: 'isthmus',
        provider: 'openai',
        model,
        apiBase: `${address}/v1/`,
        apiKey: key,
        roles: ['chat'],
        capabilities: ['tool_use', 'image_input'],
      },
    },
  ];
}

/**
 * `~/.aider.conf.yml`; every option is a variable `AIDER_…` as well, which wins over the files (aider docs,
 * YAML config file and Options reference). Models of an address of one's own are named `openai/…`.
 */
const AIDER: CodingClient = {
  id: 'aider',
  name: 'aider',
  program: 'aider',
  words: 'openai compatible python',
  model: 'alpha-3-flash',
  files: [
    {
      format: 'yaml',
      folder: { home: '' },
      names: ['.aider.conf.yml'],
      write: ({ address, key, model }) =>
        entriesOf([], {
          'openai-api-base': `${address}/v1`,
          'openai-api-key': key,
          model: `openai/${model}`,
        }),
    },
  ],
  launch: ({ address, key, model }) => ({
    variables: [
      ['AIDER_OPENAI_API_BASE', `${address}/v1`],
      ['AIDER_OPENAI_API_KEY', key],
      ['AIDER_MODEL', `openai/${model}`],
    ],
  }),
};

export const CODING_CLIENTS: readonly [CodingClient, ...CodingClient[]] = [
  CLAUDE_CODE,
  ...[CODEX, GEMINI_CLI, OPENCODE, KILO, QWEN_CODE],
  ...[COPILOT, PI, CLINE, CONTINUE, AIDER],
];

export interface SdkVariables {
  readonly id: string;
  readonly name: string;
  readonly model: string;
  /** Of the address and the key, in this order. */
  write(setUp: SetUp): readonly Variable[];
  /** Variables of a key that win over the one written. */
  readonly otherKeys: readonly string[];
}

/** Names as the packages read them: `openai`, `@anthropic-ai/sdk` and `@google/genai`, and those for Python. */
export const SDK_VARIABLES: readonly SdkVariables[] = [
  {
    id: 'sdk-openai',
    name: 'OpenAI SDK',
    model: 'alpha-3-flash',
    write: ({ address, key }) => [
      ['OPENAI_BASE_URL', `${address}/v1`],
      ['OPENAI_API_KEY', key],
    ],
    otherKeys: [],
  },
  {
    id: 'sdk-anthropic',
    name: 'Anthropic SDK',
    model: 'beta-sonnet-4-6',
    write: ({ address, key }) => [
      ['ANTHROPIC_BASE_URL', address],
      ['ANTHROPIC_API_KEY', key],
    ],
    otherKeys: ['ANTHROPIC_AUTH_TOKEN'],
  },
  {
    id: 'sdk-google',
    name: 'Google Gen AI SDK',
    model: 'alpha-3-flash',
    write: ({ address, key }) => [
      ['GOOGLE_GEMINI_BASE_URL', address],
      ['GEMINI_API_KEY', key],
    ],
    otherKeys: ['GOOGLE_API_KEY'],
  },
];
