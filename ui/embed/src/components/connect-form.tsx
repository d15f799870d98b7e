import { useEffect, useMemo, useState, type FormEvent, type ReactNode } from 'react';
import { answerOf, type Connection, type ProviderInfo, type SvcError } from '@svc/client';
import { useSvc } from '../hooks/provider.tsx';
import { authFormOf, planConnect, type CredentialField, type Typed } from '../state/credentials.ts';
import { useText } from '../text/index.tsx';
import { BusyButton, Button, Failure, Notice, Said, TextField } from './ui.tsx';
import type { Refusal } from '../state/refusal.ts';
import type { Returned } from './returning.ts';
import { useOAuth } from './use-oauth.ts';
import { useRenewal } from './use-renewal.ts';

export interface ConnectFormProps {
  provider: ProviderInfo;
  /** The connection that gets new credentials. */
  renews?: Connection | undefined;
  /** A sign-in at the provider takes the place of this page, and comes back here. */
  returnUrl?: string | undefined;
  /** How a sign-in in place of the page ended. */
  returned?: Returned | undefined;
  onConnected: (connection: Connection) => void;
}

/** Connects an account: by a sign-in at the provider, or with what is typed. */
export function ConnectForm({
  provider,
  renews,
  returnUrl,
  returned,
  onConnected,
}: ConnectFormProps): ReactNode {
  const t = useText();
  const { own, settle, settling } = useOwn(renews, onConnected);
  const form = useMemo(() => authFormOf(provider), [provider]);
  const [typed, setTyped] = useState<Typed>({});
  const [missing, setMissing] = useState<readonly string[]>([]);
  const oauth = useOAuth(settle, returnUrl);
  const typing = useTyped(provider.name, own, settle);
  const name = provider.displayName;
  const shown = own ? form.fields.filter(({ path }) => path !== 'providerWorkspaceRef') : form.fields;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const plan = planConnect({ ...form, fields: shown }, typed);
    setMissing(plan.kind === 'refusal' ? plan.missing : []);
    if (plan.kind === 'oauth')
      oauth.start({
        provider: provider.name,
        place: plan.place,
        renews: own,
        workspace: renews?.providerWorkspaceRef,
      });
    if (plan.kind === 'generate') void typing.connect(plan.request, plan.masks);
  };
  const isBusy = oauth.state.phase === 'starting' || typing.isPending || settling.isPending;
  const error = typing.error ?? settling.error ?? returned?.error;
  const intro =
    form.kind === 'oauth' ? 'connectIntro' : shown.length === 0 ? 'connectNothing' : 'connectTyped';
  return (
    <form className="svc-stack" onSubmit={submit} noValidate>
      <p className="svc-intro">{t(intro, { provider: name })}</p>
      <OAuthNotice oauth={oauth} refusal={returned?.refusal} provider={name} />
      {error ? <Failure error={error} /> : null}
      {shown.map((field) => (
        <Typing
          key={field.path}
          field={field}
          value={typed[field.path] ?? field.initial}
          isMissing={missing.includes(field.path)}
          said={typing.issueAt(field.path)}
          docsUrl={
            field.docsUrl ??
            (form.kind === 'credentials' && field.kind === 'secret' ? form.docsUrl : undefined)
          }
          onChange={(value) => setTyped((now) => ({ ...now, [field.path]: value }))}
        />
      ))}
      <Actions
        oauth={oauth}
        busy={isBusy}
        text={renews ? t('reconnect') : t('connect', { provider: name })}
      />
    </form>
  );
}

interface ActionsProps {
  oauth: ReturnType<typeof useOAuth>;
  busy: boolean;
  text: string;
}

function Actions({ oauth, busy, text }: ActionsProps): ReactNode {
  const t = useText();
  return (
    <div className="svc-actions">
      <BusyButton look="primary" type="submit" busy={busy} busyText={t('connecting')}>
        {text}
      </BusyButton>
      {'url' in oauth.state ? (
        <Button look="quiet" onClick={oauth.reset}>
          {t('cancel')}
        </Button>
      ) : null}
    </div>
  );
}

/** The credentials of a colleague are theirs: this person makes a connection of their own, and what is installed goes on with it. */
function useOwn(renews: Connection | undefined, onConnected: (connection: Connection) => void) {
  const { consumerRef } = useSvc();
  const [renewal, settling] = useRenewal();
  const settle = (connection: Connection, isNew = false): void =>
    void renewal({ connection, isNew, onSuccess: () => onConnected(connection) });
  return { own: isOf(renews, consumerRef) ? renews : undefined, settle, settling };
}

export const isOf = (connection: Connection | undefined, consumerRef: string): boolean =>
  connection?.consumer.consumerRef === consumerRef;

interface TypingProps {
  field: CredentialField;
  value: string;
  isMissing: boolean;
  said: string | undefined;
  docsUrl: string | undefined;
  onChange: (value: string) => void;
}

function Typing({ field, value, isMissing, said, docsUrl, onChange }: TypingProps): ReactNode {
  const t = useText();
  return (
    <TextField
      label={typeof field.label === 'string' ? t(field.label) : field.label.said}
      hint={field.hint}
      help={docsUrl}
      issue={isMissing ? t('missing') : said && <Said>{said}</Said>}
      required={field.isRequired}
      type={field.kind === 'secret' ? 'password' : 'text'}
      options={field.kind === 'select' ? field.options.map((one) => [one, one]) : undefined}
      autoComplete="off"
      spellCheck={false}
      dir="auto"
      value={value}
      onChange={onChange}
    />
  );
}

const refusals = {
  denied: 'denied',
  failed: 'signInFailed',
  unsure: 'signInUnsure',
  otherAccount: 'otherAccount',
} as const;

function OAuthNotice({
  oauth,
  refusal,
  provider,
}: {
  oauth: ReturnType<typeof useOAuth>;
  refusal: Refusal | undefined;
  provider: string;
}): ReactNode {
  const t = useText();
  const { state, open } = oauth;
  if (state.phase === 'failed') return <Failure error={state.error} />;
  const refused = state.phase === 'refused' ? state.refusal : state.phase === 'idle' ? refusal : undefined;
  if (refused) return <Notice tone="bad">{t(refusals[refused], { provider })}</Notice>;
  if (state.phase === 'refused' || state.phase === 'idle') return null;
  if (state.phase === 'starting') return null;
  if (state.phase === 'blocked')
    return (
      <Notice
        tone="warning"
        actions={
          // A link leads to a new tab where no window may be opened at all.
          <a
            className="svc-button svc-button-plain"
            href={state.url}
            target="_blank"
            rel="noreferrer"
            onClick={(event) => (open(state.url) ? event.preventDefault() : undefined)}
          >
            {t('openWindow')}
          </a>
        }
      >
        {t('popupBlocked')}
      </Notice>
    );
  const again = <Button onClick={() => open(state.url)}>{t('openAgain')}</Button>;
  if (state.phase === 'waiting')
    return (
      <Notice tone="info" actions={again}>
        {t('waiting', { provider })}
      </Notice>
    );
  return (
    <Notice tone="warning" actions={again}>
      {t('popupClosed')}
    </Notice>
  );
}

interface TypedConnect {
  isPending: boolean;
  error: SvcError | undefined;
  issueAt(path: string): string | undefined;
  connect(request: object, masks: string[]): Promise<void>;
}

/** Sends typed credentials; svc tries them at the provider before it keeps them. */
function useTyped(
  provider: string,
  renews: Connection | undefined,
  onConnected: (connection: Connection) => void,
): TypedConnect {
  const { svc, groupRef, groupName, consumerRef, consumerName, project } = useSvc();
  const [state, setState] = useState<{ isPending: boolean; error?: SvcError }>({ isPending: false });
  useEffect(() => setState({ isPending: false }), [provider]);
  const connect = async (request: object, masks: string[]): Promise<void> => {
    setState({ isPending: true });
    const names = {
      ...(groupName === undefined ? {} : { groupName }),
      ...(consumerName === undefined ? {} : { consumerName }),
    };
    try {
      // Values of a provider's own form are no part of a change: the same account keeps its connection.
      const connection =
        renews && !masks.includes('customAuth')
          ? await renewed(svc, project, renews.id, request, masks)
          : await svc.connections.generate({ provider, groupRef, consumerRef, ...names, ...request });
      setState({ isPending: false });
      onConnected(connection);
    } catch (error) {
      setState({ isPending: false, error: error as SvcError });
    }
  };
  const issues = state.error?.issues ?? [];
  const issueAt = (path: string): string | undefined =>
    issues.find(({ name }) => name === path || name.endsWith(`.${path}`))?.detail;
  return { isPending: state.isPending, error: state.error, issueAt, connect };
}

async function renewed(
  svc: ReturnType<typeof useSvc>['svc'],
  project: string,
  connectionId: string,
  connection: object,
  updateMask: string[],
): Promise<Connection> {
  const patched = svc.api.PATCH('/v1/projects/{projectIdOrName}/connections/{connectionId}', {
    params: { path: { projectIdOrName: project, connectionId } },
    body: { updateMask, connection },
  });
  return answerOf(patched);
}
