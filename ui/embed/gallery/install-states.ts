import type { ComponentProps } from 'react';
import { InstallIntegration, type OfferedMappings } from '../src/index.ts';
import {
  broken,
  connection,
  contacts,
  contactsOf,
  content,
  delivered,
  hostileFields,
  installationOf,
  integration,
  manyFields,
  revision,
  revisionOf,
  sent,
} from './fixtures.ts';
import { oauth, primary, refused, see, submit, type State } from './state.ts';
import type { Walk } from './walk.ts';

const offered: OfferedMappings = {
  contacts: [
    {
      mapToName: 'stage',
      mapToDisplayName: 'Stage',
      mappedValues: [
        { mappedValue: 'new', mappedDisplayValue: 'New' },
        { mappedValue: 'won', mappedDisplayValue: 'Customer' },
      ],
    },
  ],
};

function installing(name: string, state: Partial<State>): State {
  const answers = { ...oauth, connection, ...state.answers };
  return {
    name: `InstallIntegration / ${name}`,
    component: InstallIntegration,
    ...state,
    props: { fieldMapping: offered, backUrl: '#back', ...state.props } satisfies ComponentProps<
      typeof InstallIntegration
    >,
    answers,
  };
}

const step = (place: number) => `.svc-nav li:nth-child(${place}) button`;
const openStep =
  (place: number, then?: (by: Walk) => Promise<unknown>) =>
  async (by: Walk): Promise<void> => {
    await by.click(step(place));
    await by.see(`${step(place)}[aria-current]`);
    await then?.(by);
  };
const pick = async (by: Walk, place: number, label: string): Promise<void> => {
  await by.type(`.svc-mapping:nth-of-type(${place}) input`, label);
  await by.click('[role="option"]', label);
};
const answered = openStep(2, async (by) => {
  await pick(by, 1, 'First name');
  await pick(by, 3, 'Lifecycle stage');
  await by.see('.svc-values');
});
const finished = (then: string) => async (by: Walk) => {
  await answered(by);
  await openStep(5, submit)(by);
  await by.see(then);
};

const unfolded = (place: number, then: (by: Walk) => Promise<unknown>) => async (by: Walk) => {
  await answered(by);
  await openStep(5, see('.svc-rows'))(by);
  await by.click(`.svc-row:first-child .svc-example:nth-of-type(${place}) summary`);
  await then(by);
};
const example = (
  name: string,
  answers: Partial<State['answers']>,
  then: (by: Walk) => Promise<unknown>,
  place = 1,
): State =>
  installing(`example ${name}`, {
    answers: { ...oauth, connection, ...answers },
    walk: unfolded(place, then),
  });
const examples: State[] = [
  example('read', { delivered }, see('.svc-table')),
  example('on its way', { delivered: 'never' }, see('.svc-example .svc-loading')),
  example('of nothing', { delivered: { ...delivered, result: [] } }, see('.svc-example .svc-notice-info')),
  example(
    'of a provider that is down',
    { delivered: refused('provider-unreachable', 502, 'HubSpot does not answer.') },
    see('.svc-example [role="alert"]'),
  ),
  example(
    'refused',
    { delivered: refused('sample-read-failed', 422, 'HubSpot does not let you read the field `city`.') },
    see('.svc-example [role="alert"]'),
  ),
  example('written', { sent }, see('.svc-table'), 2),
];

const installs: State[] = [
  installing('loading', { answers: { ...oauth, integration: 'never' }, walk: see('.svc-loading') }),
  installing('unknown', {
    answers: {
      ...oauth,
      integration: refused('integration-not-found', 404, 'There is no integration `crm`.'),
    },
    walk: see('[role="alert"]'),
  }),
  installing('connect', { answers: { ...oauth, connection: undefined }, walk: see(primary) }),
  installing('fields on their way', {
    answers: { ...oauth, connection, revision: 'never' },
    walk: see('.svc-loading'),
  }),
  installing('provider down', {
    answers: {
      ...oauth,
      connection,
      revision: refused('provider-unavailable', 502, 'HubSpot does not answer at present.'),
    },
    walk: see('[role="alert"]'),
  }),
  installing('nothing of the account could be loaded', {
    answers: {
      ...oauth,
      connection,
      revision: {
        ...revision,
        content: {
          name: 'crm',
          provider: 'hubspot',
          read: {
            objects: [{ ...contacts, error: 'HubSpot did not describe contacts: it does not answer.' }],
          },
        },
      },
    },
    walk: see('[role="alert"]'),
  }),
  installing('objects', { walk: see('.svc-rows') }),
  installing('object not there', {
    answers: {
      ...oauth,
      connection,
      revision: revisionOf({
        objectName: 'contacts',
        displayName: 'Contacts',
        error: 'HubSpot has no object `contacts` in this account.',
      }),
    },
    walk: see('fieldset[disabled]'),
  }),
  installing('fields', { walk: openStep(2, see('.svc-list')) }),
  installing('field sought', {
    walk: openStep(2, async (by) => {
      await by.type('.svc-mapping input', 'na');
      await by.see('[role="option"]');
    }),
  }),
  installing('filters', {
    walk: openStep(2, async (by) => {
      for (const label of ['Lifecycle stage', 'City']) {
        await by.type(
          '.svc-section:last-of-type .svc-picker input, .svc-section:nth-last-of-type(2) .svc-picker input',
          label,
        );
        await by.click('[role="option"]', label);
        await by.see('.svc-filter', label);
      }
    }),
  }),
  installing('5,000 fields', {
    answers: { ...oauth, connection, revision: revisionOf(contactsOf(manyFields)) },
    walk: openStep(2, see('.svc-list')),
  }),
  installing('values', { walk: answered }),
  installing('field missing', {
    walk: async (by) => {
      await openStep(5, submit)(by);
      await by.see('.svc-issue');
    },
  }),
  installing('writing', { walk: openStep(4, see('.svc-toggle')) }),
  installing('rule for a field', {
    walk: openStep(4, async (by) => {
      await by.type('.svc-box .svc-picker input', 'City');
      await by.click('[role="option"]', 'City');
      await by.see('.svc-rule');
    }),
  }),
  installing('review', {
    walk: async (by) => {
      await answered(by);
      await openStep(5, see('.svc-rows'))(by);
    },
  }),
  ...examples,
  installing('saving', { answers: { ...oauth, connection, save: 'never' }, walk: finished('.svc-spinner') }),
  installing('not saved', {
    answers: {
      ...oauth,
      connection,
      save: refused('database-unavailable', 503, 'The service cannot save at present.'),
    },
    walk: finished('[role="alert"]'),
  }),
  installing('connection over', {
    answers: {
      ...oauth,
      connection,
      save: refused('no-usable-connection', 422, 'The credentials of the connection stopped working.'),
    },
    walk: finished('[role="alert"]'),
  }),
  installing('refused at a field', {
    answers: {
      ...oauth,
      connection,
      save: {
        refused: {
          code: 'config-invalid',
          status: 400,
          detail: 'The config does not fit.',
          issues: [
            {
              name: 'config.content.read.objects.contacts.selectedFieldMappings.nickname',
              detail: 'HubSpot does not let you read the field `firstname`.',
            },
          ],
        },
      },
    },
    walk: finished('.svc-issue'),
  }),
  installing('done', {
    answers: { ...oauth, connection, save: installationOf() },
    walk: finished('.svc-done'),
  }),
];

function installed(name: string, state: Partial<State>): State {
  return installing(name, {
    ...state,
    answers: { ...oauth, connection, installation: installationOf(), ...state.answers },
  });
}

const changeDeletion = openStep(5, async (by) => {
  await by.click('.svc-toggle input');
  await submit(by);
});
const changed = refused('config-changed', 409, 'The config was changed by somebody else.');
const theirs = (objectName: string) =>
  installationOf(
    {
      ...content,
      write: {
        objects: {
          ...content.write?.objects,
          [objectName]: { objectName, selectedFieldSettings: { city: { writeOnUpdate: 'never' } } },
        },
      },
    },
    'g2',
  );
const paused = Object.fromEntries(
  Object.entries(content.read?.objects ?? {}).map(([name, object]) => [name, { ...object, disabled: true }]),
);
const withoutPhone = contactsOf(
  Object.values(contacts.allFieldsMetadata ?? {}).filter(({ fieldName }) => fieldName !== 'phone'),
);

const installeds: State[] = [
  installed('overview', { walk: see('.svc-summary') }),
  installed('paused', {
    answers: { ...oauth, installation: installationOf({ ...content, read: { objects: paused } }) },
    walk: see('.svc-notice-info'),
  }),
  installed('no longer offered', {
    answers: {
      ...oauth,
      installation: installationOf({
        ...content,
        read: { objects: { ...content.read?.objects, calls: { objectName: 'calls' } } },
      }),
    },
    walk: (by) => by.see('.svc-row .svc-button'),
  }),
  installed('resume', {
    answers: { ...oauth, installation: installationOf({ ...content, read: { objects: paused } }) },
    walk: async (by) => {
      await by.click('.svc-actions > .svc-button:has(+ dialog)');
      await by.see('dialog[open]');
    },
  }),
  installed('connection broken', {
    answers: { ...oauth, connection: broken, installation: { ...installationOf(), connection: broken } },
    walk: see('.svc-notice-warning'),
  }),
  installed('changed', { walk: openStep(5, (by) => by.click('.svc-toggle input')) }),
  installed('saved', {
    answers: { ...oauth, save: installationOf(content, 'g2') },
    walk: async (by) => {
      await changeDeletion(by);
      await by.see('.svc-notice-good');
    },
  }),
  installed('whose changes', {
    answers: { ...oauth, save: changed, theirs: theirs('contacts') },
    walk: async (by) => {
      await changeDeletion(by);
      await by.see('.svc-notice-warning');
    },
  }),
  installed('a field is gone', {
    answers: { ...oauth, revision: revisionOf(withoutPhone) },
    walk: openStep(3, see('.svc-issue')),
  }),
  installed('a chosen field is gone', {
    answers: {
      ...oauth,
      installation: installationOf({
        ...content,
        read: { objects: { contacts: { objectName: 'contacts', selectedFields: { shirt_size: true } } } },
      }),
    },
    walk: openStep(3, see('.svc-notice-warning')),
  }),
  installed('uninstalled by somebody else', {
    answers: { ...oauth, save: refused('installation-not-found', 404, 'There is no installation i1.') },
    walk: async (by) => {
      await changeDeletion(by);
      await by.see('.svc-notice-warning');
    },
  }),
  installed('uninstall', {
    walk: async (by) => {
      await by.click('.svc-button-danger');
      await by.see('dialog[open]');
    },
  }),
  installed('not uninstalled', {
    answers: { ...oauth, uninstall: 'lost' },
    walk: async (by) => {
      await by.click('.svc-button-danger');
      await by.click('dialog .svc-button-danger');
      await by.see('dialog [role="alert"]');
    },
  }),
  installing('names that mean harm', {
    answers: {
      ...oauth,
      connection,
      integration: { ...integration, name: hostileFields[0]?.fieldName ?? '' },
      revision: revisionOf(contactsOf(hostileFields)),
    },
    walk: openStep(2, async (by) => {
      // The field with values of such names, too.
      await by.type('.svc-mapping:nth-of-type(3) input', 'choice');
      await by.click('[role="option"]', 'choice');
      await by.see('.svc-values option:nth-of-type(500)');
    }),
  }),
  installing('one object', {
    answers: {
      ...oauth,
      connection,
      revision: { ...revision, content: { name: 'crm', provider: 'hubspot', read: { objects: [contacts] } } },
    },
    walk: see('.svc-rows'),
  }),
];

export const installStates: readonly State[] = [...installs, ...installeds];
