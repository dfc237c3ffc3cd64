// Shows the secret of a key that was made or rotated: once, with the ways to use it.

import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CreatedKey as Created } from '../../../../src/admin/contract.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { OnceSecret } from '../../components/once-secret.tsx';
import { SNIPPETS, type SnippetKind, writeSnippet } from './write-snippet.ts';
import './page.css';

export interface CreatedKeyProps {
  readonly created: Created;
  readonly address: string;
  readonly onClose: () => void;
}

export function CreatedKey({ created, address, onClose }: CreatedKeyProps) {
  const { t } = useTranslation();
  const { key, secret } = created;
  return (
    <OnceSecret
      title={t('keys.createdTitle', { name: key.name })}
      hint={t('keys.createdHint')}
      secret={secret}
      copy={t('keys.copySecret')}
      onClose={onClose}
    >
      <Snippets created={created} address={address} />
    </OnceSecret>
  );
}

export function Snippets({ created, address }: Omit<CreatedKeyProps, 'onClose'>) {
  const { t } = useTranslation();
  const [kind, setKind] = useState<SnippetKind>('curl');
  const { key, secret } = created;
  const [model] = key.allowedModels;
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
