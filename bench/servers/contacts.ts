/**
 * The simulator of HubSpot with as many contacts as are asked for: a page of the list is recorded there once, and answered with
 * other ids from then on, as fast as node:http can. All else goes through. Takes the simulator's origin; prints its port.
 * `POST /__bench` with a number sets how many contacts there are.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const origin = process.argv[2] ?? '';
const listPath = '/crm/v3/objects/contacts?';
/** As long as each other, so that one takes the place of another. */
const firstId = 100_000_000_000;

let contacts = 0;
const pages = new Map<string, Promise<Page>>();

/** A page whose ids are to be replaced. */
interface Page {
  /** Up to the end of `results`. */
  bytes: Buffer;
  /** For each record, where its id stands. */
  places: number[][];
}

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  if (method === 'GET' && url.startsWith(listPath)) return list(url, request, response);
  const body = await text(request);
  if (url === '/__bench') {
    contacts = Number(body);
    response.end();
    return;
  }
  const answer = await ask(url, request, body);
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(await answer.text());
}

function ask(path: string, { method = 'GET', headers }: IncomingMessage, body = ''): Promise<Response> {
  return fetch(origin + path, {
    method,
    headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
    ...(body === '' ? {} : { body }),
  });
}

async function list(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const query = new URLSearchParams(path.slice(listPath.length));
  const from = Number(query.get('after') ?? firstId) - firstId;
  query.delete('after');
  const wanted = Math.min(Number(query.get('limit')), contacts - from);
  const key = `${wanted} ${query.toString()}`;
  const recorded = pages.get(key) ?? record(`${listPath}${query.toString()}`, request, wanted);
  pages.set(key, recorded);
  const { bytes, places } = await recorded;
  const page = Buffer.from(bytes);
  places.forEach((some, n) => {
    for (const place of some) page.write(String(firstId + from + n), place, 'latin1');
  });
  const next =
    from + wanted < contacts ? `"paging":{"next":{"after":"${firstId + from + wanted}"}}` : undefined;
  const tail = Buffer.from(next === undefined ? '}' : `,${next}}`);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': page.length + tail.length,
  });
  response.write(page);
  response.end(tail);
}

async function record(path: string, request: IncomingMessage, wanted: number): Promise<Page> {
  const answer = await ask(path, request);
  const { results } = (await answer.json()) as { results: { id: string }[] };
  if (results.length < wanted) throw new Error(`the simulator has ${results.length} contacts, not ${wanted}`);
  const records = results.slice(0, wanted).map((one, n) => {
    const id = String(firstId + n);
    return { id, text: JSON.stringify(one).replaceAll(new RegExp(`(?<=["/])${one.id}(?=")`, 'g'), id) };
  });
  const bytes = Buffer.from(`{"results":[${records.map((one) => one.text).join(',')}]`);
  return { bytes, places: records.map(({ id }) => placesOf(bytes, id)) };
}

function placesOf(bytes: Buffer, id: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + 1)) places.push(at);
  return places;
}
