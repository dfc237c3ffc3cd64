// The playground: a conversation in any client protocol, with one model or two, and the wire beside it.

import { Button, Drawer, SegmentedControl, Switch } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconAdjustments, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type DragEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { requestQuery } from '../../api/queries/requests.ts';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { readTools } from '../../wire/tools.ts';
import type { Draft } from '../../wire/write-request.ts';
import { ConversationView } from './conversation-view.tsx';
import { DraftForm } from './draft-form.tsx';
import { forgetDraft, isKeptInBrowser, keepDraft, readKept } from './draft-store.ts';
import { PromptForm } from './prompt-form.tsx';
import { type Start, startFrom } from './start-from.ts';
import { type Conversation, type Message, useConversation } from './use-conversation.ts';
import { useDraft } from './use-draft.ts';
import { useFiles } from './use-files.ts';
import { WirePanel } from './wire-panel.tsx';
import './page.css';

export function PlaygroundPage() {
  const { texts } = useSearchTexts();
  const [kept] = useState(readKept);
  const id = texts.request ?? '';
  const { data, error, refetch } = useQuery({ ...requestQuery(id), enabled: id !== '' });
  if (id === '') return <Playground start={kept} />;
  if (data !== undefined) return <Playground key={id} start={startFrom(data)} />;
  return <NotLoaded isMain error={error} onRetry={() => void refetch()} height={520} radius="md" />;
}

interface PlaygroundProps {
  /** What it begins with: what was kept, or a recorded request. */
  readonly start: Start | undefined;
}

function Playground({ start: kept }: PlaygroundProps) {
  const { t } = useTranslation();
  const [isKept, setKept] = useState(isKeptInBrowser);
  const { draft: written, setDraft, typed, type, hasBadAmount } = useDraft(kept?.draft);
  const [tools, setTools] = useState(kept?.tools ?? '');
  const [key, setKey] = useState('');
  const [other, setOther] = useState<string>();
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const [shown, setShown] = useState<'first' | 'second'>('first');
  const talk = useConversation(kept?.turns ?? []);
  const second = useConversation([]);
  const isNarrow = useMediaQuery('(max-width: 75em)');
  const readable = readTools(tools);
  const draft: Draft = { ...written, tools: readable ?? [] };
  const secondDraft: Draft = { ...draft, model: other ?? '' };
  const isCompared = other !== undefined;
  const { files, setFiles, add } = useFiles(draft.protocol, kept?.next?.files);
  const { said, turns } = talk;
  const isBusy = talk.isBusy || (isCompared && second.isBusy);
  useEffect(() => {
    if (!isBusy) keepDraft({ draft: { ...written, turns: [], tools: [] }, turns, tools }, isKept);
  }, [isKept, isBusy, written, turns, tools]);
  const choose = (model: string | undefined): void => {
    // What was said so far was said to both.
    if (other === undefined && model !== undefined) second.begin(turns);
    if (model === undefined) {
      second.clear();
      setShown('first');
    }
    setOther(model);
  };
  const trouble = findTrouble(draft, other, hasBadAmount, readable === undefined);
  const send = async (message: Message): Promise<boolean> => {
    const sent = [talk.send(draft, message, key)];
    if (isCompared) sent.push(second.send(secondDraft, message, key));
    const answered = await Promise.all(sent);
    return answered.some((isAnswered) => isAnswered);
  };
  const onDrop = (event: DragEvent): void => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    void add([...event.dataTransfer.files]);
  };
  const form = (
    <div className="form-stack">
      <DraftForm
        draft={draft}
        onDraft={setDraft}
        typed={typed}
        onType={type}
        tools={tools}
        areToolsBad={readable === undefined}
        onTools={setTools}
        other={other}
        onOther={choose}
        accessKey={key}
        onAccessKey={setKey}
      />
      <Switch
        label={t('playground.keep')}
        description={t('playground.keepHint')}
        checked={isKept}
        onChange={({ currentTarget: { checked } }) => {
          setKept(checked);
          if (!checked) forgetDraft();
        }}
      />
    </div>
  );
  const views: readonly (readonly [Conversation, Draft])[] = isCompared
    ? [
        [talk, draft],
        [second, secondDraft],
      ]
    : [[talk, draft]];
  const [shownTalk, shownDraft] = views[shown === 'first' ? 0 : 1] ?? [talk, draft];
  return (
    <>
      <PageHeader
        title={t('shell.pages.playground')}
        subtitle={t('playground.subtitle')}
        actions={
          <>
            {isNarrow === true && (
              <Button
                variant="default"
                leftSection={<IconAdjustments size={16} />}
                onClick={() => setSettingsOpen(true)}
              >
                {t('playground.settings')}
              </Button>
            )}
            <Button
              variant="default"
              leftSection={<IconTrash size={16} />}
              disabled={said.length === 0}
              onClick={() => {
                talk.clear();
                second.clear();
              }}
            >
              {t('playground.clear')}
            </Button>
          </>
        }
      />
      <div className={isCompared ? 'playground is-compared' : 'playground'}>
        {isNarrow === false && <Panel className="playground-settings">{form}</Panel>}
        <Panel isFlush className="playground-talk">
          {/* biome-ignore lint/a11y/noStaticElementInteractions: files are chosen by a button as well */}
          <div
            className="playground-drop"
            onDragOver={(event) => event.preventDefault()}
            onDrop={onDrop}
          >
            <div className="talks">
              {views.map(([conversation, withDraft], index) => (
                <ConversationView
                  key={index === 0 ? 'first' : 'second'}
                  talk={conversation}
                  label={
                    isCompared
                      ? t('playground.talkWith', { model: withDraft.model })
                      : t('shell.pages.playground')
                  }
                  onRegenerate={() => void conversation.regenerate(withDraft, key)}
                  onEdit={(at, text) => {
                    for (const [one, itsDraft] of views) void one.edit(itsDraft, at, text, key);
                  }}
                  results={
                    conversation.said.length === kept?.turns.length ? kept.next?.results : undefined
                  }
                  onResults={(results) =>
                    void conversation.send(withDraft, { text: '', results }, key)
                  }
                />
              ))}
            </div>
            {kept?.isInPart === true && said.length === 0 && (
              <p className="form-note playground-note">{t('playground.inPart')}</p>
            )}
            <PromptForm
              first={kept?.next?.text}
              protocol={draft.protocol}
              isBusy={isBusy}
              trouble={trouble}
              files={files}
              onFiles={setFiles}
              onAdd={(chosen) => void add(chosen)}
              onSend={send}
              onStop={() => {
                talk.stop();
                second.stop();
              }}
            />
          </div>
        </Panel>
        <div className="playground-wires">
          {isCompared && (
            <SegmentedControl
              size="xs"
              aria-label={t('playground.wireOf')}
              value={shown}
              onChange={(value) => setShown(value === 'second' ? 'second' : 'first')}
              data={[
                { value: 'first', label: draft.model || t('playground.model') },
                { value: 'second', label: secondDraft.model || t('playground.otherModel') },
              ]}
            />
          )}
          <WirePanel
            key={shown}
            wire={shownTalk.wire}
            isBusy={shownTalk.isBusy}
            hasKey={key !== ''}
            onSendBody={(body) => void shownTalk.sendBody(shownDraft, body, key)}
          />
        </div>
      </div>
      <Drawer
        opened={areSettingsOpen}
        onClose={() => setSettingsOpen(false)}
        position="right"
        title={t('playground.settings')}
      >
        {form}
      </Drawer>
    </>
  );
}

/** Why nothing can be sent yet. */
function findTrouble(
  { model }: Draft,
  other: string | undefined,
  hasBadAmount: boolean,
  areToolsBad: boolean,
) {
  if (model.trim() === '') return 'noModel';
  if (other?.trim() === '') return 'noSecondModel';
  if (hasBadAmount) return 'badAmount';
  return areToolsBad ? 'badTools' : undefined;
}
