import { connect, type ConnectionOptions } from './connection.ts';
import { say } from './output.ts';

interface ReadOptions extends ConnectionOptions {
  group: string;
  since?: string;
  until?: string;
}

/** `svc read`: reads an object of a group now; its records go to the destination of the object. */
export async function read(integration: string, object: string, options: ReadOptions): Promise<void> {
  const { group, since, until } = options;
  const started = await (
    await connect(options)
  ).reads.start({
    integration,
    object,
    groupRef: group,
    ...(since === undefined ? {} : { sinceTimestamp: since }),
    ...(until === undefined ? {} : { untilTimestamp: until }),
  });
  const { operationId } = started;
  say(options, started, `Reading in operation ${operationId}: svc operations watch ${operationId}`);
}
