import { useQuery } from '@tanstack/react-query';
import type { ProviderApp } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { catalogueQuery, redirectUri } from '../pages/providers/queries.ts';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';

interface Given {
  provider: string;
  clientId: string;
  clientSecret: string;
  scopes: string;
  isDefault: boolean;
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Enters an OAuth client, or changes one: its secret only when a new one is typed. */
export function ProviderAppForm(props: {
  project: string;
  app?: ProviderApp;
  provider?: string;
  onClose: () => void;
}): ReactNode {
  const { project, app, provider, onClose } = props;
  const first: Given = {
    provider: app?.provider ?? provider ?? '',
    clientId: app?.clientId ?? '',
    clientSecret: '',
    scopes: (app?.scopes ?? []).join(' '),
    isDefault: app?.isDefault ?? false,
  };
  const [given, setGiven] = useState(first);
  const { mutate, isPending, error } = useSave(project, app, onClose);
  const at = (name: string): string => (app ? `providerApp.${name}` : name);
  const field = (name: Name) => ({
    value: given[name],
    issue: issueAt(error, at(name)),
    onChange: (value: string) => setGiven({ ...given, [name]: value }),
  });
  return (
    <Dialog
      title={app ? `The client at ${app.provider}` : 'New provider app'}
      isOpen
      isWide
      onClose={onClose}
    >
      <Form
        submit={app ? 'Save' : 'Enter the client'}
        isBusy={isPending}
        error={error}
        fields={['provider', 'clientId', 'clientSecret', 'scopes'].map(at)}
        disabledFor={given.provider === '' ? 'Choose a provider' : undefined}
        onSubmit={() => mutate({ first, given })}
        onCancel={onClose}
      >
        <div className="field">
          <p className="legend">Redirect URI, to be entered at the provider</p>
          <Code text={redirectUri()} label="Redirect URI" />
        </div>
        {!app && provider === undefined && (
          <ProviderField
            value={given.provider}
            issue={issueAt(error, 'provider')}
            onChange={(chosen) => setGiven({ ...given, provider: chosen })}
          />
        )}
        <Client isNew={!app} isDefault={app?.isDefault ?? false} {...{ given, field, setGiven }} />
      </Form>
    </Dialog>
  );
}

type Name = 'clientId' | 'clientSecret' | 'scopes';

function Client(props: {
  isNew: boolean;
  isDefault: boolean;
  given: Given;
  setGiven: (given: Given) => void;
  field: (name: Name) => { value: string; issue: string | undefined; onChange: (value: string) => void };
}): ReactNode {
  const { isNew, isDefault, given, setGiven, field } = props;
  return (
    <>
      <TextField label="Client id" autoComplete="off" {...field('clientId')} />
      <TextField
        label="Client secret"
        type="password"
        autoComplete="off"
        hint={isNew ? 'It is sealed, and never shown again.' : 'Empty: the one that is kept.'}
        {...field('clientSecret')}
      />
      <TextArea
        label="Scopes"
        hint="What the client asks the customer for, apart by spaces or lines, as set at the provider."
        rows={3}
        {...field('scopes')}
      />
      {!isDefault && (
        <CheckField
          label="The default of its provider"
          hint="With which a connection is made when none is named."
          checked={given.isDefault}
          onChange={(isOn) => setGiven({ ...given, isDefault: isOn })}
        />
      )}
    </>
  );
}

function ProviderField(props: {
  value: string;
  issue: string | undefined;
  onChange: (value: string) => void;
}): ReactNode {
  const { data = [] } = useQuery(catalogueQuery);
  const options = data
    .filter(({ authType }) => authType === 'oauth2')
    .map(({ name, displayName }) => ({ value: name, label: displayName }));
  return (
    <SelectField
      label="Provider"
      {...props}
      options={[{ value: '', label: 'Choose a provider …' }, ...options]}
    />
  );
}

const useSave = (project: string, app: ProviderApp | undefined, onDone: () => void) =>
  useAct({
    project,
    nouns: ['provider-apps'],
    said: 'Saved',
    act: ({ first, given }: { first: Given; given: Given }): Promise<ProviderApp> => {
      const path = { projectIdOrName: project };
      const { provider, clientId, clientSecret, isDefault } = given;
      const scopes = wordsOf(given.scopes);
      if (!app)
        return answer(
          api.POST('/v1/projects/{projectIdOrName}/provider-apps', {
            params: { path },
            body: { provider, clientId, clientSecret, scopes, ...(isDefault ? { isDefault } : {}) },
          }),
        );
      const changed = {
        ...(clientId === first.clientId ? {} : { clientId }),
        ...(clientSecret === '' ? {} : { clientSecret }),
        ...(given.scopes === first.scopes ? {} : { scopes }),
        ...(isDefault && !first.isDefault ? { isDefault } : {}),
      };
      return answer(
        api.PATCH('/v1/projects/{projectIdOrName}/provider-apps/{providerAppId}', {
          params: { path: { ...path, providerAppId: app.id } },
          body: { updateMask: Object.keys(changed), providerApp: changed },
        }),
      );
    },
    onDone,
  });
