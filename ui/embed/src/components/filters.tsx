import type { ReactNode } from 'react';
import type { FieldFilter, FieldMetadata, HydratedReadObject } from '@svc/client';
import type { ReadEdit } from '../state/draft.ts';
import { isGone, isValueGone } from '../state/questions.ts';
import type { FormIssue } from '../state/save.ts';
import { memberOf } from '../state/member.ts';
import { useText, type Translate } from '../text/index.tsx';
import { FieldPicker, type Choice } from './field-picker.tsx';
import { Button, issueText, TextField } from './ui.tsx';

interface FiltersProps {
  object: HydratedReadObject;
  choices: readonly Choice[];
  filters: readonly FieldFilter[];
  set: (change: ReadEdit) => void;
  /** What is wrong with the filter at this place. */
  issuesAt: (place: string) => readonly FormIssue[];
}

/** Only records that have these values are read. */
export function Filters({ object, choices, filters, set, issuesAt }: FiltersProps): ReactNode {
  const t = useText();
  const put = (next: readonly FieldFilter[]): void => set({ kind: 'filters', filters: next });
  return (
    <section className="svc-section">
      <h3>{t('filters')}</h3>
      <p className="svc-hint">{t('filtersIntro')}</p>
      {filters.map((filter, index) => (
        <Filter
          key={`${index} ${filter.fieldName}`}
          filter={filter}
          field={memberOf(object.allFieldsMetadata, filter.fieldName)}
          issue={
            goneText(object, filter, t) ??
            issuesAt(`read/${object.objectName}/filter/${index}`).map((one) => issueText(one, t))[0]
          }
          onChange={(value) => put(filters.map((one, at) => (at === index ? { ...one, value } : one)))}
          onRemove={() => put(filters.filter((_one, at) => at !== index))}
        />
      ))}
      <FieldPicker
        key={filters.length}
        label={t('addFilter')}
        choices={choices}
        value={undefined}
        onChange={(fieldName) => {
          if (fieldName !== undefined) put([...filters, { fieldName, operator: 'eq', value: '' }]);
        }}
      />
    </section>
  );
}

/** What the account does not have any more of a filter, and what to do about it. */
function goneText(
  object: HydratedReadObject,
  { fieldName, value }: FieldFilter,
  t: Translate,
): string | undefined {
  if (isGone(object, fieldName)) return t('filterVanished', { field: fieldName });
  const text = String(value);
  return isValueGone(memberOf(object.allFieldsMetadata, fieldName), text)
    ? t('filterValueVanished', { value: text })
    : undefined;
}

interface FilterProps {
  filter: FieldFilter;
  field: FieldMetadata | undefined;
  issue: ReactNode;
  onChange: (value: FieldFilter['value']) => void;
  onRemove: () => void;
}

function Filter({ filter, field, issue, onChange, onRemove }: FilterProps): ReactNode {
  const t = useText();
  const label = field?.displayName ?? filter.fieldName;
  const values = valuesOf(field);
  const example = field && examples[field.valueType];
  return (
    <div className="svc-filter">
      <TextField
        label={t('filterIs', { field: label })}
        required
        dir="auto"
        hint={example === undefined ? undefined : t('filterSuchAs', { example })}
        issue={issue}
        value={String(filter.value)}
        options={values}
        onChange={(text) => onChange(typedValue(text, field))}
      />
      <Button look="quiet" aria-label={t('removeFilter', { field: label })} onClick={onRemove}>
        ×
      </Button>
    </div>
  );
}

/** Nobody guesses how a time is written. */
const examples: Partial<Record<FieldMetadata['valueType'], string>> = {
  date: '2026-01-31',
  datetime: '2026-01-31T09:00:00Z',
};

function valuesOf(field: FieldMetadata | undefined): [string, string][] | undefined {
  if (field?.valueType === 'boolean') return ['true', 'false'].map((value) => [value, value]);
  return field?.values?.map(({ value, displayValue }) => [value, displayValue]);
}

/** As the field has it: a number that a person has typed is one. */
function typedValue(text: string, field: FieldMetadata | undefined): FieldFilter['value'] {
  if (field?.valueType === 'boolean' && text !== '') return text === 'true';
  const isNumber = field?.valueType === 'int' || field?.valueType === 'float';
  return isNumber && /^-?\d{1,15}(\.\d{1,10})?$/.test(text) ? Number(text) : text;
}
