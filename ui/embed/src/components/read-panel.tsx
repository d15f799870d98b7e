import { useId, useMemo, useRef, type ReactNode } from 'react';
import type { ConfigContent, FieldMetadata, HydratedReadObject } from '@svc/client';
import { readConfigOf, type Edit, type ReadEdit } from '../state/draft.ts';
import {
  choosableFields,
  fieldsOf,
  mappingQuestions,
  suggestedValues,
  vanishedFields,
  type MappingQuestion,
  type OfferedMappings,
} from '../state/questions.ts';
import type { FormIssue } from '../state/save.ts';
import { useText } from '../text/index.tsx';
import { FieldList } from './field-list.tsx';
import { FieldPicker, type Choice } from './field-picker.tsx';
import { Filters } from './filters.tsx';
import { IssueText, issueText, Notice } from './ui.tsx';

export interface PanelProps {
  draft: ConfigContent;
  edit: (edit: Edit) => void;
  /** What is wrong at a place such as `read/contacts`. */
  issuesAt: (place: string) => readonly FormIssue[];
}

interface ReadPanelProps extends PanelProps {
  object: HydratedReadObject;
  offered?: OfferedMappings | undefined;
  /** Whether the provider can be asked for records by what they hold. */
  canFilter: boolean;
}

/** One object that is read: what comes in any case, what is matched, what is chosen, and how far back. */
export function ReadPanel({
  object,
  offered = {},
  canFilter,
  draft,
  edit,
  issuesAt,
}: ReadPanelProps): ReactNode {
  const t = useText();
  const { objectName } = object;
  const at = `read/${objectName}`;
  const config = readConfigOf(draft, objectName);
  const set = (change: ReadEdit): void => edit({ on: 'read', object: objectName, set: change });
  const choices = useMemo(() => fieldsOf(object).map(choiceOf), [object]);
  const optional = useMemo(
    () => choosableFields(object).map(({ fieldName, label }): Choice => ({ value: fieldName, label })),
    [object],
  );
  const required = (object.requiredFields ?? []).filter(({ fieldName }) => fieldName !== undefined);
  const questions = mappingQuestions(object, offered[objectName]);
  if (object.error !== undefined)
    return <Notice tone="warning">{t('objectFailed', { object: object.displayName })}</Notice>;
  return (
    <div className="svc-stack">
      <IssueText id={`${at}-issue`} issues={issuesAt(at)} />
      {required.length > 0 ? (
        <section className="svc-section">
          <h3>{t('requiredFields')}</h3>
          <ul className="svc-tags">
            {required.map(({ fieldName, displayName, mapToDisplayName }) => (
              <li key={fieldName} className="svc-tag" dir="auto">
                {mapToDisplayName ?? displayName ?? fieldName}
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {questions.length > 0 ? (
        <section className="svc-section">
          <h3>{t('mappings')}</h3>
          <p className="svc-hint">{t('mappingsIntro')}</p>
          {questions.map((question) => (
            <Mapping key={question.mapToName} {...{ question, object, choices, config, set, issuesAt }} />
          ))}
        </section>
      ) : null}
      <Chosen {...{ object, optional, config, set }} />
      {canFilter && choices.length > 0 ? (
        <Filters filters={config?.fieldFilters ?? []} {...{ object, choices, set, issuesAt }} />
      ) : null}
      <History config={config} set={set} />
    </div>
  );
}

interface ChosenProps extends Pick<MappingProps, 'object' | 'config' | 'set'> {
  optional: readonly Choice[];
}

/** What comes beside that, of the customer's choice. */
function Chosen({ object, optional, config, set }: ChosenProps): ReactNode {
  const t = useText();
  const vanished = vanishedFields(object, config);
  // One that is left out stays in sight, so that it is seen to be.
  const seen = useRef<readonly string[]>([]);
  seen.current = [...new Set([...seen.current, ...vanished])];
  const gone = seen.current;
  const note = t('objectUnavailable');
  const choices = useMemo(
    () => [...gone.map((value): Choice => ({ value, label: value, note })), ...optional],
    [optional, note, gone.join('\n')],
  );
  if (choices.length === 0) return null;
  const chosen = optional.filter(({ value }) => config?.selectedFields?.[value]).length;
  return (
    <section className="svc-section">
      <h3>{t('optionalFields')}</h3>
      <p className="svc-hint" aria-live="polite">
        {t('optionalIntro', { count: chosen, all: optional.length })}
      </p>
      {vanished.length > 0 ? (
        <Notice tone="warning">{t('vanishedChosen', { fields: vanished.join(', ') })}</Notice>
      ) : null}
      <FieldList
        choices={choices}
        gone={gone}
        chosen={Object.keys(config?.selectedFields ?? {}).filter((name) => config?.selectedFields?.[name])}
        isChosen={(value) => config?.selectedFields?.[value] === true}
        onChange={(fieldNames, selected) => set({ kind: 'fields', fieldNames, selected })}
      />
    </section>
  );
}

function choiceOf({ fieldName, displayName, valueType }: FieldMetadata): Choice {
  return { value: fieldName, label: displayName, note: valueType };
}

interface MappingProps {
  question: MappingQuestion;
  object: HydratedReadObject;
  choices: readonly Choice[];
  config: ReturnType<typeof readConfigOf>;
  set: (change: ReadEdit) => void;
  issuesAt: PanelProps['issuesAt'];
}

function Mapping({ question, object, choices, config, set, issuesAt }: MappingProps): ReactNode {
  const t = useText();
  const { mapToName, label, prompt, isRequired, values } = question;
  const at = `read/${object.objectName}`;
  const fieldName = config?.selectedFieldMappings?.[mapToName];
  const field = fieldName === undefined ? undefined : object.allFieldsMetadata?.[fieldName];
  const isGone = fieldName !== undefined && object.allFieldsMetadata !== undefined && !field;
  const [issue] = issuesAt(`${at}/mapping/${mapToName}`);
  const choose = (next: string | undefined): void => {
    set({ kind: 'mapping', mapToName, fieldName: next });
    if (values.length === 0) return;
    if (fieldName !== undefined) set({ kind: 'values', fieldName, values: undefined });
    if (next === undefined) return;
    const suggested = suggestedValues(question, object.allFieldsMetadata?.[next]);
    set({ kind: 'values', fieldName: next, values: suggested });
  };
  return (
    <div className="svc-mapping">
      <FieldPicker
        label={
          <>
            <bdi>{label}</bdi> <span className="svc-muted">({t(isRequired ? 'required' : 'optional')})</span>
          </>
        }
        hint={prompt}
        choices={choices}
        value={fieldName}
        issue={isGone ? t('vanished', { field: fieldName }) : issue && issueText(issue, t)}
        onChange={choose}
      />
      {fieldName !== undefined && field?.values && values.length > 0 ? (
        <Values
          question={question}
          field={field}
          config={config}
          set={set}
          issues={issuesAt(`${at}/values/${fieldName}`)}
        />
      ) : null}
    </div>
  );
}

interface ValuesProps {
  question: MappingQuestion;
  field: FieldMetadata;
  config: ReturnType<typeof readConfigOf>;
  set: (change: ReadEdit) => void;
  issues: readonly FormIssue[];
}

/** Each value of the builder's beside the one of the provider's that stands for it; either side may have more. */
function Values({ question, field, config, set, issues }: ValuesProps): ReactNode {
  const t = useText();
  const id = useId();
  const { fieldName } = field;
  const mapped = config?.selectedValueMappings?.[fieldName] ?? {};
  const change = (value: string, theirs: string): void => {
    const rest = Object.entries(mapped).filter(([each]) => each !== value);
    const values = Object.fromEntries(theirs === '' ? rest : [...rest, [value, theirs]]);
    set({ kind: 'values', fieldName, values });
  };
  return (
    <fieldset className="svc-values">
      <legend>{t('values', { field: field.displayName })}</legend>
      {question.values.map(({ value, label }, index) => (
        <div key={value} className="svc-value">
          <bdi id={`${id}-${index}`}>{label}</bdi>
          <span className="svc-arrow" aria-hidden="true" />
          <select
            className="svc-input"
            aria-labelledby={`${id}-${index}`}
            value={mapped[value] ?? ''}
            onChange={(event) => change(value, event.target.value)}
          >
            <option value="">{t('notShared')}</option>
            {field.values?.map((one) => (
              <option key={one.value} value={one.value}>
                {one.displayValue}
              </option>
            ))}
          </select>
        </div>
      ))}
      <IssueText id={`${fieldName}-values`} issues={issues} />
    </fieldset>
  );
}

const offeredDays = [30, 90, 365];

function History({ config, set }: Pick<MappingProps, 'config' | 'set'>): ReactNode {
  const t = useText();
  const period = config?.backfill?.defaultPeriod;
  const value = !period ? '' : period.fullHistory ? 'all' : String(period.days ?? '');
  const days = [...new Set([...offeredDays, ...(period?.days ? [period.days] : [])])].toSorted(
    (a, b) => a - b,
  );
  const change = (next: string): void => {
    const chosen =
      next === '' ? undefined : next === 'all' ? { fullHistory: true as const } : { days: Number(next) };
    set({ kind: 'backfill', period: chosen });
  };
  return (
    <section className="svc-section">
      <label className="svc-field">
        <span className="svc-h3">{t('history')}</span>
        <select className="svc-input" value={value} onChange={(event) => change(event.target.value)}>
          <option value="">{t('historyDefault')}</option>
          <option value="0">{t('historyNone')}</option>
          {days.map((count) => (
            <option key={count} value={count}>
              {t('historyDays', { days: count })}
            </option>
          ))}
          <option value="all">{t('historyAll')}</option>
        </select>
      </label>
    </section>
  );
}
