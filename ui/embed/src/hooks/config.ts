import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type {
  ConfigContent,
  FieldMetadata,
  FieldSetting,
  HydratedField,
  HydratedReadObject,
  HydratedWriteObject,
  Installation,
  ReadObjectConfig,
  WriteObjectConfig,
} from '@svc/client';
import {
  applyEdit,
  readConfigOf,
  writeConfigOf,
  type Edit,
  type ReadEdit,
  type WriteEdit,
} from '../state/draft.ts';
import { fieldsOf } from '../state/questions.ts';
import { memberOf } from '../state/member.ts';
import { rememberMadeOn, type MadeOn } from './made-on.ts';
import { useSvc, useWhose } from './provider.tsx';
import { useConnection, useInstallation, useIntegration, useRevision, type Answered } from './queries.ts';
import type { Loaded } from './store.ts';

/** What the integration reads and writes, with the fields of the connected account. */
export interface Manifest extends Answered {
  /** Whether there is an account whose fields can be told; undefined while nobody knows. Without one nothing is pending. */
  isConnected: boolean | undefined;
  data: ReturnType<typeof useRevision>['revision'];
  getReadObjects(): HydratedReadObject[];
  getReadObject(objectName: string): {
    object: HydratedReadObject | undefined;
    getRequiredFields(kind?: FieldKind): HydratedField[];
    getOptionalFields(kind?: FieldKind): HydratedField[];
    getRequiredMapFields(): HydratedField[];
    getOptionalMapFields(): HydratedField[];
  };
  getWriteObjects(): HydratedWriteObject[];
  getWriteObject(objectName: string): HydratedWriteObject | undefined;
  getCustomerFieldsForObject(objectName: string): {
    allFields: FieldMetadata[];
    getField(fieldName: string): FieldMetadata | undefined;
  };
}
export type FieldKind = 'all' | 'no-mappings' | 'mappings';

const ofKind = (fields: HydratedField[] | undefined, kind: FieldKind = 'all'): HydratedField[] =>
  (fields ?? []).filter(
    ({ fieldName }) => kind === 'all' || (fieldName === undefined) === (kind === 'mappings'),
  );

/** The latest revision of the integration. */
export function useManifest(): Manifest {
  const account = useConnection();
  const found = useInstallation();
  // What is installed is of the account that it is installed on, whatever else there is.
  const connection = found.installation?.connection ?? account.connection;
  const isConnected = account.isSuccess ? connection !== undefined : undefined;
  const { revision: data, ...asked } = useRevision(found.isPending ? undefined : connection?.id);
  const error = asked.error ?? account.error;
  const state = {
    ...asked,
    error,
    isConnected,
    isError: error !== undefined,
    isPending: asked.isPending && isConnected !== false && error === undefined,
  };
  return useMemo(() => {
    const reads = data?.content.read?.objects ?? [];
    const writes = data?.content.write?.objects ?? [];
    const readOf = (name: string) => reads.find(({ objectName }) => objectName === name);
    return {
      ...state,
      data,
      getReadObjects: () => reads,
      getReadObject: (name) => {
        const object = readOf(name);
        return {
          object,
          getRequiredFields: (kind) => ofKind(object?.requiredFields, kind),
          getOptionalFields: (kind) => ofKind(object?.optionalFields, kind),
          getRequiredMapFields: () => ofKind(object?.requiredFields, 'mappings'),
          getOptionalMapFields: () => ofKind(object?.optionalFields, 'mappings'),
        };
      },
      getWriteObjects: () => writes,
      getWriteObject: (name) => writes.find(({ objectName }) => objectName === name),
      getCustomerFieldsForObject: (name) => {
        const object = readOf(name);
        return {
          allFields: object ? fieldsOf(object) : [],
          getField: (fieldName) => memberOf(object?.allFieldsMetadata, fieldName),
        };
      },
    };
  }, [data, state.isFetching, state.isPending, isConnected, error]);
}

export interface LocalConfig {
  /** Whether there is an account that it can be installed on; undefined while nobody knows. */
  isConnected: boolean | undefined;
  draft: ConfigContent;
  /** The installation that the draft was made on: as it is now, and once something was edited as it was then. */
  base: Installation | undefined;
  get(): ConfigContent;
  setDraft(content: ConfigContent): void;
  /** Back to what is saved. */
  reset(): void;
  readObject(objectName: string): {
    object: ReadObjectConfig | undefined;
    setEnableRead(): void;
    setDisableRead(): void;
    getSelectedField(fieldName: string): boolean;
    setSelectedField(given: { fieldName: string; selected: boolean }): void;
    getFieldMapping(mapToName: string): string | undefined;
    setFieldMapping(given: { fieldName: string; mapToName: string }): void;
    deleteFieldMapping(mapToName: string): void;
    getValueMapping(fieldName: string): Readonly<Record<string, string>> | undefined;
    setValueMapping(given: { fieldName: string; values: Readonly<Record<string, string>> | undefined }): void;
  };
  writeObject(objectName: string): {
    object: WriteObjectConfig | undefined;
    getWriteObject(): WriteObjectConfig | undefined;
    /** Names the object in the config, without limits. What the manifest declares is created and updated, named or not. */
    setEnableWrite(): void;
    /** Takes the object's settings away: its rules, and that it may be deleted. It does not stop writing. */
    setDisableWrite(): void;
    getDeletionEnabled(): boolean;
    setEnableDeletion: () => void;
    setDisableDeletion: () => void;
    getFieldSettings(fieldName: string): FieldSetting | undefined;
    setFieldSettings(given: { fieldName: string; settings: FieldSetting | undefined }): void;
  };
  proxy(): { getProxyEnabled(): boolean; setProxyEnabled(enabled: boolean): void };
}

interface Edited {
  whose: string;
  content: ConfigContent | undefined;
  madeOn: MadeOn;
}

/** What was edited for one customer is no other one's, and what was saved is no edit any more. */
const ownOf = (edited: Edited | undefined, whose: string): ConfigContent | undefined =>
  edited?.whose === whose && edited.content !== edited.madeOn.saved ? edited.content : undefined;

/** A change of it in place would be neither seen nor sent: it throws. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/** What a config is at one moment. */
interface Draft {
  content: ConfigContent;
  madeOn: MadeOn;
  /** What is in force, and what to begin with where nothing is. */
  saved: ConfigContent;
}

/** A config that is being edited; nothing of it is saved before `createInstallation` or `updateInstallation`. */
export function useConfig(): LocalConfig {
  const { store } = useSvc();
  // What `look` finds is shown once it changes.
  useInstallation();
  const { integration } = useIntegration();
  const { connection, isSuccess } = useConnection();
  const whose = useWhose();
  const provider = integration?.provider ?? connection?.provider ?? '';
  const empty = useMemo((): ConfigContent => ({ provider }), [provider]);
  const [edited, setEdited] = useState<Edited>();
  const latest = useRef<Edited>(undefined);
  const look = useCallback(
    (now: Edited | undefined): Draft => {
      const { data: installed } = store.read('installation') as Loaded<Installation | null>;
      const saved = installed?.config.content ?? empty;
      const own = ownOf(now, whose);
      const madeOn = own && now ? now.madeOn : { base: installed };
      return { content: rememberMadeOn(frozen(own ?? saved), madeOn), madeOn, saved };
    },
    [store, whose, empty],
  );
  const editing = useMemo(() => {
    // A handler sees what it has just set or saved, before it is shown.
    const now = (): Draft => look(latest.current);
    const setDraft = (content: ConfigContent | undefined): void =>
      setEdited((latest.current = { whose, content, madeOn: now().madeOn }));
    return editingOf(now, setDraft);
  }, [look, whose]);
  // What was edited before the provider was known gets it.
  useEffect(() => {
    if (provider !== '' && edited?.content?.provider === '')
      setEdited((latest.current = { ...edited, content: { ...edited.content, provider } }));
  }, [provider, edited]);
  const { content: draft, madeOn } = look(edited);
  const isConnected = isSuccess ? connection !== undefined : undefined;
  return useMemo(
    () => ({ ...editing, draft, isConnected, base: madeOn.base ?? undefined }),
    [editing, draft, isConnected, madeOn.base],
  );
}

/** The setters, and what sees at once what they set. */
function editingOf(
  now: () => Draft,
  setDraft: (content: ConfigContent | undefined) => void,
): Omit<LocalConfig, 'draft' | 'isConnected' | 'base'> {
  const edit = (change: Edit): void => {
    const { content, saved } = now();
    setDraft(applyEdit(content, change, saved));
  };
  const get = (): ConfigContent => now().content;
  return {
    get,
    setDraft,
    reset: () => setDraft(undefined),
    readObject: (name) => {
      const set = (change: ReadEdit) => edit({ on: 'read', object: name, set: change });
      const object = () => readConfigOf(get(), name);
      return {
        get object() {
          return object();
        },
        setEnableRead: () => set({ kind: 'enabled', enabled: true }),
        setDisableRead: () => set({ kind: 'enabled', enabled: false }),
        getSelectedField: (fieldName) => memberOf(object()?.selectedFields, fieldName) === true,
        setSelectedField: ({ fieldName, selected }) => set({ kind: 'field', fieldName, selected }),
        getFieldMapping: (mapToName) => memberOf(object()?.selectedFieldMappings, mapToName),
        setFieldMapping: ({ fieldName, mapToName }) => set({ kind: 'mapping', mapToName, fieldName }),
        deleteFieldMapping: (mapToName) => set({ kind: 'mapping', mapToName, fieldName: undefined }),
        getValueMapping: (fieldName) => memberOf(object()?.selectedValueMappings, fieldName),
        setValueMapping: ({ fieldName, values }) => set({ kind: 'values', fieldName, values }),
      };
    },
    writeObject: (name) => {
      const set = (change: WriteEdit) => edit({ on: 'write', object: name, set: change });
      const object = () => writeConfigOf(get(), name);
      return {
        get object() {
          return object();
        },
        getWriteObject: object,
        setEnableWrite: () => set({ kind: 'enabled', enabled: true }),
        setDisableWrite: () => set({ kind: 'enabled', enabled: false }),
        getDeletionEnabled: () => object()?.deletionSettings?.enabled === true,
        setEnableDeletion: () => set({ kind: 'deletion', enabled: true }),
        setDisableDeletion: () => set({ kind: 'deletion', enabled: false }),
        getFieldSettings: (fieldName) => memberOf(object()?.selectedFieldSettings, fieldName),
        setFieldSettings: ({ fieldName, settings }) => set({ kind: 'settings', fieldName, settings }),
      };
    },
    proxy: () => ({
      getProxyEnabled: () => get().proxy?.enabled === true,
      setProxyEnabled: (enabled) => edit({ on: 'proxy', enabled }),
    }),
  };
}
