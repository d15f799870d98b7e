/**
 * A provider that answers every request with so many bytes of JSON, as fast as node:http can; `/echo` gives a body back as it
 * comes. Prints its port.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const body = Buffer.from(JSON.stringify({ results: 'x'.repeat(Number(process.argv[2] ?? 2_000)) }));
const server = createServer((request, response) => {
  if (request.url === '/echo') {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    request.pipe(response);
    return;
  }
  request.resume();
  request.once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
