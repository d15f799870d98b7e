import { useId, type ComponentProps, type ReactNode } from 'react';
import { Select, type Option } from './select.tsx';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  /** What is wrong with it. */
  issue?: string | undefined;
}

function Field(props: FieldProps & { id: string; children: ReactNode }): ReactNode {
  const { id, label, hint, issue, children } = props;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      {children}
      {issue && (
        <p id={`${id}-issue`} className="field-issue">
          {issue}
        </p>
      )}
    </div>
  );
}

const describedBy = (id: string, { hint, issue }: FieldProps): string =>
  [hint && `${id}-hint`, issue && `${id}-issue`].filter(Boolean).join(' ');

/** A line of text. */
export function TextField(
  props: FieldProps & Omit<ComponentProps<'input'>, 'onChange'> & { onChange: (value: string) => void },
): ReactNode {
  const { label, hint, issue, onChange, ...rest } = props;
  const id = useId();
  return (
    <Field id={id} {...{ label, hint, issue }}>
      <input
        {...rest}
        id={id}
        className="input"
        aria-invalid={issue !== undefined || undefined}
        aria-describedby={describedBy(id, props) || undefined}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

/** Several lines of text. */
export function TextArea(
  props: FieldProps & Omit<ComponentProps<'textarea'>, 'onChange'> & { onChange: (value: string) => void },
): ReactNode {
  const { label, hint, issue, onChange, ...rest } = props;
  const id = useId();
  return (
    <Field id={id} {...{ label, hint, issue }}>
      <textarea
        rows={6}
        {...rest}
        id={id}
        className="input"
        aria-invalid={issue !== undefined || undefined}
        aria-describedby={describedBy(id, props) || undefined}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

/** One of a few, in a form. */
export function SelectField(
  props: FieldProps & { value: string; options: readonly Option[]; onChange: (value: string) => void },
): ReactNode {
  const id = useId();
  return (
    <Field id={id} {...props}>
      <Select
        id={id}
        label={props.label}
        value={props.value}
        options={props.options}
        onChange={props.onChange}
      />
    </Field>
  );
}

/** Yes or no. */
export function CheckField(props: {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
}): ReactNode {
  const id = useId();
  return (
    <div className="check">
      <input
        id={id}
        type="checkbox"
        checked={props.checked}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      <label htmlFor={id}>{props.label}</label>
      {props.hint && (
        <p id={`${id}-hint`} className="field-hint">
          {props.hint}
        </p>
      )}
    </div>
  );
}
