import { Client } from '@hubspot/api-client';
import { Connection } from 'jsforce';
import { setDispatcher } from 'jsforce/lib/request.js';
import { Agent } from 'undici';

/** The headers that every call through the proxy carries (§4.6). */
export function proxyHeaders(
  projectId: string,
  apiKey: string,
  installationId: string,
): Record<string, string> {
  return {
    'x-svc-proxy-version': '1',
    'x-svc-project-id': projectId,
    'x-api-key': apiKey,
    'x-svc-installation-id': installationId,
  };
}

/** The official HubSpot client, sent through the proxy by its own options. */
export function hubspotClient(proxy: string, headers: Record<string, string>): Client {
  return new Client({ basePath: proxy, accessToken: 'the-proxy-replaces-it', defaultHeaders: headers });
}

/** The official Salesforce client, sent through the proxy by its own HTTP dispatcher. */
export function salesforceClient(proxy: string, headers: Record<string, string>): Connection {
  const added = Object.entries(headers).flat();
  setDispatcher(
    new Agent({ connect: { allowH2: false } }).compose((dispatch) => (options, handler) => {
      const own = Array.isArray(options.headers)
        ? options.headers
        : Object.entries(options.headers ?? {}).flat();
      return dispatch({ ...options, headers: [...(own as string[]), ...added] }, handler);
    }),
  );
  return new Connection({ instanceUrl: proxy, accessToken: 'the-proxy-replaces-it', version: '60.0' });
}
