import { useId, useMemo, useRef, type ReactNode } from 'react';
import type { ConfigContent, FieldMetadata, HydratedReadObject } from '@svc/client';
import { readConfigOf, type Edit, type ReadEdit } from '../state/draft.ts';
import {
  choosableFields,
  fieldsOf,
  mappingQuestions,
  translatedBy,
  unofferedFields,
  unofferedMappings,
  vanishedFields,
  withMapping,
  withoutMapping,
  withValue,
  type MappingQuestion,
} from '../state/questions.ts';
import type { OfferedMappings } from '../state/offered.ts';
import type { FormIssue } from '../state/save.ts';
import { historyOf } from '../state/wizard.ts';
import { memberOf } from '../state/member.ts';
import { useText, type Translate } from '../text/index.tsx';
import { FieldList } from './field-list.tsx';
import { FieldPicker, type Choice } from './field-picker.tsx';
import { Filters } from './filters.tsx';
import { LeftMappings } from './left-mappings.tsx';
import { IssueText, issueText, Notice, Select } from './ui.tsx';

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
  /** What is read at the beginning is read once, when the object is new. */
  isNew: boolean;
  change: (change: (draft: ConfigContent) => ConfigContent) => void;
}

/** One object that is read: what comes in any case, what is matched, what is chosen, and how far back. */
export function ReadPanel({
  object,
  offered = {},
  canFilter,
  isNew,
  draft,
  edit,
  change,
  issuesAt,
}: ReadPanelProps): ReactNode {
  const t = useText();
  const { objectName } = object;
  const at = `read/${objectName}`;
  const config = readConfigOf(draft, objectName);
  const set = (made: ReadEdit): void => edit({ on: 'read', object: objectName, set: made });
  const choices = useMemo(() => fieldsOf(object).map(choiceOf), [object]);
  const optional = useMemo(
    () => choosableFields(object).map(({ fieldName, label }): Choice => ({ value: fieldName, label })),
    [object],
  );
  const questions = mappingQuestions(object, memberOf(offered, objectName));
  if (object.error !== undefined)
    return <Notice tone="warning">{t('objectFailed', { object: object.displayName })}</Notice>;
  return (
    <div className="svc-stack">
      <IssueText id={`${at}-issue`} issues={issuesAt(at)} />
      <Always object={object} />
      {questions.length > 0 ? (
        <section className="svc-section">
          <h3>{t('mappings')}</h3>
          <p className="svc-hint">{t('mappingsIntro')}</p>
          {questions.map((question) => (
            <Mapping
              key={question.mapToName}
              {...{ question, questions, object, choices, config, change, set, issuesAt }}
            />
          ))}
        </section>
      ) : null}
      <LeftMappings
        left={unofferedMappings(object, questions, config)}
        onLeave={(mapToName) => change((now) => withoutMapping(now, objectName, mapToName))}
      />
      <Chosen {...{ object, optional, config, set }} />
      {canFilter && choices.length > 0 ? (
        <Filters filters={config?.fieldFilters ?? []} {...{ object, choices, set, issuesAt }} />
      ) : null}
      {isNew ? <History {...{ object, config, set }} /> : null}
    </div>
  );
}

/** What comes in any case. */
function Always({ object: { requiredFields = [] } }: Pick<ReadPanelProps, 'object'>): ReactNode {
  const t = useText();
  const required = requiredFields.filter(({ fieldName }) => fieldName !== undefined);
  if (required.length === 0) return null;
  return (
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
  );
}

interface ChosenProps extends Pick<MappingProps, 'object' | 'config' | 'set'> {
  optional: readonly Choice[];
}

/** What comes beside that, of the customer's choice. */
function Chosen({ object, optional, config, set }: ChosenProps): ReactNode {
  const t = useText();
  const vanished = vanishedFields(object, config);
  const unoffered = unofferedFields(object, config);
  const { gone, choices } = useGone(optional, [
    ...vanished.map((value): Choice => ({ value, label: value, note: t('objectUnavailable') })),
    ...unoffered.map(({ fieldName, label }): Choice => ({
      value: fieldName,
      label,
      note: t('fieldUnoffered'),
    })),
  ]);
  if (choices.length === 0) return null;
  const chosen = optional.filter(({ value }) => memberOf(config?.selectedFields, value)).length;
  return (
    <section className="svc-section">
      <h3>{t('optionalFields')}</h3>
      <p className="svc-hint" aria-live="polite">
        {t('optionalIntro', { count: chosen, all: optional.length })}
      </p>
      {vanished.length > 0 ? (
        <Notice tone="warning">{t('vanishedChosen', { fields: vanished.join(', ') })}</Notice>
      ) : null}
      {unoffered.length > 0 ? (
        <Notice tone="info">
          {t('unofferedChosen', { fields: unoffered.map(({ label }) => label).join(', ') })}
        </Notice>
      ) : null}
      <FieldList
        choices={choices}
        gone={gone}
        chosen={Object.keys(config?.selectedFields ?? {}).filter((name) =>
          memberOf(config?.selectedFields, name),
        )}
        isChosen={(value) => memberOf(config?.selectedFields, value) === true}
        onChange={(fieldNames, selected) => set({ kind: 'fields', fieldNames, selected })}
      />
    </section>
  );
}

/** What can only be left out, before what can be chosen. One that is left out stays in sight, so that it is seen to be. */
function useGone(optional: readonly Choice[], now: readonly Choice[]) {
  const seen = useRef<readonly Choice[]>([]);
  seen.current = [...new Map([...seen.current, ...now].map((one) => [one.value, one])).values()];
  const offered = useMemo(() => new Set(optional.map(({ value }) => value)), [optional]);
  const left = seen.current.filter(({ value }) => !offered.has(value));
  const mark = left.map(({ value, note }) => `${value} ${note}`).join('\n');
  return useMemo(
    () => ({ gone: left.map(({ value }) => value), choices: [...left, ...optional] }),
    [optional, mark],
  );
}

function choiceOf({ fieldName, displayName, valueType }: FieldMetadata): Choice {
  return { value: fieldName, label: displayName, note: valueType };
}

interface MappingProps extends Pick<ReadPanelProps, 'change'> {
  question: MappingQuestion;
  questions: readonly MappingQuestion[];
  object: HydratedReadObject;
  choices: readonly Choice[];
  config: ReturnType<typeof readConfigOf>;
  set: (change: ReadEdit) => void;
  issuesAt: PanelProps['issuesAt'];
}

function Mapping({ question, questions, object, config, issuesAt, ...on }: MappingProps): ReactNode {
  const t = useText();
  const { mapToName, label, prompt, isRequired, values } = question;
  const at = `read/${object.objectName}`;
  const fieldName = memberOf(config?.selectedFieldMappings, mapToName);
  const field = fieldName === undefined ? undefined : memberOf(object.allFieldsMetadata, fieldName);
  const isGone = fieldName !== undefined && object.allFieldsMetadata !== undefined && !field;
  const [issue] = issuesAt(`${at}/mapping/${mapToName}`);
  const translator = translatedBy(question, questions, config);
  const wrong = isGone
    ? t('vanished', { field: fieldName })
    : translator
      ? t('fieldTranslated', { name: translator.label })
      : issue && issueText(issue, t);
  return (
    <div className="svc-mapping">
      <FieldPicker
        label={label}
        mark={t(isRequired ? 'required' : 'optional')}
        hint={prompt}
        choices={on.choices}
        value={fieldName}
        issue={wrong}
        onChange={(next) =>
          on.change((draft) => withMapping(draft, object, questions, { question, fieldName: next }))
        }
      />
      {fieldName !== undefined && field?.values && values.length > 0 && !translator ? (
        <Values
          question={question}
          field={field}
          config={config}
          set={on.set}
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
  const values = memberOf(config?.selectedValueMappings, fieldName) ?? {};
  const mapped = new Map(Object.entries(values));
  const change = (value: string, theirs: string): void =>
    set({ kind: 'values', fieldName, values: withValue(values, question, value, theirs) });
  return (
    <fieldset className="svc-values">
      <legend>{t('values', { field: field.displayName })}</legend>
      {question.values.map(({ value, label }, index) => (
        <div key={value} className="svc-value">
          <bdi id={`${id}-${index}`}>{label}</bdi>
          <span className="svc-arrow" aria-hidden="true" />
          <Select
            aria-labelledby={`${id}-${index}`}
            value={mapped.get(value) ?? ''}
            options={[
              ['', t('notShared')],
              ...(field.values ?? []).map((one) => [one.value, one.displayValue] as const),
            ]}
            onChange={(theirs) => change(value, theirs)}
          />
        </div>
      ))}
      <IssueText id={`${fieldName}-values`} issues={issues} />
    </fieldset>
  );
}

const offeredDays = [30, 90, 365];

/** How much of what exists is read, in words. */
export function historyText(days: ReturnType<typeof historyOf>, t: Translate): string {
  if (days === 'all') return t('historyAll');
  return days === 0 ? t('historyNone') : t('historyDays', { days });
}

function History({ object, config, set }: Pick<MappingProps, 'object' | 'config' | 'set'>): ReactNode {
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
        <Select
          value={value}
          options={[
            ['', t('historyDefault', { period: historyText(historyOf(undefined, object), t) })],
            ...[0, ...days].map((count) => [String(count), historyText(count, t)] as const),
            ['all', historyText('all', t)],
          ]}
          onChange={change}
        />
      </label>
    </section>
  );
}
