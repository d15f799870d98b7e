import { SvcError } from '@svc/client';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';

/**
 * A form: its fields, what its last sending said, and its buttons. Fields that show an issue of their own are named in `fields`, by the path
 * that the problem gives, and read it by `issueAt`.
 */
export function Form(props: {
  children: ReactNode;
  submit: string;
  isBusy: boolean;
  error: Error | null;
  fields?: readonly string[];
  look?: 'primary' | 'danger';
  disabledFor?: string | undefined;
  onSubmit: () => void;
  onCancel?: () => void;
}): ReactNode {
  const { submit, isBusy, error, fields = [], look = 'primary', disabledFor, onSubmit, onCancel } = props;
  const onSend = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!isBusy && disabledFor === undefined) onSubmit();
  };
  const isAllAtFields =
    error instanceof SvcError &&
    error.issues.length > 0 &&
    error.issues.every(({ name }) => fields.includes(name));
  return (
    <form className="form" onSubmit={onSend} noValidate>
      {props.children}
      {error && !isAllAtFields && <Problem error={error} shownAtFields={fields} />}
      <div className="form-actions">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" look={look} isBusy={isBusy} disabledFor={disabledFor}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** What a refusal says of one field. */
export const issueAt = (error: Error | null, path: string): string | undefined =>
  error instanceof SvcError ? error.issues.find(({ name }) => name === path)?.detail : undefined;
