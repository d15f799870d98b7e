import {
  Fragment,
  useEffect,
  useId,
  useState,
  type ButtonHTMLAttributes,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
} from 'react';
import type { SvcError } from '@svc/client';
import type { FormIssue } from '../state/save.ts';
import { useText, type Translate } from '../text/index.tsx';
import { openTexts, problemTexts } from '../text/problems.ts';

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: 'primary' | 'plain' | 'quiet' | 'danger';
};

export function Button({ look = 'plain', className, ...props }: ButtonProps): ReactNode {
  return <button type="button" {...props} className={`svc-button svc-button-${look} ${className ?? ''}`} />;
}

/** A button that works: it keeps its place, and takes no second click. */
export function BusyButton({
  busy,
  busyText,
  children,
  ...props
}: ButtonProps & { busy: boolean; busyText: string }): ReactNode {
  return (
    <Button
      {...props}
      aria-disabled={busy || props.disabled}
      onClick={(event) => (busy ? undefined : props.onClick?.(event))}
    >
      {busy ? <span className="svc-spinner" aria-hidden="true" /> : null}
      {busy ? busyText : children}
    </Button>
  );
}

type Tone = 'info' | 'good' | 'warning' | 'bad';

export function Notice({
  tone,
  children,
  actions,
}: {
  tone: Tone;
  children: ReactNode;
  actions?: ReactNode;
}): ReactNode {
  return (
    <div className={`svc-notice svc-notice-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <div className="svc-notice-text">{children}</div>
      {actions ? <div className="svc-notice-actions">{actions}</div> : null}
    </div>
  );
}

/** What failed, in words for a person; what a builder needs stands behind a fold, unless only that says what is wrong. */
export function Failure({ error, onRetry }: { error: SvcError; onRetry?: () => void }): ReactNode {
  const t = useText();
  const known = problemTexts[error.code];
  const isOpen = known === undefined || openTexts.includes(known);
  return (
    <Notice tone="bad" actions={onRetry ? <Button onClick={onRetry}>{t('tryAgain')}</Button> : undefined}>
      <p>{t(known ?? 'failed', { window: t('thisPage') })}</p>
      {isOpen ? (
        <p>
          <Said>{[error.detail ?? error.message, ...saidOf(error)].join(' ')}</Said>
        </p>
      ) : null}
      {error.requestId ? (
        <details>
          <summary>{t('details')}</summary>
          {isOpen || error.detail === undefined ? null : (
            <p>
              <Said>{error.detail}</Said>
            </p>
          )}
          <p>
            {error.code}. {t('reference', { requestId: error.requestId })}
          </p>
        </details>
      ) : null}
    </Notice>
  );
}

/** What is wrong in particular, where the sentence does not have it. */
function saidOf({ issues, detail }: SvcError): string[] {
  return issues.filter((issue) => !detail.includes(issue.detail)).map((issue) => issue.detail);
}

/** Whether connecting again is what helps. */
export function isConnectionOver({ code }: SvcError): boolean {
  return problemTexts[code] === 'connectionDead';
}

const slowAfterMs = 5_000;

/** Whether something is under way for longer than a person expects. */
export function useSlow(isBusy: boolean): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!isBusy) return undefined;
    const timer = setTimeout(() => setSlow(true), slowAfterMs);
    return () => clearTimeout(timer);
  }, [isBusy]);
  return isSlow;
}

/** Grey bars in the place of what is on its way. */
export function Loading(): ReactNode {
  const t = useText();
  const isSlow = useSlow(true);
  return (
    <div className="svc-loading" role="status">
      {isSlow ? <p className="svc-hint">{t('slow')}</p> : <span className="svc-hidden">{t('loading')}</span>}
      <i />
      <i />
      <i />
    </div>
  );
}

/** What svc says of a value, in English whatever the page speaks. */
export function Said({ children }: { children: string }): ReactNode {
  return <bdi lang="en">{children}</bdi>;
}

export function issueText(issue: FormIssue, t: Translate): ReactNode {
  return typeof issue.text === 'string' ? t(issue.text, issue.values) : <Said>{issue.text.said}</Said>;
}

/** What is wrong at a place of the form; `id` so that its field can name it. */
export function IssueText({ id, issues }: { id: string; issues: readonly FormIssue[] }): ReactNode {
  const t = useText();
  if (issues.length === 0) return null;
  return (
    <p className="svc-issue" id={id} role="alert">
      {issues.map((issue, index) => (
        <Fragment key={index}>{issueText(issue, t)} </Fragment>
      ))}
    </p>
  );
}

interface SelectProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> {
  /** Values with what is shown for them. */
  options: readonly (readonly [value: string, label: string])[];
  value: string;
  onChange: (value: string) => void;
}

/** One of a few. A value that is not offered any more is shown until another is chosen. */
export function Select({ options, value, onChange, ...props }: SelectProps): ReactNode {
  const isOffered = options.some(([each]) => each === value);
  const all = isOffered ? options : [...options, [value, value] as const];
  return (
    <select className="svc-input" {...props} value={value} onChange={(event) => onChange(event.target.value)}>
      {all.map(([each, label]) => (
        <option key={each} value={each}>
          {label}
        </option>
      ))}
    </select>
  );
}

interface TextFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> {
  label: string;
  hint?: string | undefined;
  help?: string | undefined;
  issue?: ReactNode;
  onChange: (value: string) => void;
  options?: SelectProps['options'] | undefined;
}

export function TextField({
  label,
  hint,
  help,
  issue,
  onChange,
  options,
  ...input
}: TextFieldProps): ReactNode {
  const t = useText();
  const id = useId();
  const described = [hint ? `${id}-hint` : '', issue ? `${id}-issue` : ''].filter(Boolean).join(' ');
  const common = {
    id,
    className: 'svc-input',
    'aria-invalid': issue ? true : undefined,
    'aria-describedby': described || undefined,
  } as const;
  return (
    <div className="svc-field">
      <FieldHead id={id} label={label} hint={hint} help={help} isRequired={input.required === true} />
      {options ? (
        <Select
          {...common}
          value={String(input.value ?? '')}
          options={[['', t('choose')], ...options]}
          onChange={onChange}
        />
      ) : (
        <input {...input} {...common} onChange={(event) => onChange(event.target.value)} />
      )}
      {issue ? (
        <p className="svc-issue" id={`${id}-issue`}>
          {issue}
        </p>
      ) : null}
    </div>
  );
}

type HeadProps = Pick<TextFieldProps, 'label' | 'hint' | 'help'> & { id: string; isRequired: boolean };

function FieldHead({ id, label, hint, help, isRequired }: HeadProps): ReactNode {
  const t = useText();
  return (
    <>
      <div className="svc-field-head">
        <label htmlFor={id}>
          {label}
          {isRequired ? null : <span className="svc-muted"> ({t('optional')})</span>}
        </label>
        {help ? (
          <a href={help} target="_blank" rel="noreferrer">
            {t('help')}
          </a>
        ) : null}
      </div>
      {hint ? (
        <p className="svc-hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
    </>
  );
}

interface ToggleProps {
  label: ReactNode;
  hint?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

/** A switch. */
export function Toggle({ label, hint, checked, disabled, onChange }: ToggleProps): ReactNode {
  const id = useId();
  return (
    <label className="svc-toggle">
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint ? id : undefined}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className="svc-toggle-text">
        {label}
        {hint ? (
          <span className="svc-hint" id={id}>
            {hint}
          </span>
        ) : null}
      </span>
    </label>
  );
}
