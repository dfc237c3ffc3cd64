// The coding CLIs as the slow suite installs and runs them: headless, with a prompt that makes them use a tool of their own.

/** One program from a registry. */
export interface ClientRow {
  readonly id: string;
  readonly source: { readonly npm: string } | { readonly pip: string };
  /** Its command, of the folder of programs. */
  readonly program: string;
  /** A call of a tool that reads `secret.txt`; without one the upstream just answers. */
  tool?(folder: string): string;
  /** What makes it answer one prompt and end. */
  run(prompt: string): readonly string[];
  /** What ends a server that it leaves behind. */
  readonly stop?: readonly string[];
  /** What keeps it from asking the vendor's own servers. */
  readonly environment?: Readonly<Record<string, string>>;
  /** It writes into its own settings as soon as it reads them. */
  readonly editsItself?: boolean;
  /** Settings that are there before. */
  readonly before: Readonly<Record<string, string>>;
}

/** One way to write the call in a prompt. */
function call(name: string, args: object): string {
  return `CALL-TOOL ${name} ${JSON.stringify(args)}`;
}

const CRLF = '\r\n';

export const CLIENT_ROWS: readonly ClientRow[] = [
  {
    id: 'claude-code',
    source: { npm: '@anthropic-ai/claude-code@2.1.332' },
    program: 'claude',
    tool: (folder) => call('Read', { file_path: `${folder}/secret.txt` }),
    run: (prompt) => ['-p', prompt, '--output-format', 'text', '--allowedTools', 'Read'],
    environment: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_INSTALLATION_CHECKS: '1',
    },
    before: {
      '.claude/settings.json':
        '{\n\t"env": { "EDITOR": "vi" },\n\t"includeCoAuthoredBy": false\n}\n',
    },
  },
  {
    id: 'codex',
    source: { npm: '@openai/codex@0.171.0' },
    program: 'codex',
    tool: () => call('exec_command', { cmd: 'cat secret.txt' }),
    run: (prompt) => [
      ...['exec', '--skip-git-repo-check', '--ephemeral', '-s', 'danger-full-access'],
      ...['--color', 'never', prompt],
    ],
    before: {
      '.codex/config.toml': [
        '# what I set',
        'model = "gpt-9" # the best',
        'check_for_update_on_startup = false',
        'web_search = "disabled"',
        '',
        '[analytics]',
        'enabled = false',
        '[features]',
        'plugins = false',
        'apps = false',
        '',
      ].join('\n'),
    },
  },
  {
    id: 'gemini-cli',
    source: { npm: '@google/gemini-cli@0.61.0' },
    program: 'gemini',
    tool: () => call('read_file', { file_path: 'secret.txt' }),
    run: (prompt) => ['--approval-mode', 'yolo', '--output-format', 'text', '-p', prompt],
    environment: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_TELEMETRY_ENABLED: 'false' },
    before: {
      '.gemini/settings.json':
        '{\n  // mine\n  "general": { "enableAutoUpdate": false },\n  "security": { "auth": { "selectedType": "oauth-personal" } },\n  "privacy": { "usageStatisticsEnabled": false }\n}\n',
      '.gemini/.env': 'GOOGLE_CLOUD_PROJECT=mine\nGEMINI_API_KEY=old-key # of last year\n',
    },
  },
  {
    id: 'opencode',
    editsItself: true,
    source: { npm: 'opencode-ai@1.18.33' },
    program: 'opencode',
    tool: (folder) => call('read', { filePath: `${folder}/secret.txt` }),
    run: (prompt) => ['run', prompt],
    environment: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_SHARE: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      npm_config_registry: 'http://127.0.0.1:9/',
    },
    before: {
      '.config/opencode/opencode.json':
        '{\n    // no updates\n    "autoupdate": false,\n    "share": "disabled",\n    "permission": "allow",\n}\n',
    },
  },
  {
    id: 'kilo',
    editsItself: true,
    source: { npm: '@kilocode/cli@7.7.7' },
    program: 'kilo',
    tool: (folder) => call('read', { filePath: `${folder}/secret.txt` }),
    run: (prompt) => ['run', '--auto', prompt],
    environment: {
      KILO_DISABLE_AUTOUPDATE: '1',
      KILO_DISABLE_MODELS_FETCH: '1',
      KILO_DISABLE_LSP_DOWNLOAD: '1',
      KILO_DISABLE_SHARE: '1',
      KILO_DISABLE_DEFAULT_PLUGINS: '1',
      KILO_DISABLE_SESSION_INGEST: '1',
      KILO_DISABLE_PRESENCE: '1',
      KILO_DISABLE_CODEBASE_INDEXING: '1',
      KILO_TELEMETRY_LEVEL: 'off',
      KILO_NO_DAEMON: '1',
      npm_config_registry: 'http://127.0.0.1:9/',
    },
    before: {
      '.config/kilo/kilo.json':
        '{ "autoupdate": false, "share": "disabled", "permission": "allow" }',
    },
  },
  {
    id: 'qwen-code',
    source: { npm: '@qwen-code/qwen-code@0.24.4' },
    program: 'qwen',
    tool: (folder) => call('read_file', { file_path: `${folder}/secret.txt` }),
    run: (prompt) => ['--approval-mode', 'yolo', '-o', 'text', '-p', prompt],
    environment: { QWEN_TELEMETRY_ENABLED: 'false', QWEN_DISABLE_AUTO_TITLE: '1' },
    before: {
      '.qwen/settings.json': [
        '{',
        '  "$version": 4,',
        '  "general": { "enableAutoUpdate": false },',
        '  "privacy": { "usageStatisticsEnabled": false },',
        '  "modelProviders": { "openai": [{ "id": "x", "envKey": "X_KEY", "baseUrl": "http://127.0.0.1:9/v1" }] }',
        '}',
        '',
      ].join(CRLF),
    },
  },
  {
    id: 'copilot',
    source: { npm: '@github/copilot@1.0.102' },
    program: 'copilot',
    tool: (folder) => call('view', { path: `${folder}/secret.txt` }),
    run: (prompt) => [
      ...['-p', prompt, '--silent', '--allow-all-tools', '--allow-all-paths'],
      '--disable-builtin-mcps',
    ],
    environment: {
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_ALLOW_ALL: 'true',
    },
    before: { '.bashrc': '# my shell\nalias ll="ls -l"\nexport COPILOT_MODEL=other' },
  },
  {
    id: 'pi',
    source: { npm: '@earendil-works/pi-coding-agent@1.6.0' },
    program: 'pi',
    tool: () => call('read', { path: 'secret.txt' }),
    run: (prompt) => ['--no-session', '-p', prompt],
    environment: { PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1' },
    before: {
      '.pi/agent/models.json': '{\n  "providers": {}\n}\n',
      '.pi/agent/settings.json': '{\n  "theme": "dark",\n  "defaultProvider": "anthropic"\n}\n',
    },
  },
  {
    id: 'cline',
    source: { npm: 'cline@3.0.65' },
    program: 'cline',
    tool: (folder) => call('read_files', { files: [{ path: `${folder}/secret.txt` }] }),
    run: (prompt) => ['--auto-approve', 'true', prompt],
    stop: ['hub', 'stop'],
    environment: { CLINE_NO_AUTO_UPDATE: '1' },
    before: {
      '.cline/data/settings/global-settings.json':
        '{\n  "telemetryOptOut": true,\n  "autoUpdateEnabled": false\n}\n',
      '.cline/data/settings/providers.json': '{ "version": 1, "modes": {}, "providers": {} }',
    },
  },
  {
    id: 'continue',
    source: { npm: '@continuedev/cli@1.5.47' },
    program: 'cn',
    tool: (folder) => call('Read', { filepath: `${folder}/secret.txt` }),
    run: (prompt) => ['--auto', '-p', prompt],
    environment: { CONTINUE_CLI_ENABLE_TELEMETRY: '0', CONTINUE_METRICS_ENABLED: '0' },
    before: {
      '.continue/config.yaml': [
        '# my models',
        'name: mine',
        'version: 1.0.0',
        'schema: v1',
        'models:',
        '- name: other # the cheap one',
        '  provider: openai',
        '  model: gpt-9',
        '  apiBase: http://127.0.0.1:9/v1/',
        '',
      ].join('\n'),
    },
  },
  {
    id: 'aider',
    source: { pip: 'aider-chat==0.86.2' },
    program: 'aider',
    run: (prompt) => [
      ...['--message', prompt, '--no-git', '--no-check-update', '--no-show-release-notes'],
      ...['--analytics-disable', '--no-show-model-warnings', '--yes-always', '--no-stream'],
    ],
    before: { '.aider.conf.yml': '## mine\n# model: xxx\n\nauto-commits: false\n' },
  },
];
