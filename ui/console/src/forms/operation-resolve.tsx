import type { OperationRecord, ResolveOperationRequest } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { useRecords } from '../pages/operations/queries.ts';
import { nameOf, RecordContent } from '../pages/operations/record.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Loading } from '../ui/page.tsx';

type Found = 'applied' | 'notApplied';

/** What somebody says of one record. */
interface Said {
  found?: Found | '';
  recordId?: string;
}

const options = [
  { value: '', label: 'Choose what you found …' },
  { value: 'applied', label: 'It is there: it was written' },
  { value: 'notApplied', label: 'It is not there: it was not written' },
];

const optionsForAll = [{ value: '', label: 'Each on its own' }, ...options.slice(1)];

const about =
  'The request was sent and its answer was lost. Look at the provider whether the record is there, and say so here: a record that was not written may then be retried.';

/** Says what somebody found at the provider: the same of all records of unknown outcome, or of each its own. */
export function ResolveOperation(props: {
  project: string;
  operationId: string;
  onClose: () => void;
}): ReactNode {
  const { project, operationId, onClose } = props;
  const [ofAll, setOfAll] = useState<Found | ''>('');
  const [ofEach, setOfEach] = useState<Readonly<Record<number, Said>>>({});
  const list = useRecords(project, operationId);
  const unknown = list.items.filter(({ resolution }) => resolution === 'unknown');
  const named = unknown.flatMap(({ index }) => resolved(index, ofEach[index]));
  const { mutate, isPending, error } = useResolving(project, operationId, onClose);
  const isMany = unknown.length > 1;
  return (
    <Dialog title="Resolve the unknown outcome" isOpen onClose={onClose} isWide={isMany}>
      <Form
        submit="Resolve"
        isBusy={isPending}
        error={error}
        disabledFor={ofAll || named.length > 0 ? undefined : 'Say of a record what you found'}
        onSubmit={() => mutate(ofAll ? { resolution: ofAll } : { records: named })}
        onCancel={onClose}
      >
        <p className="muted">{about}</p>
        {list.isLoading && <Loading lines={2} />}
        {isMany && (
          <SelectField
            label={`All ${unknown.length} records`}
            value={ofAll}
            options={optionsForAll}
            onChange={(value) => setOfAll(value as Found | '')}
          />
        )}
        {unknown.map((record) => (
          <div key={record.index} className="stack">
            {!ofAll && (
              <RecordFound
                record={record}
                said={ofEach[record.index]}
                onSaid={(said) => setOfEach({ ...ofEach, [record.index]: said })}
              />
            )}
            <Asked {...{ project, operationId, record }} />
          </div>
        ))}
      </Form>
    </Dialog>
  );
}

function useResolving(project: string, operationId: string, onDone: () => void) {
  return useAct({
    project,
    nouns: ['operations'],
    said: 'Resolved',
    act: (body: ResolveOperationRequest) =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/operations/{operationId}:resolve', {
          params: { path: { projectIdOrName: project, operationId } },
          body,
        }),
      ),
    onDone,
  });
}

/** What is sent of one record; nothing while nobody said what they found. */
const resolved = (index: number, { found, recordId = '' }: Said = {}) =>
  found ? [{ index, resolution: found, ...(found === 'applied' && recordId ? { recordId } : {}) }] : [];

function RecordFound(props: {
  record: OperationRecord;
  said: Said | undefined;
  onSaid: (said: Said) => void;
}): ReactNode {
  const { record, said = {}, onSaid } = props;
  return (
    <>
      <SelectField
        label={nameOf(record)}
        value={said.found ?? ''}
        options={options}
        onChange={(found) => onSaid({ ...said, found: found as Found | '' })}
      />
      {said.found === 'applied' && (
        <TextField
          label="Its id at the provider, if you know it"
          value={said.recordId ?? ''}
          onChange={(recordId) => onSaid({ ...said, recordId })}
        />
      )}
    </>
  );
}

/** What was asked of a record, once somebody wants to see it. */
function Asked(props: { project: string; operationId: string; record: OperationRecord }): ReactNode {
  const { project, operationId, record } = props;
  const [isShown, setShown] = useState(false);
  if (isShown) return <RecordContent project={project} operationId={operationId} index={record.index} />;
  return (
    <Button look="quiet" onClick={() => setShown(true)}>
      {nameOf(record)}: show what was asked
    </Button>
  );
}
