import {
  useEffect,
  useId,
  useState,
  type ButtonHTMLAttributes,
  type InputHTMLAttributes,
  type ReactNode,
} from 'react';
import { SvcError } from '@svc/client';
import type { FormIssue } from '../state/save.ts';
import { useText, type TextKey, type Translate } from '../text/index.tsx';

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

/** What failed, in words for a person; what a builder needs stands behind a fold. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }): ReactNode {
  const t = useText();
  const problem = error instanceof SvcError ? error : undefined;
  return (
    <Notice tone="bad" actions={onRetry ? <Button onClick={onRetry}>{t('tryAgain')}</Button> : undefined}>
      <p>{sentenceOf(error, t)}</p>
      {problem?.requestId ? (
        <details>
          <summary>{t('details')}</summary>
          <p>
            {problem.code}. {t('reference', { requestId: problem.requestId })}
          </p>
        </details>
      ) : null}
    </Notice>
  );
}

/** What a person can do about, in their words. */
const sentences: Readonly<Partial<Record<string, TextKey>>> = {
  unreachable: 'offline',
  'token-missing': 'tokenMissing',
  'token-unavailable': 'tokenDown',
  'provider-unreachable': 'providerDown',
  'provider-rate-limited': 'providerBusy',
  'connection-bad-credentials': 'connectionOver',
  'no-usable-connection': 'connectionOver',
};

/** Whether connecting again is what helps. */
export function isConnectionOver(error: Error): boolean {
  return error instanceof SvcError && sentences[error.code] === 'connectionOver';
}

function sentenceOf(error: Error, t: Translate): string {
  const code = error instanceof SvcError ? error.code : undefined;
  const known = code === undefined ? undefined : sentences[code];
  if (known) return t(known);
  if (code === 'unauthenticated') return t('sessionOver', { window: t('thisPage') });
  return t('failed', { reason: error instanceof SvcError ? error.detail : error.message });
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

export function issueText(issue: FormIssue, t: Translate): string {
  return typeof issue.text === 'string' ? t(issue.text) : issue.text.said;
}

/** What is wrong at a place of the form; `id` so that its field can name it. */
export function IssueText({ id, issues }: { id: string; issues: readonly FormIssue[] }): ReactNode {
  const t = useText();
  if (issues.length === 0) return null;
  return (
    <p className="svc-issue" id={id} role="alert">
      {issues.map((issue) => issueText(issue, t)).join(' ')}
    </p>
  );
}

interface TextFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> {
  label: string;
  hint?: string | undefined;
  help?: string | undefined;
  issue?: string | undefined;
  onChange: (value: string) => void;
  /** Values, or values with what is shown for them. */
  options?: readonly (string | { value: string; label: string })[] | undefined;
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
        <select
          {...common}
          value={String(input.value ?? '')}
          onChange={(event) => onChange(event.target.value)}
        >
          <option value="">{t('choose')}</option>
          {options.map((option) => {
            const { value, label: shown } =
              typeof option === 'string' ? { value: option, label: option } : option;
            return (
              <option key={value} value={value}>
                {shown}
              </option>
            );
          })}
        </select>
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
