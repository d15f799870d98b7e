/** The yardstick of the proxy: node:http in, undici out, nothing in between. Prints its port; takes the upstream's as argument. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';

const agent = new Agent();
const origin = `http://127.0.0.1:${process.argv[2]}`;
const server = createServer((request, response) => {
  const hasBody =
    request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  agent
    .request({
      origin,
      path: request.url ?? '/',
      method: request.method ?? 'GET',
      body: hasBody ? request : null,
    })
    .then(({ statusCode, headers, body }) => {
      const { connection: _connection, 'transfer-encoding': _encoding, ...rest } = headers;
      response.writeHead(statusCode, rest);
      return body.pipe(response);
    })
    .catch(() => {
      response.destroy();
    });
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
