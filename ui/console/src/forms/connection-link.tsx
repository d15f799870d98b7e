import { useMutation, useQuery } from '@tanstack/react-query';
import type { Connection } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { integrationsQuery } from '../pages/installations/queries.ts';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { Loading } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';
import { Time } from '../ui/time.tsx';

/** Makes the link by which the customer gives access again. */
export function ConnectionLink(props: {
  project: string;
  connection: Connection;
  onClose: () => void;
}): ReactNode {
  const { project, connection, onClose } = props;
  const { data, error } = useQuery(integrationsQuery(project));
  const fitting = data?.filter(({ provider }) => provider === connection.provider);
  return (
    <Dialog title="Connect again" isOpen onClose={onClose}>
      {error && <Problem error={error} />}
      {!fitting && !error && <Loading lines={3} />}
      {fitting?.length === 0 && (
        <p>
          No integration of this project is of {connection.provider}. Deploy one: the link leads the customer
          into it.
        </p>
      )}
      {fitting?.[0] && (
        <LinkForm {...props} first={fitting[0].name} names={fitting.map(({ name }) => name)} />
      )}
    </Dialog>
  );
}

function LinkForm(props: {
  project: string;
  connection: Connection;
  first: string;
  names: readonly string[];
  onClose: () => void;
}): ReactNode {
  const { project, connection, first, names, onClose } = props;
  const { group, consumer } = connection;
  const [integration, setIntegration] = useState(first);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/connect-links', {
          params: { path: { projectIdOrName: project } },
          body: { integration, groupRef: group.groupRef, consumerRef: consumer.consumerRef },
        }),
      ),
  });
  if (data)
    return (
      <div className="stack">
        <p>
          Whoever opens it acts as {consumer.consumerName} of {group.groupName}: send it to nobody else. It
          holds until <Time at={data.expiresAt} />.
        </p>
        <Code text={data.url ?? ''} label="Link" />
      </div>
    );
  return (
    <Form
      submit="Make the link"
      isBusy={isPending}
      error={error}
      fields={['integration']}
      onSubmit={() => mutate()}
      onCancel={onClose}
    >
      <p>
        A link for {consumer.consumerName} of {group.groupName} to give access to {connection.provider} again.
        What is installed stays as it is.
      </p>
      <SelectField
        label="Integration"
        value={integration}
        options={names.map((name) => ({ value: name, label: name }))}
        issue={issueAt(error, 'integration')}
        onChange={setIntegration}
      />
    </Form>
  );
}
