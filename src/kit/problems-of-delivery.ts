import { kind } from './problem-kind.ts';

/** Problems of reads, of the destinations that they fill, and of deliveries. */
export const deliveryProblems = {
  'secrets-not-made-here': kind(
    422,
    'The secrets of the destination are not made here',
    'Change them: PATCH …/destinations/{destination} with the mask `secrets.<name>`.',
    'A rotation makes new secrets, which a webhook has. Those of other types of destinations are made elsewhere and given to them. Nothing was changed.',
  ),
  'deliveries-waiting': kind(
    409,
    'Deliveries wait for the destination',
    'Wait until they are delivered, or pass `cancelPending=true` to give them up.',
    'A destination that is deleted takes what waits for it along. Nothing was changed.',
    true,
  ),
  'delivery-pending': kind(
    409,
    'The delivery is not over',
    'Wait: it is attempted by itself at `nextAttemptTime`. POST …/destinations/{name}:enable tries all that waits there at once.',
    'Only what was delivered, or failed for good, can be sent again by hand. Nothing was changed.',
  ),
  'destination-takes-records-only': kind(
    422,
    'The destination takes records only',
    'Name a destination of another type, such as a webhook.',
    'A table of a database has no place for what happened. Nothing was changed.',
  ),
  'read-not-configured': kind(
    422,
    'The integration does not read',
    'Add a `read` block to the integration in `svc.yaml` and deploy it.',
    'The integration declares no read action, or its provider cannot be read.',
  ),
  'object-not-in-config': kind(
    422,
    'The object is not configured to be read',
    'Add the object to `read.objects` of the installation’s config, or set `enabled: always` for it in `svc.yaml`.',
    'The integration declares the object, and the config of the installation does not have it. Nothing was read.',
  ),
  'read-disabled': kind(
    422,
    'Reading of the object is switched off',
    'Set `disabled: false` for the object in the installation’s config.',
    'The config of the installation switches reading of the object off. Nothing was read.',
  ),
  'no-destination': kind(
    422,
    'There is no destination for the records',
    'Name a destination in `svc.yaml` or in the config of the installation, and create it (POST …/destinations) or enable it (POST …/destinations/{name}:enable).',
    'What is read goes to a destination. The object names none, or one that does not exist or is disabled. Nothing was read.',
  ),
  'filter-invalid': kind(
    422,
    'The filter is not valid',
    'Correct what `issues` names.',
    'A filter names a field that the object does not have at the provider, or a value that cannot be compared. The provider was not asked.',
  ),
} as const;
