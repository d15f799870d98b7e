import { useMutation, useQuery } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Loading } from './page.tsx';
import { Problem } from './problem.tsx';

/** What one request of many did, or would do. */
export interface Step {
  done: number;
  refused: number;
  nextPageToken?: string | undefined;
}

/** `isDry` counts and does nothing. */
export type DoPage = (isDry: boolean, pageToken: string | undefined) => Promise<Step>;

const mostCounted = 1000;

async function walk(
  doPage: DoPage,
  isDry: boolean,
  onStep: (sum: Step) => void = () => undefined,
): Promise<Step> {
  let sum: Step = { done: 0, refused: 0 };
  for (;;) {
    const { done, refused, nextPageToken } = await doPage(isDry, sum.nextPageToken);
    sum = { done: sum.done + done, refused: sum.refused + refused, nextPageToken };
    onStep(sum);
    if (nextPageToken === undefined || (isDry && sum.done + sum.refused >= mostCounted)) return sum;
  }
}

/** Asks before it does something to many, with how many they are; says how far it is, and what was refused. */
export function Many(props: {
  title: string;
  /** What it does to `count`, as `Retry 12 operations`. */
  verb: (count: string) => string;
  about: ReactNode;
  doPage: DoPage;
  onDone: (sum: Step) => void;
  onClose: () => void;
}): ReactNode {
  const { title, verb, about, doPage, onDone, onClose } = props;
  const [sum, setSum] = useState<Step>();
  const count = useQuery({
    queryKey: ['many', useId()],
    queryFn: () => walk(doPage, true),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const act = useMutation({ mutationFn: () => walk(doPage, false, setSum), onSuccess: onDone });
  const counted = count.data && `${count.data.done}${count.data.nextPageToken ? ' or more' : ''}`;
  const isNone = count.data?.done === 0;
  return (
    <Dialog title={title} isOpen {...(act.isPending ? {} : { onClose })}>
      <div className="stack">
        <p className="muted">{about}</p>
        {count.isLoading && <Loading lines={1} />}
        {count.data && (
          <p className="many-count">
            <strong>{counted}</strong> {isNone ? 'match, so there is nothing to do.' : 'match.'}
            {count.data.refused > 0 && ` ${count.data.refused} more are left as they are.`}
          </p>
        )}
        {act.isPending && sum && <p role="status">{sum.done} done …</p>}
        {(count.error ?? act.error) && <Problem error={(count.error ?? act.error) as Error} />}
        <div className="form-actions">
          <Button onClick={onClose} disabledFor={act.isPending ? 'It is being done' : undefined}>
            Cancel
          </Button>
          <Button
            look="primary"
            isBusy={act.isPending}
            disabledFor={count.data && !isNone ? undefined : 'There is nothing to do it to'}
            onClick={() => act.mutate()}
          >
            {verb(counted ?? '…')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
