import type { ConfigContent } from '../../ui/client/src/index.ts';
import type { ManifestIntegration } from '../projects/manifest/schema.ts';

/** What a customer would choose in a form: all objects, and for each field of the builder the one that is offered first. */
export function wholeContent({
  provider,
  read,
  write,
  proxy,
}: Omit<ManifestIntegration, 'name'>): ConfigContent {
  const reading = (read?.objects ?? []).map((object) => {
    const fields = [...(object.requiredFields ?? []), ...(object.optionalFields ?? [])];
    const selected = fields.flatMap(({ fieldName }) => (fieldName === undefined ? [] : [[fieldName, true]]));
    const mapped = fields.flatMap(({ fieldName, mapToName, default: first }) =>
      fieldName === undefined && mapToName !== undefined && first !== undefined ? [[mapToName, first]] : [],
    );
    const { objectName } = object;
    return [
      objectName,
      {
        objectName,
        selectedFields: Object.fromEntries(selected) as Record<string, boolean>,
        selectedFieldMappings: Object.fromEntries(mapped) as Record<string, string>,
        ...(object.optionalFieldsAuto === 'all' ? { selectedFieldsAuto: 'all' as const } : {}),
      },
    ] as const;
  });
  const writing = (write?.objects ?? []).map(({ objectName }) => [objectName, { objectName }] as const);
  return {
    provider,
    ...(reading.length > 0 ? { read: { objects: Object.fromEntries(reading) } } : {}),
    ...(writing.length > 0 ? { write: { objects: Object.fromEntries(writing) } } : {}),
    ...(proxy?.enabled ? { proxy: { enabled: true } } : {}),
  };
}
