// What the client sent, what the upstream was sent, and what came back; as text and nothing else.

import { Button, SegmentedControl } from '@mantine/core';
import { IconFileOff, IconLock } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type {
  AnswerBlock,
  BodyText,
  ReceiptLine,
  RequestDetail,
} from '../../../../src/admin/contract.ts';
import { bodyRecordingQuery, useRecordBodies } from '../../api/queries/requests.ts';
import { useMay } from '../../api/queries/session.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { EmptyNote } from '../../components/empty-note.tsx';
import { formatJson } from '../../components/format-json.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { useNow } from '../../components/now.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import { TextView } from '../../components/text-view.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';
import { compareBodies, joinLines } from './compare-bodies.ts';

export function Bodies({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const [view, setView] = useState<(typeof VIEWS)[number]>('marked');
  const { clientRequest, upstreamRequest, response, clientResponse, upstreamResponse } = detail;
  const may = useMay('operator');
  const kept = [clientRequest, upstreamRequest, response, clientResponse, upstreamResponse];
  if (kept.every((body) => body === undefined)) {
    if (!may && detail.keepsBodies) return <HiddenBodies />;
    return detail.keepsBodies ? <NoBody /> : <NoBodies />;
  }
  const isMarked = view === 'marked';
  return (
    <div className="form-stack">
      <SegmentedControl
        className="body-views"
        size="xs"
        aria-label={t('requests.payloadView')}
        data={VIEWS.map((value) => ({ value, label: t(`requests.payloadViews.${value}`) }))}
        value={view}
        onChange={setView}
      />
      <Pair
        {...{ isMarked, client: clientRequest, upstream: upstreamRequest }}
        names={[t('requests.clientRequest'), t('requests.upstreamRequest')]}
        notes={detail.receiptEntries}
      />
      {isMarked && clientRequest !== undefined && upstreamRequest !== undefined && (
        <p className="form-note">{t('requests.marksHint')}</p>
      )}
      {response !== undefined && (
        <section className="body">
          <BodyHead name={t('requests.response')} isWhole={response.isWhole} />
          <div className="form-stack">
            {response.blocks.map((block, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no name but their place
              <Block key={index} block={block} />
            ))}
          </div>
        </section>
      )}
      <Pair
        {...{ isMarked, client: clientResponse, upstream: upstreamResponse }}
        names={[t('requests.clientResponse'), t('requests.upstreamResponse')]}
      />
    </div>
  );
}

interface PairProps {
  readonly isMarked: boolean;
  readonly client: BodyText | undefined;
  readonly upstream: BodyText | undefined;
  /** Of the client's, and of the upstream's. */
  readonly names: readonly [string, string];
  readonly notes?: readonly ReceiptLine[] | undefined;
}

/** What the client and the upstream have of the same, side by side. */
function Pair({ isMarked, client, upstream, names: [ofClient, ofUpstream], notes }: PairProps) {
  if (client === undefined && upstream === undefined) return null;
  return (
    <div className="body-pair">
      {client !== undefined && (
        <Body name={ofClient} body={client}>
          {isMarked && (
            <MarkedBody
              name={ofClient}
              body={client}
              other={upstream}
              tone="removed"
              notes={notes}
            />
          )}
        </Body>
      )}
      {upstream !== undefined && (
        <Body name={ofUpstream} body={upstream}>
          {isMarked && <MarkedBody name={ofUpstream} body={upstream} other={client} tone="added" />}
        </Body>
      )}
    </div>
  );
}

const VIEWS = ['marked', 'plain'] as const;

/** Kept, but not for whoever looks. */
function HiddenBodies() {
  const { t } = useTranslation();
  return (
    <EmptyNote
      icon={<IconLock size={32} stroke={1.5} />}
      title={t('requests.noBody')}
      hint={t('requests.bodiesHidden')}
    />
  );
}

function NoBody() {
  const { t } = useTranslation();
  return (
    <EmptyNote
      icon={<IconFileOff size={32} stroke={1.5} />}
      title={t('requests.noBody')}
      hint={t('requests.noBodyHint')}
    />
  );
}

function NoBodies() {
  const { t } = useTranslation();
  return (
    <EmptyNote
      icon={<IconFileOff size={32} stroke={1.5} />}
      title={t('requests.noBodies')}
      hint={t('requests.noBodiesHint')}
      action={<KeepBodies />}
    />
  );
}

const MINUTES = 15;

/** Turns recording on for a while, where its absence is met; the settings have it for good. */
export function KeepBodies() {
  const { t } = useTranslation();
  const format = useFormat();
  const toasts = useToasts();
  const now = useNow();
  const { data } = useQuery(bodyRecordingQuery);
  const record = useRecordBodies();
  const mayRecord = useMay('operator');
  const keep = (minutes: number): void =>
    void record.mutateAsync(minutes).catch((error: unknown) => toasts.failed(error));
  const until = data?.until ?? 0;
  const isOn = until > now;
  if (!mayRecord) return null;
  return (
    <>
      {isOn && (
        <span role="status">{t('requests.recordingUntil', { time: format.clock(until) })}</span>
      )}
      <Button
        variant="default"
        disabled={data === undefined}
        loading={record.isPending}
        onClick={() => keep(isOn ? 0 : MINUTES)}
      >
        {t(isOn ? 'requests.endRecording' : 'requests.keepBodies')}
      </Button>
      <LinkButton to="/settings" search={{ section: 'monitor' }} variant="subtle">
        {t('requests.toSettings')}
      </LinkButton>
    </>
  );
}

interface BodyProps {
  readonly name: string;
  readonly body: BodyText;
  /** In place of the plain text. */
  readonly children: ReactNode;
}

function Body({ name, body, children }: BodyProps) {
  const text = useMemo(() => formatJson(body.text), [body.text]);
  return (
    <section className="body">
      <BodyHead name={name} isWhole={body.isWhole} />
      {children === false ? <TextView text={text} label={name} /> : children}
    </section>
  );
}

function BodyHead({ name, isWhole }: { readonly name: string; readonly isWhole: boolean }) {
  const { t } = useTranslation();
  return (
    <div className="body-head">
      <h3>{name}</h3>
      {!isWhole && <span className="dimmed small">{t('requests.notWhole')}</span>}
    </div>
  );
}

function Block({ block }: { readonly block: AnswerBlock }) {
  const { t } = useTranslation();
  switch (block.kind) {
    case 'text':
      return <TextView text={block.text} label={t('requests.textBlock')} />;
    case 'thinking':
      return <NamedBlock name={t('requests.thinkingBlock')} text={block.text} />;
    case 'tool-call':
      return (
        <NamedBlock
          name={t('requests.toolBlock', { name: block.name })}
          text={formatJson(block.arguments)}
        />
      );
    case 'media':
      return (
        <p className="form-note">
          {t('requests.mediaBlock', { type: block.mediaType, size: writeBytes(block.bytes) })}
        </p>
      );
    case 'code':
      return (
        <NamedBlock
          name={t('requests.codeBlock', { language: block.language })}
          text={block.code}
        />
      );
    case 'code-result':
      return (
        <NamedBlock
          name={t('requests.codeResultBlock', { outcome: block.outcome })}
          text={block.output}
        />
      );
    default:
      return block satisfies never;
  }
}

function NamedBlock({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <h4 className="body-name">{name}</h4>
      <TextView text={text} label={name} />
    </div>
  );
}

function writeBytes(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(0)} KB`;
}

interface MarkedBodyProps {
  readonly name: string;
  readonly body: BodyText;
  readonly other: BodyText | undefined;
  /** How the marks of this one look. */
  readonly tone: 'removed' | 'added';
  readonly notes?: readonly ReceiptLine[] | undefined;
}

function MarkedBody({ name, body, other, tone, notes }: MarkedBodyProps) {
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
