// Ready commands and code that use a key.

export type SnippetKind = 'curl' | 'python' | 'node' | 'shell';

export const SNIPPETS: readonly { readonly kind: SnippetKind; readonly label: string }[] = [
  { kind: 'curl', label: 'curl' },
  { kind: 'shell', label: 'Shell' },
  { kind: 'python', label: 'Python' },
  { kind: 'node', label: 'Node.js' },
];

export interface SnippetInput {
  readonly address: string;
  readonly secret: string;
  readonly model?: string | undefined;
}

const DEFAULT_MODEL = 'alpha-3-flash';

export function writeSnippet(
  kind: SnippetKind,
  { address, secret, model = DEFAULT_MODEL }: SnippetInput,
): string {
  const name = JSON.stringify(model);
  switch (kind) {
    case 'curl':
      return [
        `curl ${address}/v1/chat/completions \\`,
        `  -H "authorization: Bearer ${secret}" \\`,
        '  -H "content-type: application/json" \\',
        `  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })}'`,
      ].join('\n');
    case 'shell':
      return [
        `export OPENAI_BASE_URL=${address}/v1`,
        `export OPENAI_API_KEY=${secret}`,
        `export ANTHROPIC_BASE_URL=${address}`,
        `export ANTHROPIC_AUTH_TOKEN=${secret}`,
        `export GOOGLE_GEMINI_BASE_URL=${address}`,
        `export GEMINI_API_KEY=${secret}`,
      ].join('\n');
    case 'python':
      return [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${address}/v1", api_key="${secret}")`,
        'answer = client.chat.completions.create(',
        `    model=${name},`,
        '    messages=[{"role": "user", "content": "Hello"}],',
        ')',
        'print(answer.choices[0].message.content)',
      ].join('\n');
    case 'node':
      return [
        "import Anthropic from '@anthropic-ai/sdk';",
        '',
        `const client = new Anthropic({ baseURL: '${address}', apiKey: '${secret}' });`,
        'const message = await client.messages.create({',
        `  model: ${name},`,
        '  max_tokens: 1024,',
        "  messages: [{ role: 'user', content: 'Hello' }],",
        '});',
        'console.log(message.content);',
      ].join('\n');
    default:
      return kind satisfies never;
  }
}
