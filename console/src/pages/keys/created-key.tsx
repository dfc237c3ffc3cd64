// Shows the secret of a key that was made or rotated: once, with the ways to use it.

import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CreatedKey as Created, Models } from '../../../../src/admin/contract.ts';
import { modelsQuery } from '../../api/queries/models.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { OnceSecret } from '../../components/once-secret.tsx';
import { chooseExample } from './choose-example.ts';
import './page.css';

export interface CreatedKeyProps {
  readonly created: Created;
  readonly address: string;
  readonly onClose: () => void;
}

export function CreatedKey({ created, address, onClose }: CreatedKeyProps) {
  const { t } = useTranslation();
  const listed = useQuery(modelsQuery);
  const { key, secret } = created;
  return (
    <OnceSecret
      title={t('keys.createdTitle', { name: key.name })}
      hint={t('keys.createdHint')}
      secret={secret}
      copy={t('keys.copySecret')}
      onClose={onClose}
    >
      <Snippets created={created} address={address} models={listed.data?.models ?? []} />
    </OnceSecret>
  );
}

interface SnippetsProps extends Omit<CreatedKeyProps, 'onClose'> {
  readonly models: Models['models'];
}

export function Snippets({ created, address, models }: SnippetsProps) {
  const { t } = useTranslation();
  const [kind, setKind] = useState<SnippetKind>('curl');
  const { key, secret } = created;
  const model = chooseExample(key.allowedModels, models);
  const snippet = writeSnippet(kind, { address, secret, model });
  return (
    <div>
      <div className="snippet-head">
        <SegmentedControl
          size="xs"
          aria-label={t('keys.useIt')}
          value={kind}
          onChange={setKind}
          data={SNIPPETS.map(({ kind: value, label }) => ({ value, label }))}
        />
        <CopyIcon text={snippet} label={t('keys.copySnippet')} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className="snippet" tabIndex={0}>
        {snippet}
      </pre>
    </div>
  );
}

type SnippetKind = 'curl' | 'python' | 'node' | 'shell';

const SNIPPETS: readonly { readonly kind: SnippetKind; readonly label: string }[] = [
  { kind: 'curl', label: 'curl' },
  { kind: 'shell', label: 'Shell' },
  { kind: 'python', label: 'Python' },
  { kind: 'node', label: 'Node.js' },
];

interface SnippetInput {
  readonly address: string;
  readonly secret: string;
  readonly model: string;
}

function writeSnippet(kind: SnippetKind, { address, secret, model }: SnippetInput): string {
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
