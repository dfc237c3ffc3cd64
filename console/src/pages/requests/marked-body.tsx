// A body with what is special about it: values the other side has not, and notes about its fields.

import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { BodyText, ReceiptLine } from '../../../../src/admin/contract.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import { TextView } from '../../components/text-view.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';
import { compareBodies, joinLines } from './compare-bodies.ts';
import { formatJson } from './format-json.ts';

export interface MarkedBodyProps {
  readonly name: string;
  readonly body: BodyText;
  readonly other: BodyText | undefined;
  /** How the marks of this one look. */
  readonly tone: 'removed' | 'added';
  readonly notes?: readonly ReceiptLine[] | undefined;
}

export function MarkedBody({ name, body, other, tone, notes }: MarkedBodyProps) {
  const { t } = useTranslation();
  const marked = useMemo(
    () => compareBodies(body.text, other?.text, notes),
    [body.text, other?.text, notes],
  );
  const pieces = useMemo(() => marked && joinLines(marked.lines), [marked]);
  if (pieces === undefined || marked === undefined) {
    return <TextView text={formatJson(body.text)} label={name} />;
  }
  return (
    <div className="marked-body">
      <div className="marked-bar">
        <CopyIcon text={formatJson(body.text)} label={t('textView.copy', { name })} />
      </div>
      {marked.others.length > 0 && <Notes notes={marked.others} isWithPath />}
      <ScrollRegion className="marked-text mono" label={name}>
        {pieces.map(({ text, isMarked, notes: below }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no name but their place
          <div key={index}>
            {isMarked ? <mark className={`is-${tone}`}>{text}</mark> : text}
            {below.length > 0 && <Notes notes={below} />}
          </div>
        ))}
      </ScrollRegion>
    </div>
  );
}

interface NotesProps {
  readonly notes: readonly ReceiptLine[];
  readonly isWithPath?: boolean;
}

function Notes({ notes, isWithPath = false }: NotesProps) {
  const { t } = useTranslation();
  const say = useSentences();
  return (
    <ul className="marked-notes">
      {notes.map((note) => (
        <li key={`${note.path} ${note.action} ${note.reason.text}`}>
          <strong>{t(`requests.receiptActions.${note.action}`)}</strong>{' '}
          {isWithPath && <code className="mono wrap-anywhere">{note.path}</code>} {say(note.reason)}
        </li>
      ))}
    </ul>
  );
}
