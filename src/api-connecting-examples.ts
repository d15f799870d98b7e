import { at, projectId } from './api-story.ts';

/** Examples of what a person connects with, by the name of their schema. */

const token = 'svcf_AQJrMVZ…';
const linked = {
  integration: 'hubspot-crm',
  groupRef: 'acme',
  consumerRef: 'ada',
  returnUrl: 'https://app.mailmonkey.example.com/settings',
};
const ConnectLink = {
  id: '0192f0c1-000a-7000-8000-00000000000a',
  projectId,
  ...linked,
  singleUse: true,
  expiresAt: '2026-03-02T09:00:00.000Z',
  createTime: at,
};

export const Branding = {
  logoUrl: 'https://mailmonkey.example.com/logo.svg',
  accentColor: '#0f62fe',
};

export const connectingExamples = {
  Branding,
  CreateFrontendTokenRequest: { groupRef: 'acme', consumerRef: 'ada' },
  FrontendToken: { token, expiresAt: at, groupRef: 'acme', consumerRef: 'ada' },
  CreateConnectLinkRequest: linked,
  ConnectLink,
  OpenConnectLinkRequest: {
    link: 'b64cFq0mS1N8c2p1Jd7wq2l0rT4uYx9v',
    browser: 'kF3nP8sLq0wZr7yXb2vTc5mHd9gJa4eU',
  },
  OpenedConnectLink: {
    token,
    expiresAt: at,
    project: { id: projectId, appName: 'MailMonkey', branding: Branding },
    ...linked,
    linkExpiresAt: ConnectLink.expiresAt,
  },
};
