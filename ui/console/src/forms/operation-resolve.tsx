import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { OperationRecord } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { useRecords } from '../pages/operations/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Loading } from '../ui/page.tsx';
import { toast } from '../ui/toast.tsx';

type Found = 'applied' | 'notApplied';

const options = [
  { value: '', label: 'Choose what you found …' },
  { value: 'applied', label: 'It is there: it was written' },
  { value: 'notApplied', label: 'It is not there: it was not written' },
];

const about =
  'The request was sent and its answer was lost. Look at the provider whether the record is there, and say so here: a record that was not written may then be retried.';

/** Says of each record of unknown outcome what somebody found at the provider. */
export function ResolveOperation(props: {
  project: string;
  operationId: string;
  onClose: () => void;
}): ReactNode {
  const { project, operationId, onClose } = props;
  const client = useQueryClient();
  const path = { projectIdOrName: project, operationId };
  const [found, setFound] = useState<Record<number, Found>>({});
  const [ids, setIds] = useState<Record<number, string>>({});
  const list = useRecords(project, operationId);
  const unknown = list.items.filter(({ resolution }) => resolution === 'unknown');
  const chosen = unknown.filter(({ index }) => found[index] !== undefined);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/operations/{operationId}:resolve', {
          params: { path },
          body: { records: chosen.map(({ index }) => resolved(index, found[index], ids[index])) },
        }),
      ),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: [project, 'operations'] });
      toast('Resolved');
      onClose();
    },
  });
  return (
    <Dialog title="Resolve the unknown outcome" isOpen onClose={onClose} isWide={unknown.length > 1}>
      <Form
        submit="Resolve"
        isBusy={isPending}
        error={error}
        disabledFor={chosen.length === 0 ? 'Say of a record what you found' : undefined}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        <p className="muted">{about}</p>
        {list.isLoading && <Loading lines={2} />}
        {unknown.map((record) => (
          <RecordFound
            key={record.index}
            record={record}
            found={found[record.index]}
            recordId={ids[record.index] ?? ''}
            onFound={(value) => setFound({ ...found, [record.index]: value })}
            onId={(value) => setIds({ ...ids, [record.index]: value })}
          />
        ))}
      </Form>
    </Dialog>
  );
}

const resolved = (index: number, resolution: Found = 'notApplied', recordId = '') => ({
  index,
  resolution,
  ...(resolution === 'applied' && recordId ? { recordId } : {}),
});

function RecordFound(props: {
  record: OperationRecord;
  found: Found | undefined;
  recordId: string;
  onFound: (found: Found) => void;
  onId: (id: string) => void;
}): ReactNode {
  const { record, found = '', recordId, onFound, onId } = props;
  return (
    <div className="stack">
      <SelectField
        label={`Record ${record.index}${record.reference ? ` (${record.reference})` : ''}`}
        value={found}
        options={options}
        onChange={(value) => onFound(value as Found)}
      />
      {found === 'applied' && (
        <TextField label="Its id at the provider, if you know it" value={recordId} onChange={onId} />
      )}
    </div>
  );
}
