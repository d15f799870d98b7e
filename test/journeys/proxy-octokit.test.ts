import { Octokit } from 'octokit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proxyHeaders } from '../../scripts/demo/clients.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { startRecorder, type Recorder } from '../recorder.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: github
    provider: github
    proxy: { enabled: true }
`;

describe('test/journeys/proxy-octokit', () => {
  let test: TestDatabase;
  let platform: Platform;
  let github: Recorder;
  let octokit: Octokit;

  beforeAll(async () => {
    github = await startRecorder();
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, origins: { github: github.url } });
    const at = `/projects/${platform.projectId}`;
    await platform.call('PUT', `${at}/integrations:batch`, { sourceYaml: manifest });
    await platform.call('POST', `${at}/connections:generate`, {
      provider: 'github',
      groupRef: 'acme',
      consumerRef: 'ada',
      oauth2AuthorizationCode: { accessToken: { token: 'github-token' } },
    });
    const installed = await platform.call<{ id: string }>('POST', `${at}/integrations/github/installations`, {
      groupRef: 'acme',
      config: { content: { provider: 'github' } },
    });
    octokit = new Octokit({ baseUrl: platform.proxy, retry: { enabled: false } });
    const headers = proxyHeaders(platform.projectId, platform.apiKey, installed.body.id);
    octokit.hook.before('request', (options) => {
      Object.assign(options.headers, headers);
    });
    github.reset();
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
    await github?.close();
  });

  it('§4.6 octokit reads through the proxy with the connection’s token', async () => {
    github.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"full_name":"acme/site"}');
    });
    const { data } = await octokit.rest.repos.get({ owner: 'acme', repo: 'site' });
    expect(data.full_name).toBe('acme/site');
    expect(github.seen.at(-1)).toMatchObject({
      method: 'GET',
      target: '/repos/acme/site',
      headers: { authorization: 'Bearer github-token' },
    });
    expect(Object.keys(github.seen.at(-1)?.headers ?? {})).not.toContain('x-api-key');
  });

  it('§4.6 octokit writes through the proxy, and gets the provider’s refusal as its own error', async () => {
    github.answer((_request, response) => {
      response.writeHead(422, { 'content-type': 'application/json' }).end('{"message":"Validation Failed"}');
    });
    const call = octokit.rest.issues.create({ owner: 'acme', repo: 'site', title: 'a title' });
    await expect(call).rejects.toMatchObject({ status: 422 });
    expect(JSON.parse(github.seen.at(-1)?.body.toString() ?? '')).toMatchObject({ title: 'a title' });
  });
});
