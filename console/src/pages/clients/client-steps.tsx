// The steps of a set-up, each with a snippet to copy; the last one shows that it works.

import { useTranslation } from 'react-i18next';
import { CopyIcon } from '../../components/copy-button.tsx';
import { findMatches, splitByMatches } from '../../components/find-matches.ts';
import type { Client, SetUp, Step, Way } from './client.ts';
import { FirstRequest } from './first-request.tsx';

export interface ClientStepsProps {
  readonly steps: readonly Step[];
  readonly way: Way;
  /** Stands where a key has to be put in by hand. */
  readonly gap: string;
  readonly keyId: string | undefined;
}

export function ClientSteps({ steps, way, gap, keyId }: ClientStepsProps) {
  const { t } = useTranslation();
  return (
    <ol className="client-steps">
      {steps.map((step) => (
        <StepItem key={step.kind} step={step} way={way} gap={gap} />
      ))}
      <li>
        <h3>{t('clients.worksTitle')}</h3>
        <p className="form-note">{t('clients.worksHint')}</p>
        <FirstRequest keyId={keyId} />
      </li>
    </ol>
  );
}

interface OneCommandProps {
  readonly client: Client;
  readonly setUp: SetUp;
  readonly way: Way;
  readonly gap: string;
}

/** For a machine that has the command: it writes what the steps say, and takes it back. */
export function OneCommand({ client, setUp, way, gap }: OneCommandProps) {
  const { t } = useTranslation();
  if (client.command === undefined) return null;
  const shell = way.id === 'powershell' ? 'powershell' : 'posix';
  return (
    <section className="one-command" aria-labelledby="one-command">
      <h3 id="one-command">{t('clients.oneCommand')}</h3>
      <p className="form-note">{t('clients.oneCommandHint')}</p>
      {VERBS.map((verb) => {
        const code = client.command?.(verb, setUp, shell) ?? '';
        return (
          <div key={verb} className="client-snippet">
            <p className="client-file">{t(`clients.verbs.${verb}`)}</p>
            <pre>
              <SnippetText code={code} gap={gap} />
            </pre>
            <CopyIcon text={code} label={t('clients.copy', { name: `isthmus ${verb}` })} />
          </div>
        );
      })}
      <h3>{t('clients.byHand')}</h3>
    </section>
  );
}

const VERBS = ['connect', 'launch'] as const;

interface StepItemProps {
  readonly step: Step;
  readonly way: Way;
  readonly gap: string;
}

function StepItem({ step: { kind, file, code }, way, gap }: StepItemProps) {
  const { t } = useTranslation();
  const title = t(`clients.steps.${kind}`);
  const profile = way.id === 'powershell' ? '$PROFILE' : '~/.zshrc, ~/.bashrc';
  return (
    <li>
      <h3>{title}</h3>
      {isHinted(kind) && <p className="form-note">{t(`clients.hints.${kind}`, { profile })}</p>}
      <div className="client-snippet">
        {file !== undefined && <p className="client-file mono">{file}</p>}
        <pre>
          <SnippetText code={code} gap={gap} />
        </pre>
        <CopyIcon text={code} label={t('clients.copy', { name: title })} />
      </div>
    </li>
  );
}

const HINTED = ['variables', 'file', 'signIn', 'once', 'address'] as const;

function isHinted(kind: Step['kind']): kind is (typeof HINTED)[number] {
  return HINTED.some((one) => one === kind);
}

/** With the gaps marked that are still to be filled. */
function SnippetText({ code, gap }: { readonly code: string; readonly gap: string }) {
  if (gap === '') return code;
  return splitByMatches(code, findMatches(code, gap), gap.length).map(({ at, piece, match }) =>
    match === undefined ? piece : <mark key={at}>{piece}</mark>,
  );
}
