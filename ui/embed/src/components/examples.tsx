import { useState, type ReactNode } from 'react';
import type {
  ConfigContent,
  Connection,
  HydratedReadObject,
  HydratedRevision,
  ReadPreview,
  SvcError,
} from '@svc/client';
import { usePreviews } from '../hooks/previews.ts';
import { useProviderInfo } from '../hooks/queries.ts';
import { readConfigOf } from '../state/draft.ts';
import {
  deliveredValues,
  draftOf,
  exampleOf,
  sentValues,
  type ExampleRecords,
  type SentValue,
  type ShownValue,
} from '../state/preview.ts';
import type { OfferedMappings } from '../state/offered.ts';
import { memberOf } from '../state/member.ts';
import { useText } from '../text/index.tsx';
import { Failure, Loading, Notice } from './ui.tsx';

export interface ExamplesProps {
  revision: HydratedRevision;
  offered: OfferedMappings;
  draft: ConfigContent;
  objectName: string;
  /** Nothing is shown without one that works. */
  connection: Connection | undefined;
  examples: ExampleRecords | undefined;
}

/** One real record of an object as it is delivered, and one write as it is sent; asked for when they are unfolded. */
export function Examples(props: ExamplesProps): ReactNode {
  const { revision, draft, objectName, connection } = props;
  const read = readConfigOf(draft, objectName);
  const object = revision.content.read?.objects.find((one) => one.objectName === objectName);
  const writes = revision.content.write?.objects.some(
    (one) => one.objectName === objectName && one.error === undefined,
  );
  if (!connection || connection.status === 'bad_credentials') return null;
  // Another config has other examples.
  const key = JSON.stringify(draftOf(draft, objectName));
  return (
    <>
      {object && !object.error && read && !read.disabled ? (
        <ReadExample key={`read${key}`} {...props} object={object} />
      ) : null}
      {writes ? <WriteExample key={`write${key}`} {...props} /> : null}
    </>
  );
}

interface UnfoldedProps<Value> {
  title: string;
  hint: string;
  ask: () => Promise<Value>;
  children: (value: Value) => ReactNode;
}

/** Asks when it is unfolded, and again on request. */
function Unfolded<Value>({ title, hint, ask, children }: UnfoldedProps<Value>): ReactNode {
  const [state, setState] = useState<{ value?: Value; error?: SvcError; isAsked: boolean }>({
    isAsked: false,
  });
  const load = (): void => {
    setState({ isAsked: true });
    ask().then(
      (value) => setState({ value, isAsked: true }),
      (error: SvcError) => setState({ error, isAsked: true }),
    );
  };
  return (
    <details
      className="svc-example"
      onToggle={(event) => (event.currentTarget.open && !state.isAsked ? load() : undefined)}
    >
      <summary>{title}</summary>
      <div className="svc-stack">
        <p className="svc-hint">{hint}</p>
        {state.error ? <Failure error={state.error} onRetry={load} /> : null}
        {state.value === undefined ? null : children(state.value)}
        {state.isAsked && !state.error && state.value === undefined ? <Loading /> : null}
      </div>
    </details>
  );
}

function ReadExample({
  object,
  offered,
  draft,
  connection,
}: ExamplesProps & { object: HydratedReadObject }): ReactNode {
  const t = useText();
  const { previewRead } = usePreviews();
  const { objectName } = object;
  const ask = (): Promise<ReadPreview> =>
    previewRead({ objectName, config: draftOf(draft, objectName), connectionId: connection?.id });
  return (
    <Unfolded title={t('exampleRead')} hint={t('exampleReadHint')} ask={ask}>
      {(preview) => (
        <>
          {preview.missingFields.length > 0 ? (
            <Notice tone="warning">
              {t('exampleMissing', { fields: preview.missingFields.join(', ') })}
            </Notice>
          ) : null}
          {preview.result.length === 0 ? (
            <Notice tone="info">{t('exampleNone')}</Notice>
          ) : (
            <Record values={deliveredValues(preview, object, offered)} />
          )}
        </>
      )}
    </Unfolded>
  );
}

const mostShown = 50;

function Record({ values }: { values: readonly ShownValue[] }): ReactNode {
  const t = useText();
  return (
    <Table heads={[t('field'), t('value')]} more={values.length - mostShown}>
      {values.slice(0, mostShown).map(({ key, label, text }) => (
        <tr key={key}>
          <th scope="row">
            <bdi>{label}</bdi>
          </th>
          <td>
            {text === undefined ? <span className="svc-muted">{t('noValue')}</span> : <bdi>{text}</bdi>}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function WriteExample({ revision, draft, objectName, connection, examples }: ExamplesProps): ReactNode {
  const t = useText();
  const { previewWrite } = usePreviews();
  const { provider } = useProviderInfo(connection?.provider);
  const written = { revision, draft, objectName };
  const ask = async (): Promise<SentValue[]> => {
    const record = exampleOf(written, memberOf(examples, objectName), t('exampleText'));
    if (Object.keys(record).length === 0) return [];
    const asked = { objectName, config: draftOf(draft, objectName), connectionId: connection?.id };
    const [create, update] = await Promise.all([
      previewWrite({ ...asked, type: 'create', record }),
      previewWrite({ ...asked, type: 'update', record: { ...record, id: '1' } }),
    ]);
    return sentValues(written, record, { create, update });
  };
  return (
    <Unfolded
      title={t('exampleWrite')}
      hint={t('exampleWriteHint', { provider: provider?.displayName ?? connection?.provider ?? '' })}
      ask={ask}
    >
      {(values) =>
        values.length === 0 ? (
          <Notice tone="info">{t('exampleNothing')}</Notice>
        ) : (
          <Table heads={[t('field'), t('newRecord'), t('existingRecord')]} more={values.length - mostShown}>
            {values.slice(0, mostShown).map(({ key, label, create, update, onlyIfEmpty }) => (
              <tr key={key}>
                <th scope="row">
                  <bdi>{label}</bdi>
                </th>
                <Sent text={create} />
                <Sent text={update} note={onlyIfEmpty ? t('ifEmpty') : undefined} />
              </tr>
            ))}
          </Table>
        )
      }
    </Unfolded>
  );
}

function Sent({ text, note }: { text: string | undefined; note?: string | undefined }): ReactNode {
  const t = useText();
  return (
    <td>
      {text === undefined ? <span className="svc-muted">{t('notSent')}</span> : <bdi>{text}</bdi>}
      {note && text !== undefined ? <span className="svc-hint"> {note}</span> : null}
    </td>
  );
}

interface TableProps {
  heads: readonly string[];
  more: number;
  children: ReactNode;
}

function Table({ heads, more, children }: TableProps): ReactNode {
  const t = useText();
  return (
    <>
      <table className="svc-table">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {more > 0 ? <p className="svc-hint">{t('exampleMore', { count: more })}</p> : null}
    </>
  );
}
