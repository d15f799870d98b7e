import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Customer, type ProblemBody } from '../customer.ts';
import { ReadWorld } from '../read-world.ts';

const inbox = (object: string, more = ''): string =>
  `        - { objectName: ${object}, destination: inbox, schedule: '*/30 * * * *', requiredFields: [{ fieldName: ${more} }] }\n`;
/** What the world's manifest says of contacts, as far as this looks. */
const contacts = `        - objectName: contacts
          mapToName: people
          destination: inbox
          schedule: '*/30 * * * *'
          requiredFields:
            - fieldName: email
            - { fieldName: firstname, mapToName: given }
          deletedRecords: { enabled: always }
`;
const manifestOf = (objects: string): string =>
  `specVersion: 1.0.0\nintegrations:\n  - name: hubspot-crm\n    provider: hubspot\n    read:\n      objects:\n${objects}`;
const without = manifestOf(inbox('companies', 'name'));
const again = manifestOf(contacts + inbox('companies', 'name'));

describe('test/journeys/reads-taken-away', () => {
  let world: ReadWorld;
  let at: Customer;
  beforeAll(async () => {
    world = await ReadWorld.open();
    at = await world.contacts();
    await world.tick(at, 'contacts');
  }, 60_000);
  afterAll(() => world?.close());

  const deploy = (sourceYaml: string, query = '') =>
    world.first.call<{ warnings?: { message: string }[] }>(
      'POST',
      `/projects/default/integrations/hubspot-crm/revisions${query}`,
      { sourceYaml },
    );
  const warning = (text: string) => expect.objectContaining({ message: expect.stringContaining(text) });
  const change = (name: string) =>
    world.change('contacts', undefined, { email: `${name}@example.com`, firstname: name });
  const delivered = () =>
    world.receiver
      .entries({ groupRef: at.groupRef, objectName: 'people' })
      .map(({ mappedFields }) => mappedFields?.['given']);

  it('reads on, as it was, what a deploy takes away', async () => {
    await deploy(again);
    const deployed = await deploy(without);
    expect(deployed.status).toBe(201);
    expect(deployed.body.warnings).toContainEqual(warning('read.contacts'));
    await change('on');
    const run = await world.tick(at, 'contacts');
    expect(run.metadata.read).toMatchObject({ type: 'scheduled', emitted: 1, delivered: 1 });
    expect(delivered()).toEqual(['on']);
    const asked = await world.read(at, 'people');
    expect(asked.status).toBe(201);
    expect((await world.delivered(at, asked.body.operationId)).status).toBe('success');
  }, 60_000);

  it('is not there for who installs later', async () => {
    const { first } = world;
    const connectionId = await connect(first, 'hubspot', 'later');
    const made = await first.call<ProblemBody>(
      'POST',
      '/projects/default/integrations/hubspot-crm/installations',
      {
        groupRef: 'later',
        connectionId,
        config: {
          content: { provider: 'hubspot', read: { objects: { contacts: { objectName: 'contacts' } } } },
        },
      },
    );
    expect([made.status, made.body.code]).toEqual([422, 'config-invalid']);
  });

  it('pauses with a destructive deploy, and goes on where it stood once the object is back', async () => {
    const before = delivered().length;
    const deployed = await deploy(without, '?destructive=true');
    expect(deployed.body.warnings).toContainEqual(warning('read.contacts'));
    await change('meanwhile');
    await world.pass(45);
    const companies = await world.customer({
      read: { objects: { companies: { objectName: 'companies' } } },
    });
    await world.tick(companies, 'companies');
    expect(delivered()).toHaveLength(before);
    const paused = await world.first.call<{ results: { objectName: string; groupRef: string }[] }>(
      'GET',
      '/projects/default/reads?status=removed',
    );
    expect(paused.body.results).toMatchObject([{ groupRef: at.groupRef, objectName: 'contacts' }]);
    const refused = await world.read(at, 'people');
    expect([refused.status, refused.body.code]).toEqual([404, 'object-not-in-manifest']);

    expect((await deploy(again)).status).toBe(201);
    await world.tick(at, 'contacts');
    expect(delivered().slice(before)).toEqual(['meanwhile']);
  }, 60_000);
});
