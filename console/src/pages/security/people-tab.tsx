// Who signs in to the console and as what, the links that wait, and the own password.

import { Button, Modal, Select, TextInput } from '@mantine/core';
import { IconUserPlus, IconUsersGroup } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, memo, useDeferredValue, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type {
  CreatedInvitation,
  Invitation,
  Person,
  Role,
} from '../../../../src/admin/contract.ts';
import {
  invitationsQuery,
  peopleQuery,
  useChangeRole,
  useInvitePerson,
  useOwnPassword,
  useRemovePerson,
  useRevokeInvitation,
  useSignOutPerson,
} from '../../api/queries/people.ts';
import { sessionQuery, useMay } from '../../api/queries/session.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { InvitationLink } from '../../components/invitation-link.tsx';
import { MoreRows } from '../../components/more-rows.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { StackingTable } from '../../components/stacking-table.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useToasts } from '../../components/use-toasts.tsx';
import { useCloseGuard, useUnsaved } from '../../components/use-unsaved.tsx';
import '../../components/form.css';

const ROLES: readonly Role[] = ['viewer', 'operator', 'owner'];
const MAX_NAME = 128;
/** A list that fits on a screen needs no search. */
const FEW = 8;
const MIN_PASSWORD = 8;

export function PeopleTab() {
  const may = useMay('operator');
  const { data } = useQuery(sessionQuery);
  return (
    <div className="security-stack">
      {may && (
        <>
          <PeoplePanel />
          <InvitationsPanel />
        </>
      )}
      {data?.person !== undefined && <OwnPasswordPanel name={data.person} />}
    </div>
  );
}

function PeoplePanel() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(peopleQuery);
  const [isInviting, setInviting] = useState(false);
  const [link, setLink] = useState<CreatedInvitation>();
  const leave = (): void => setInviting(false);
  const { close, guard } = useCloseGuard(leave);
  const [search, setSearch] = useState('');
  const sought = useDeferredValue(search.trim().toLowerCase());
  const found = data?.people.filter(({ name }) => name.toLowerCase().includes(sought)) ?? [];
  const count = data?.people.length ?? 0;
  const invite = (
    <Restricted least="owner" isQuiet>
      <Button size="xs" leftSection={<IconUserPlus size={14} />} onClick={() => setInviting(true)}>
        {t('people.invite')}
      </Button>
    </Restricted>
  );
  return (
    <Panel
      isFlush
      title={t('people.title')}
      hint={t('people.hint')}
      actions={
        <>
          {(count > FEW || search !== '') && (
            <TextInput
              type="search"
              size="xs"
              aria-label={t('people.search')}
              placeholder={t('people.search')}
              value={search}
              onChange={({ currentTarget }) => setSearch(currentTarget.value)}
            />
          )}
          {invite}
        </>
      }
    >
      {data === undefined && (
        <NotLoaded error={error} onRetry={() => void refetch()} height={140} />
      )}
      {data?.people.length === 0 && (
        <EmptyNote
          icon={<IconUsersGroup size={32} stroke={1.5} />}
          title={t('people.empty')}
          hint={t('people.emptyHint')}
        />
      )}
      {count > 0 && found.length === 0 && (
        <EmptyNote title={t('people.noneFound')} hint={t('people.noneFoundHint')} />
      )}
      {found.length > 0 && (
        <MoreRows rows={found} resetKey={sought}>
          {(people) => (
            <StackingTable
              headings={[
                t('people.name'),
                t('people.role'),
                t('people.signsIn'),
                t('people.lastSignIn'),
                t('people.sessions'),
              ]}
            >
              {people.map((person) => (
                <PersonRow key={person.id} person={person} />
              ))}
            </StackingTable>
          )}
        </MoreRows>
      )}
      <Modal opened={isInviting} onClose={close} title={t('people.inviteTitle')}>
        {guard(
          <InviteForm
            onCancel={leave}
            onCreated={(created) => {
              leave();
              setLink(created);
            }}
          />,
        )}
      </Modal>
      {link !== undefined && <InvitationLink created={link} onClose={() => setLink(undefined)} />}
    </Panel>
  );
}

interface PersonRowProps {
  readonly person: Person;
}

const PersonRow = memo(function PersonRow({ person }: PersonRowProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const confirm = useConfirm();
  const mayChange = useMay('owner');
  const change = useChangeRole();
  const remove = useRemovePerson();
  const signOut = useSignOutPerson();
  const { id, name, role, roleFrom, signsInBy, lastSignInAt, sessions } = person;
  const setRole = (next: Role): void =>
    void change
      .mutateAsync({ person, role: next })
      .then(() => toasts.done(t('people.roleChanged', { name, role: t(`roles.names.${next}`) })))
      .catch(toasts.failed);
  const askRemoval = (): void =>
    confirm({
      title: t('people.removeTitle', { name }),
      body: <p className="dialog-text">{t('people.removeHint')}</p>,
      confirm: t('common.remove'),
      onConfirm: () =>
        void remove
          .mutateAsync(id)
          .then(() => toasts.done(t('people.removed', { name })), toasts.failed),
    });
  return (
    <tr>
      <td className="is-lead wrap-anywhere">{name}</td>
      <td>
        <Select
          size="xs"
          aria-label={t('people.roleOf', { name })}
          data={ROLES.map((value) => ({ value, label: t(`roles.names.${value}`) }))}
          value={role}
          allowDeselect={false}
          disabled={!mayChange || roleFrom === 'provider' || change.isPending}
          onChange={(value) => {
            const next = ROLES.find((one) => one === value);
            if (next !== undefined && next !== role) setRole(next);
          }}
        />
        {roleFrom === 'provider' && <span className="sub-line">{t('people.roleClaimed')}</span>}
      </td>
      <td className="dimmed">
        <span className="cell-label">{t('people.signsIn')}</span>
        {t(`people.ways.${signsInBy}`)}
      </td>
      <td className="dimmed">
        <span className="cell-label">{t('people.lastSignIn')}</span>
        {lastSignInAt === undefined ? t('people.never') : <RelativeTime at={lastSignInAt} />}
      </td>
      <td>
        <span className="cell-label">{t('people.sessions')}</span>
        {sessions.length === 0 ? (
          <span className="dimmed">{t('people.noSessions')}</span>
        ) : (
          <Button
            size="compact-xs"
            variant="default"
            disabled={!mayChange}
            loading={signOut.isPending}
            onClick={() =>
              void signOut
                .mutateAsync(id)
                .then(() => toasts.done(t('people.signedOut', { name })), toasts.failed)
            }
          >
            {t('people.signOut', { count: sessions.length })}
          </Button>
        )}
      </td>
      <td className="is-corner">
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          disabled={!mayChange}
          aria-label={t('people.removeNamed', { name })}
          onClick={askRemoval}
        >
          {t('common.remove')}
        </Button>
      </td>
    </tr>
  );
});

interface InviteFormProps {
  readonly onCancel: () => void;
  readonly onCreated: (created: CreatedInvitation) => void;
}

function InviteForm({ onCancel, onCreated }: InviteFormProps) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const { error, isPending, mutateAsync } = useInvitePerson();
  useUnsaved(name !== '' && !isPending);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    void mutateAsync({ name: name.trim(), role }).then(onCreated, () => undefined);
  };
  return (
    <form className="form-stack" onSubmit={submit}>
      <TextInput
        label={t('people.name')}
        description={t('people.nameHint')}
        value={name}
        maxLength={MAX_NAME}
        autoComplete="off"
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Select
        label={t('people.role')}
        description={t(`people.may.${role}`)}
        data={ROLES.map((value) => ({ value, label: t(`roles.names.${value}`) }))}
        value={role}
        allowDeselect={false}
        onChange={(value) => setRole(ROLES.find((one) => one === value) ?? 'viewer')}
      />
      {error !== null && <ErrorNote error={error} />}
      <div className="form-actions">
        <Button variant="default" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={isPending} disabled={name.trim() === ''}>
          {t('people.makeLink')}
        </Button>
      </div>
    </form>
  );
}

function InvitationsPanel() {
  const { t } = useTranslation();
  const { data } = useQuery(invitationsQuery);
  if (data === undefined || data.invitations.length === 0) return null;
  return (
    <Panel isFlush title={t('people.waiting')} hint={t('people.waitingHint')}>
      <StackingTable
        headings={[t('people.name'), t('people.gives'), t('people.expires'), t('people.madeBy')]}
      >
        {data.invitations.map((invitation) => (
          <InvitationRow key={invitation.id} invitation={invitation} />
        ))}
      </StackingTable>
    </Panel>
  );
}

function InvitationRow({ invitation }: { readonly invitation: Invitation }) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const revoke = useRevokeInvitation();
  const { id, kind, name, role, expiresAt, createdBy } = invitation;
  const may = useMay(kind === 'person' ? 'owner' : 'operator');
  return (
    <tr>
      <td className="is-lead wrap-anywhere">{name}</td>
      <td className="dimmed">
        <span className="cell-label">{t('people.gives')}</span>
        {kind === 'key' || role === undefined ? t('people.aKey') : t(`roles.names.${role}`)}
      </td>
      <td className="dimmed">
        <span className="cell-label">{t('people.expires')}</span>
        <RelativeTime at={expiresAt} />
      </td>
      <td className="dimmed wrap-anywhere">
        <span className="cell-label">{t('people.madeBy')}</span>
        {createdBy ?? t('people.byPassword')}
      </td>
      <td className="is-corner">
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          disabled={!may}
          loading={revoke.isPending}
          aria-label={t('people.revokeNamed', { name })}
          onClick={() =>
            void revoke
              .mutateAsync(id)
              .then(() => toasts.done(t('people.revoked', { name })), toasts.failed)
          }
        >
          {t('people.revoke')}
        </Button>
      </td>
    </tr>
  );
}

function OwnPasswordPanel({ name }: { readonly name: string }) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const [password, setPassword] = useState('');
  const { error, isPending, mutateAsync } = useOwnPassword();
  useUnsaved(password !== '' && !isPending);
  const isShort = [...password].length < MIN_PASSWORD;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isShort) return;
    void mutateAsync(password).then(
      () => {
        setPassword('');
        toasts.done(t('people.passwordChanged'));
      },
      () => undefined,
    );
  };
  return (
    <Panel title={t('people.ownPassword', { name })} hint={t('people.ownPasswordHint')}>
      <form className="form-stack" onSubmit={submit}>
        <SecretInput
          label={t('people.join.newPassword')}
          description={t('people.join.newPasswordHint')}
          value={password}
          autoComplete="new-password"
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {error !== null && <ErrorNote error={error} />}
        <div className="form-actions">
          <Button type="submit" loading={isPending} disabled={isShort}>
            {t('people.changePassword')}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
