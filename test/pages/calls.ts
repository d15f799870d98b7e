import { readFileSync } from 'node:fs';
import { blocksIn } from './blocks.ts';

/** A call of the API that a page names. */
export interface NamedCall {
  /** As it stands there, with its page. */
  said: string;
  /** What it may mean, each as `GET /v1/projects/{projectIdOrName}`: a page leaves out what its reader knows. */
  routes: string[];
}

interface Operation {
  security?: Record<string, unknown>[];
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};
const routes = Object.entries(paths).flatMap(([path, byMethod]) =>
  methods
    .filter((method) => method.toLowerCase() in byMethod)
    .map((method) => ({ method, path, route: `${method} ${path}` })),
);

/** What a program with a key cannot call: what only a person does who has signed in. */
function isOfPeople({ method, path }: { method: string; path: string }): boolean {
  const security = paths[path]?.[method.toLowerCase()]?.security ?? [];
  return security.length > 0 && !security.some((one) => 'apiKey' in one);
}

function fits(segment: string, said: string): boolean {
  const pattern = segment.split(/\{\w+\}/).map((part) => part.replaceAll('.', String.raw`\.`));
  return segment === said || (segment.includes('{') && new RegExp(`^${pattern.join('[^:]+')}$`).test(said));
}

/** `…/deliveries/{id}` and `:retry` stand for every path that ends so. */
function isMeant(path: string, said: string): boolean {
  if (said.startsWith(':')) return path.endsWith(said);
  const segments = path.split('/');
  const wanted = said.split('/');
  if (wanted[0] !== '…')
    return segments.length === wanted.length && wanted.every((one, at) => fits(segments[at] ?? '', one));
  const [, first, ...rest] = wanted;
  const end = segments.slice(-1 - rest.length);
  return end[0] === first && rest.every((one, at) => fits(end[at + 1] ?? '', one));
}

/** The route of a request, if the API has it. */
export function routeOf(method: string, target: string): string | undefined {
  const [path = ''] = target.split('?');
  return routes.find((one) => one.method === method && isMeant(one.path, path))?.route;
}

function inCommands(text: string): { method: string; path: string }[] {
  return text
    .split(/\bcurl /)
    .slice(1)
    .flatMap((command) => {
      const [, path] = /\$SVC([^\s"'?]+)/.exec(command) ?? [];
      const [, given] = /-X (\w+)/.exec(command) ?? [];
      const method = given ?? (/\s(-d|--data-binary) /.test(command) ? 'POST' : 'GET');
      return path === undefined ? [] : [{ method, path }];
    });
}

/** `GET …/deliveries/{id}`; without a method `…/logs` is got and `:retry` is posted. */
function inWords(text: string): { method: string; path: string }[] {
  const [, given, path = ''] =
    /^(?:(GET|POST|PUT|PATCH|DELETE) )?(?:\$SVC)?((?:\/|…\/|:)[^\s?]+)/.exec(text) ?? [];
  const method = given ?? { '…': 'GET', ':': 'POST' }[path[0] ?? ''];
  return method === undefined ? [] : [{ method, path }];
}

/** Every call that a page shows as a command or names, except those of people who have signed in. */
export function callsIn(page: string): NamedCall[] {
  const blocks = blocksIn(page);
  const prose = readFileSync(page, 'utf8').replaceAll(/^ *```.*?^ *```$/gms, '');
  const found = [
    ...blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => inCommands(text)),
    ...blocks
      .filter(({ language }) => language === 'text')
      .flatMap(({ text }) => text.split('\n').flatMap(inWords)),
    ...[...prose.matchAll(/`([^`\n]+)`/g)].flatMap(([, span = '']) => inWords(span)),
  ];
  return found.flatMap(({ method, path }) => {
    const meant = routes.filter((one) => one.method === method && isMeant(one.path, path));
    if (meant.length > 0 && meant.every(isOfPeople)) return [];
    return [{ said: `${page}: ${method} ${path}`, routes: meant.map(({ route }) => route) }];
  });
}
