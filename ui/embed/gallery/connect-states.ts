import { ConnectionHealth, ConnectProvider } from '../src/index.ts';
import type { Answers } from './answers.ts';
import { broken, connection, providers } from './fixtures.ts';
import { oauth, primary, refused, see, submit, type State } from './state.ts';
import type { Walk } from './walk.ts';

const wrongKey = refused('credentials-rejected', 422, 'Keyed refused the key.');

function connecting(name: string, state: Omit<State, 'name' | 'component'>): State {
  return { name: `ConnectProvider / ${name}`, component: ConnectProvider, walk: see(primary), ...state };
}

const ways = Object.entries(providers).map(([way, provider]) => connecting(way, { answers: { provider } }));
const keyed = { provider: providers.apiKey };
const typeKey = async (by: Walk): Promise<void> => {
  await by.type('input', 'wrong');
  await by.click(primary);
  await by.see('[role="alert"]');
};

const connects: State[] = [
  connecting('loading', {
    answers: { provider: providers.oauth, connection: 'never' },
    walk: see('.svc-loading'),
  }),
  connecting('unknown', {
    answers: { ...keyed, connection: refused('forbidden', 403, 'This key reaches no connections.') },
    walk: see('[role="alert"]'),
  }),
  ...ways,
  connecting('nothing typed', {
    answers: { provider: providers.custom },
    walk: async (by) => {
      await submit(by);
      await by.see('.svc-issue');
    },
  }),
  connecting('connecting', {
    answers: { ...keyed, connect: 'never' },
    walk: async (by) => {
      await by.type('input', 'a key');
      await submit(by);
      await by.see('.svc-spinner');
    },
  }),
  connecting('key refused', { answers: { ...keyed, connect: wrongKey }, walk: typeKey }),
  connecting('field refused', {
    answers: {
      ...keyed,
      connect: {
        refused: {
          code: 'invalid-request',
          status: 400,
          detail: 'The key is not one of Keyed.',
          issues: [{ name: 'apiKey', detail: 'A key of Keyed begins with `k-`.' }],
        },
      },
    },
    walk: typeKey,
  }),
  connecting('unreachable', { answers: { ...keyed, connect: 'lost' }, walk: typeKey }),
  connecting('session over', {
    answers: { ...keyed, connect: refused('unauthenticated', 401, 'The token has ended.') },
    walk: typeKey,
  }),
  connecting('window open', {
    answers: oauth,
    walk: async (by) => {
      await submit(by);
      await by.see('.svc-notice-info');
    },
  }),
  connecting('window blocked', {
    answers: oauth,
    window: 'blocked',
    walk: async (by) => {
      await submit(by);
      await by.see('.svc-notice-warning');
    },
  }),
  connecting('window closed', {
    answers: oauth,
    window: 'closed',
    walk: async (by) => {
      await submit(by);
      await by.see('.svc-notice-warning');
    },
  }),
  connecting('came back refused', {
    answers: oauth,
    returned: '?error=Access+to+HubSpot+was+not+granted.&errorReason=denied',
    props: { mode: 'redirect' },
    walk: see('[role="alert"]'),
  }),
  connecting('connected', { answers: { ...oauth, connection }, walk: see('.svc-summary') }),
  connecting('disconnect', {
    answers: { ...oauth, connection },
    walk: async (by) => {
      await by.click('.svc-actions .svc-button-quiet');
      await by.see('dialog[open]');
    },
  }),
  connecting('broken', { answers: { ...oauth, connection: broken }, walk: see('.svc-notice-warning') }),
];

function health(name: string, of: Answers['connection'], selector: string): State {
  return {
    name: `ConnectionHealth / ${name}`,
    component: ConnectionHealth,
    answers: { ...oauth, connection: of },
    walk: see(selector),
  };
}

const healths: State[] = [
  health('loading', 'never', '.svc-loading'),
  health('not connected', undefined, '.svc-notice'),
  health('works', connection, '.svc-notice-good'),
  health(
    'permissions missing',
    { ...connection, missingScopes: ['crm.objects.deals.read'] },
    '.svc-notice-warning',
  ),
  health('broken', broken, '[role="alert"]'),
  {
    ...health('connecting again', broken, '[role="alert"]'),
    walk: async (by) => {
      await by.click('.svc-notice .svc-button');
      await by.see(primary);
    },
  },
];

export const connectStates: readonly State[] = [...connects, ...healths];
