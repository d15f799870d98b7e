/** A paragraph of the public specification, in short. Test titles name it as `§2.4`. */
export interface Paragraph {
  id: string;
  title: string;
  says: string;
  /** Members that the paragraph defines; the title of a test of it names each. */
  members?: string;
  /** What later work brings. */
  later?: string;
}

const of = (
  id: string,
  title: string,
  says: string,
  more: Pick<Paragraph, 'members' | 'later'> = {},
): Paragraph => ({ id, title, says, ...more });

/** The specification in its own order. */
export const paragraphs: readonly Paragraph[] = [
  of('2.1', 'Manifest', 'The keys of `svc.yaml` for write and proxy. Objects exist at the provider.', {
    members:
      'specVersion integrations name displayName provider write.objects objectName inheritMapping proxy',
  }),
  of('2.2', 'Body of a new installation', 'The group, its connection or the default one, and the config.', {
    members: 'groupRef connectionId config config.content config.revisionId createdBy',
  }),
  of('2.3', 'Content of a config', 'The provider, and the parts read, write and proxy.', {
    members: 'provider read write proxy.enabled',
  }),
  of('2.4', 'Read config', 'A map of objects with schedule, fields, mappings, backfill and filters.', {
    members: `read.objects objectName schedule disabled destination selectedFields selectedValueMappings dynamicMappingsInput
      selectedFieldMappings selectedFieldsAuto mapToName mapToDisplayName prompt mappedValues mappedValue mappedDisplayValue
      fieldName backfill defaultPeriod days fullHistory fieldFilters operator value`,
  }),
  of('2.5', 'Write config', 'A map of objects with deletion, defaults and when a field is written.', {
    members: `write.objects objectName inheritMapping deletionSettings selectedFieldSettings selectedValueDefaults applyOnUpdate
      default writeOnCreate writeOnUpdate ifEmpty`,
  }),
  of(
    '2.6',
    'Body of a write',
    'One record or a batch, with the options of a write. Nothing else is accepted.',
    {
      members: `groupRef type mode record batch associations headers batchPolicy allOrNone autoBatchPolicy maxDelayMinutes
      retryDeadlineHours retryPolicy deadlineHours`,
    },
  ),
  of('2.7', 'Operation', 'The members of an operation.', {
    members: `id projectId integrationId installationId configId actionType status result createTime updateTime resource`,
  }),
  of('3', 'States', 'An operation moves once, to success or failure. A batch done in part is a success.', {
    members: 'in_progress success failure',
  }),
  of(
    '4.1',
    'Create an installation',
    'The group is connected already. A sample read checks the config first.',
    {
      members: 'skipSampling',
    },
  ),
  of('4.2', 'Write records', 'Done synchronously, it answers the record; asynchronously, the operation.'),
  of('4.2.1', 'Kinds of write', 'Create, update and delete. A delete is enabled, single and synchronous.', {
    members: 'create update delete',
  }),
  of('4.2.2', 'Batch', '1 to 100 records. What succeeds stays, unless all or none is asked for.', {
    members: 'allOrNone associations',
  }),
  of(
    '4.2.3',
    'Options by provider',
    'Associations are for HubSpot, headers for Salesforce, the rest is for both.',
    {
      members: 'associations headers ifEmpty delete',
    },
  ),
  of('4.2.4', 'Synchronous', 'Done before the call returns.'),
  of('4.2.5', 'Asynchronous', 'Failures that may pass are retried until the deadline.', {
    members: 'retryPolicy',
  }),
  of(
    '4.2.6',
    'Auto-batch',
    'Single records are gathered until there are 100 or the delay of the first is over.',
    {
      members: 'autoBatchPolicy',
    },
  ),
  of('4.2.7', 'Defaults', 'They fill the fields that the request lacks.'),
  of('4.2.8', 'Mapping', 'With inheritMapping the field that the customer mapped is written.', {
    members: 'inheritMapping',
  }),
  of('4.3', 'Get an operation', 'By its id; also that of an auto-batch.'),
  of('4.4', 'Update an installation', 'What the mask names is replaced.', { members: 'updateMask' }),
  of('4.5', 'JSON Patch on an object', 'Changes of one object of a config.', {
    members: 'groupRef action changes op path value add replace',
  }),
  of('4.6', 'Proxy', 'The request of the provider with another host. The installation is named by headers.', {
    members: 'x-svc-proxy-version x-svc-project-id x-api-key installation x-svc-rate-limiter-mode',
  }),
  of('4.7', 'OAuth connect', 'Makes the URL at which a customer authorizes.'),
  of('5', 'Authentication', 'An API key or a bearer token. The proxy attaches and renews credentials.', {
    members: 'X-Api-Key bearer',
  }),
  of('7.1', 'Failed synchronous write', 'The caller gets an error.'),
  of('7.2', 'Failed asynchronous write', 'The operation ends as a failure with a text.'),
  of('7.3', 'Checks of the read config', 'Required members of backfill, objects and filters.', {
    members: 'backfill objectName fieldName operator',
  }),
  of('7.4', 'Delete that is not enabled', 'It is refused.'),
  of('7.5', 'Throttle mode', 'A 429 tells when to retry; until then nothing is passed on.', {
    members: 'retryable',
  }),
  of('8', 'Limits', 'Sizes of batches, delays and deadlines.', {
    members: 'batch maxDelayMinutes retryDeadlineHours deadlineHours delete',
  }),
  of('9', 'Versions', '`v1` in paths, `1.0.0` in the manifest, `1` for the proxy.', {
    members: 'specVersion x-svc-proxy-version',
  }),
];
