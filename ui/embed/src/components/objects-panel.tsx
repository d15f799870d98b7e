import type { ReactNode } from 'react';
import type { ConfigContent, HydratedRevision } from '@svc/client';
import { applyEdit, readConfigOf, writeConfigOf } from '../state/draft.ts';
import { withObject, type OfferedMappings } from '../state/questions.ts';
import { objectsOf, type SharedObject } from '../state/wizard.ts';
import { useText } from '../text/index.tsx';
import { Examples, type ExamplesProps } from './examples.tsx';
import { Toggle } from './ui.tsx';

interface ObjectsPanelProps {
  revision: HydratedRevision;
  offered: OfferedMappings;
  draft: ConfigContent;
  change: (change: (draft: ConfigContent) => ConfigContent) => void;
  provider: string;
}

/** Which objects are read and written. */
export function ObjectsPanel({ revision, offered, draft, change, provider }: ObjectsPanelProps): ReactNode {
  const t = useText();
  const setRead = ({ objectName }: SharedObject, enabled: boolean): void => {
    const object = revision.content.read?.objects.find((one) => one.objectName === objectName);
    if (object && enabled) change((now) => withObject(now, object, offered[objectName]));
    else
      change((now) => applyEdit(now, { on: 'read', object: objectName, set: { kind: 'enabled', enabled } }));
  };
  const setWrite = ({ objectName }: SharedObject, enabled: boolean): void =>
    change((now) => applyEdit(now, { on: 'write', object: objectName, set: { kind: 'enabled', enabled } }));
  return (
    <div className="svc-stack">
      <p className="svc-intro">{t('objectsIntro', { provider })}</p>
      <ul className="svc-rows">
        {objectsOf(revision).map((object) => {
          const read = readConfigOf(draft, object.objectName);
          return (
            <li key={object.objectName} className="svc-row">
              <div className="svc-row-name">
                <strong>
                  <bdi>{object.displayName}</bdi>
                </strong>
                {object.error === undefined ? null : (
                  <span className="svc-hint">{t('objectUnavailable')}</span>
                )}
              </div>
              <fieldset className="svc-row-choices" disabled={object.error !== undefined}>
                <legend className="svc-hidden">{object.displayName}</legend>
                {object.canRead ? (
                  <Toggle
                    label={t('reads')}
                    checked={object.isAlwaysRead || (read !== undefined && !read.disabled)}
                    disabled={object.isAlwaysRead}
                    onChange={(enabled) => setRead(object, enabled)}
                  />
                ) : null}
                {object.canWrite ? (
                  <Toggle
                    label={t('writes')}
                    checked={writeConfigOf(draft, object.objectName) !== undefined}
                    onChange={(enabled) => setWrite(object, enabled)}
                  />
                ) : null}
              </fieldset>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

type ReviewPanelProps = Omit<ExamplesProps, 'objectName'> & { provider: string };

/** What was chosen, object by object, with an example of each on request. */
export function ReviewPanel({ provider, ...props }: ReviewPanelProps): ReactNode {
  const t = useText();
  const { revision, draft } = props;
  if (objectsOf(revision).length === 0) return <p className="svc-intro">{t('reviewProxy', { provider })}</p>;
  return (
    <ul className="svc-rows">
      {objectsOf(revision).map(({ objectName, displayName }) => {
        const read = readConfigOf(draft, objectName);
        const write = writeConfigOf(draft, objectName);
        const declared = revision.content.read?.objects.find((one) => one.objectName === objectName);
        const fixed = (declared?.requiredFields ?? []).filter(
          ({ fieldName }) => fieldName !== undefined,
        ).length;
        const chosen = Object.values(read?.selectedFields ?? {}).filter(Boolean).length;
        const mapped = Object.keys(read?.selectedFieldMappings ?? {}).length;
        const filtered = read?.fieldFilters?.length ?? 0;
        const reads = read && !read.disabled;
        return (
          <li key={objectName} className="svc-row">
            <strong>
              <bdi>{displayName}</bdi>
            </strong>
            <div className="svc-tags">
              {reads ? (
                <span className="svc-tag">
                  {t('reads')} · {t('summaryFields', { count: fixed + chosen })}
                  {filtered > 0 ? ` · ${t('summaryFilters', { count: filtered })}` : ''}
                  {mapped > 0 ? ` · ${t('summaryMapped', { count: mapped })}` : ''}
                </span>
              ) : null}
              {write ? (
                <span className="svc-tag">
                  {t('writes')} · {t(write.deletionSettings?.enabled ? 'deletesYes' : 'deletesNo')}
                </span>
              ) : null}
              {reads || write ? null : <span className="svc-muted">{t('notShared')}</span>}
            </div>
            <Examples {...props} objectName={objectName} />
          </li>
        );
      })}
    </ul>
  );
}
