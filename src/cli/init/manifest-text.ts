/** What a first manifest is about. */
export interface Wanted {
  provider: string;
  displayName: string;
  /** The builder's name of the integration. */
  name: string;
  objects: readonly string[];
  destination: string;
  reads: boolean;
  writes: boolean;
}

/** A manifest with a comment at what a builder is going to change. */
export function manifestText(wanted: Wanted): string {
  const { provider, displayName, name } = wanted;
  return `# What this project writes to and reads from the accounts of its customers.
# svc validate checks it, svc plan tells what a deploy would change, svc deploy does it, svc dev tries it.
specVersion: 1.0.0
integrations:
  # Your name for it, in every call. It stays when the rest changes.
  - name: ${JSON.stringify(name)}
    displayName: ${JSON.stringify(displayName)}
    # svc providers search tells the others.
    provider: ${provider}
${wanted.reads && wanted.objects.length > 0 ? readText(wanted) : ''}${wanted.writes && wanted.objects.length > 0 ? writeText(wanted) : ''}    # The provider's own API with the customer's credentials: svc proxy.
    proxy:
      enabled: true
`;
}

function readText({ objects, destination }: Wanted): string {
  return `    # What is read at each customer, once it is installed, and sent to a destination of yours.
    read:
      objects:
${objects
  .map(
    (object) => `        - objectName: ${JSON.stringify(object)}
          # svc destinations create ${destination} --address https://…
          destination: ${JSON.stringify(destination)}
          # How often, as cron has it: here every half hour.
          schedule: "*/30 * * * *"
          # All fields that the account has. requiredFields and optionalFields name some, also under names of yours:
          #   requiredFields: [{ fieldName: email }]
          #   optionalFields: [{ mapToName: phone, prompt: Which field holds the phone number? }]
          optionalFieldsAuto: all
          # What is there before the first read, too: history of so many days.
          backfill:
            defaultPeriod:
              days: 30
`,
  )
  .join('')}`;
}

function writeText({ objects, reads }: Wanted): string {
  return `    # What may be created and updated: svc write. Deletes need deletionSettings in the config, too.
    write:
      objects:
${objects
  .map(
    (object) =>
      `        - objectName: ${JSON.stringify(object)}\n${reads ? '          # The names that the read object gave to fields hold here, too.\n          inheritMapping: true\n' : ''}`,
  )
  .join('')}`;
}
